//! The clients of the file: how each is started, and the command lines for its actions.

use std::{path::PathBuf, sync::Arc};

use super::{Config, Environment, Origin, expand::fill, folder, keys, refused};
use crate::{
    error::Error,
    evidence::Transport,
    suite::{
        diagnostic::{Problems, suggestion, suggestion_or_all},
        yaml::At,
    },
};

/// A client as in the file, with variables that are not replaced yet.
#[derive(Debug)]
pub struct DescribedClient {
    pub name: String,
    client: Client,
    env: Vec<(At<String>, At<String>)>,
    origin: Arc<Origin>,
}

#[derive(Clone, Debug)]
pub struct Client {
    pub transport: Transport,
    pub command: Vec<String>,
    /// The arguments with which a command line client performs one action; empty for a client that reads its actions.
    pub actions: Vec<(String, Arguments)>,
    pub env: Vec<(String, String)>,
    /// Values that must not appear in any record.
    pub secrets: Vec<String>,
    pub cwd: Option<PathBuf>,
    /// The maximum number of concurrent processes.
    pub parallel: usize,
}

impl Client {
    /// A client that reads its actions.
    pub fn new(transport: Transport, command: Vec<String>) -> Self {
        let (actions, env, secrets) = (Vec::new(), Vec::new(), Vec::new());
        Self { transport, command, actions, env, secrets, cwd: None, parallel: 1 }
    }
}

/// The arguments of a command; a group with `{key}` or `{value}` is repeated for every argument of the action.
pub type Arguments = Vec<Vec<String>>;

/// The actions with templates: those that one command line can perform.
pub const ACTIONS: [&str; 14] = [
    "connect",
    "list-tools",
    "list-resources",
    "list-templates",
    "list-prompts",
    "call",
    "read",
    "get",
    "complete",
    "subscribe",
    "setLevel",
    "ping",
    "discover",
    "walk",
];

/// More processes would only wait for each other.
pub const MOST_AT_ONCE: usize = 64;

pub fn read(
    name: At<String>,
    keys: keys::Client,
    origin: &Arc<Origin>,
    problems: &mut Problems,
) -> Option<DescribedClient> {
    if keys.command.as_ref().is_none_or(Vec::is_empty) {
        problems.add(name.at, "a client needs `command`: a program and its arguments");
    }
    if let Some(wrong) = keys.parallel.as_ref().filter(|at| !(1..=MOST_AT_ONCE).contains(&at.value)) {
        problems.add(wrong.at, format!("`parallel` must be from 1 to {MOST_AT_ONCE}"));
    }
    let mut actions = Vec::new();
    for (action, arguments) in keys.actions.map(|pairs| pairs.0).unwrap_or_default() {
        if !ACTIONS.contains(&action.value.as_str()) {
            let help = suggestion_or_all(&action.value, ACTIONS);
            problems.add_with(action.at, format!("no command line carries out the action `{}`", action.value), help);
        }
        actions.push((action.value, arguments.into_iter().map(|group| group.0).collect()));
    }
    let env = keys.env.map(|pairs| pairs.0).unwrap_or_default();
    let cwd = folder(&origin.file).join(keys.cwd.unwrap_or_default());
    let parallel = keys.parallel.map_or(1, |at| at.value);
    let transport = keys.transport.unwrap_or(Transport::Http);
    let client = Client { actions, cwd: Some(cwd), parallel, ..Client::new(transport, keys.command?) };
    Some(DescribedClient { name: name.value, client, env, origin: origin.clone() })
}

impl Config {
    /// The client of that name, with variables of the environment replaced.
    pub fn client(&self, name: &str, environment: &Environment, color: bool) -> Result<Client, Error> {
        let DescribedClient { client, env, origin, .. } =
            self.clients.iter().find(|client| client.name == name).ok_or_else(|| {
                let names: Vec<&str> = self.clients.iter().map(|client| client.name.as_str()).collect();
                let several = || (!names.is_empty()).then(|| format!("it has {}", names.join(", ")));
                Error::Usage {
                    message: format!("{} has no client `{name}`", self.file.display()),
                    help: suggestion(name, names.iter().copied()).or_else(several),
                }
            })?;
        let mut problems = Problems::new(&origin.file.display().to_string(), &origin.text);
        let mut secrets = Vec::new();
        let env = fill(env, environment, &mut secrets, &mut problems);
        let mistakes = problems.into_diagnostics();
        if mistakes.is_empty() { Ok(Client { env, secrets, ..client.clone() }) } else { Err(refused(&mistakes, color)) }
    }
}
