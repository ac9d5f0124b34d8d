//! The `auth` table of a target: how its bearer tokens are obtained.

use std::path::Path;

use super::{Environment, expand::expand, keys};
use crate::{
    suite::{
        decode::Decode,
        diagnostic::{Problems, suggestion},
        yaml::{At, Yaml},
    },
    target::{Auth, Client, Issuer, Source},
};

/// Tokens besides the one for the run, each for a test of its own.
const OTHERS: [&str; 10] =
    ["expired", "forged", "foreign", "unbound", "alien", "orphaned", "narrow", "broad", "upper", "second"];

/// The table as in the file, with variables that are not replaced yet.
#[derive(Debug)]
pub struct DescribedAuth {
    own: Option<Described>,
    issuer: Option<Issuer>,
    others: Vec<(String, Described)>,
}

#[derive(Debug)]
enum Described {
    Token(At<String>),
    Command(Vec<String>),
    Client { id: At<String>, secret: At<String>, scopes: Vec<String>, token_endpoint: Option<String> },
}

pub fn read(keys: keys::Auth, problems: &mut Problems) -> DescribedAuth {
    let token = keys.token.map(Described::Token);
    let command = keys.command.map(Described::Command);
    let (id, secret, scopes) = (keys.client_id, keys.client_secret, keys.scopes.unwrap_or_default());
    let token_endpoint = keys.token_endpoint;
    if id.is_some() != secret.is_some() {
        problems.add(keys.typed.at, "`client_id` and `client_secret` require each other");
    }
    let issuer = keys.issuer.map(|address| Issuer { address, audience: keys.audience, scopes: scopes.clone() });
    if issuer.is_some() && (token.is_some() || command.is_some() || id.is_some()) {
        problems.add(keys.typed.at, "`issuer` signs all tokens, so `auth` needs no `token`, `command` or `client_id`");
    }
    let client = id.zip(secret).map(|(id, secret)| Described::Client { id, secret, scopes, token_endpoint });
    let mut own = [token, command, client].into_iter().flatten();
    let (first, second) = (own.next(), own.next());
    if second.is_some() {
        problems.add(keys.typed.at, "`auth` needs exactly one of `token`, `command` and `client_id`");
    }
    let mut others = Vec::new();
    for (name, tree) in keys.others.map(|pairs| pairs.0).unwrap_or_default() {
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
    DescribedAuth { own: first, issuer, others }
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
        let issuer = self.issuer.clone();
        Auth {
            own,
            issuer,
            others: self.others.iter().map(|(name, described)| (name.clone(), source(described))).collect(),
        }
    }
}
