//! The `auth` table of a target: how its bearer tokens are obtained.

use std::path::Path;

use super::{Environment, expand::expand};
use crate::{
    suite::{
        decode::{Decode, Pairs, mapping, member, refuse_unknown},
        diagnostic::{Problems, suggestion},
        yaml::{At, Tree, Yaml},
    },
    target::{Auth, Client, Source},
};

pub const KEYS: [&str; 7] = ["token", "command", "client_id", "client_secret", "scopes", "token_endpoint", "others"];

/// Tokens besides the one for the run, each for a test of its own.
const OTHERS: [&str; 10] =
    ["expired", "forged", "foreign", "unbound", "alien", "orphaned", "narrow", "broad", "upper", "second"];

/// The table as in the file, with variables that are not replaced yet.
#[derive(Debug)]
pub struct DescribedAuth {
    own: Option<Described>,
    others: Vec<(String, Described)>,
}

#[derive(Debug)]
enum Described {
    Token(At<String>),
    Command(Vec<String>),
    Client { id: At<String>, secret: At<String>, scopes: Vec<String>, token_endpoint: Option<String> },
}

pub fn read(tree: &Tree, problems: &mut Problems) -> Option<DescribedAuth> {
    let members = mapping(tree, problems)?;
    refuse_unknown(members, "`auth`", &KEYS.map(str::to_owned), problems);
    let token = member::<At<String>>(members, "token", problems).map(Described::Token);
    let command = member::<Vec<String>>(members, "command", problems).map(Described::Command);
    let id = member::<At<String>>(members, "client_id", problems);
    let secret = member::<At<String>>(members, "client_secret", problems);
    let scopes = member(members, "scopes", problems).unwrap_or_default();
    let token_endpoint = member(members, "token_endpoint", problems);
    if id.is_some() != secret.is_some() {
        problems.add(tree.at, "`client_id` and `client_secret` require each other");
    }
    let client = id.zip(secret).map(|(id, secret)| Described::Client { id, secret, scopes, token_endpoint });
    let mut own = [token, command, client].into_iter().flatten();
    let (first, second) = (own.next(), own.next());
    if second.is_some() {
        problems.add(tree.at, "`auth` needs exactly one of `token`, `command` and `client_id`");
    }
    let mut others = Vec::new();
    for (name, tree) in member::<Pairs<Tree>>(members, "others", problems).map(|pairs| pairs.0).unwrap_or_default() {
        if !OTHERS.contains(&name.value.as_str()) {
            let help = suggestion(&name.value, OTHERS).or_else(|| Some(OTHERS.join(", ")));
            problems.add_with(name.at, format!("unknown token `{}`", name.value), help);
        }
        let described = match &tree.value {
            Yaml::List(_) => Vec::decode(&tree, problems).map(Described::Command),
            _ => At::decode(&tree, problems).map(Described::Token),
        };
        others.extend(described.map(|described| (name.value, described)));
    }
    Some(DescribedAuth { own: first, others })
}

impl DescribedAuth {
    /// The table with variables of the environment replaced; all secrets are added to `secrets`.
    pub fn filled(
        &self,
        environment: &Environment,
        directory: &Path,
        secrets: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Auth {
        let mut fill = |text: &At<String>| match expand(&text.value, environment) {
            Ok((value, _)) => {
                secrets.push(value.clone());
                value
            }
            Err(variable) => {
                problems.add(text.at, format!("the environment variable `{variable}` is not set"));
                String::new()
            }
        };
        let mut source = |described: &Described| match described {
            Described::Token(token) => Source::Token(fill(token)),
            Described::Command(argv) => Source::Command { argv: argv.clone(), cwd: Some(directory.to_owned()) },
            Described::Client { id, secret, scopes, token_endpoint } => Source::Client(Box::new(Client {
                secret: fill(secret),
                id: id.value.clone(),
                scopes: scopes.clone(),
                token_endpoint: token_endpoint.clone(),
            })),
        };
        let own = self.own.as_ref().map(&mut source);
        Auth { own, others: self.others.iter().map(|(name, described)| (name.clone(), source(described))).collect() }
    }
}
