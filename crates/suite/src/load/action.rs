//! Reads the actions of a scenario.

use serde_json::Value;

use super::lint::Lint;
use crate::{
    decode::{self, Decode},
    model::{Action, Approval, Do, How, Pages},
};
use conform_model::evidence::{LISTS, List, SKILLS, Side, TASKS};
use conform_source::{
    diagnostic::{Problems, suggestion_or_all},
    yaml::{At, Position, Text, Tree, Yaml},
};

/// The actions of a client that follows instructions, and of our client at a gateway.
const ACTIONS: [&str; 23] = [
    "call",
    "cancel",
    "close",
    "complete",
    "connect",
    "directory",
    "discover",
    "file",
    "get",
    "list",
    "listen",
    "load",
    "notify",
    "parallel",
    "ping",
    "read",
    "roots",
    "setLevel",
    "skill",
    "subscribe",
    "unsubscribe",
    "wait",
    "walk",
];
const ONLY_OF_GATEWAY: [&str; 1] = ["notify"];
const ONLY_OF_CLIENT: [&str; 7] = ["cancel", "connect", "discover", "file", "listen", "load", "walk"];

/// The arguments of one action.
struct Arguments<'t, 'p> {
    name: &'t str,
    at: Position,
    typed: &'t [(At<Text>, Tree)],
    /// Those that were looked for.
    known: Vec<String>,
    at_gateway: bool,
    problems: &'p mut Problems,
}

impl Arguments<'_, '_> {
    fn may<T: Decode>(&mut self, key: &str) -> Option<T> {
        self.known.push(key.to_owned());
        decode::member(self.typed, key, self.problems)
    }

    fn needs<T: Decode + Default>(&mut self, key: &str) -> T {
        self.require(key);
        self.may(key).unwrap_or_default()
    }

    fn require(&mut self, key: &str) {
        if !self.typed.iter().any(|(typed, _)| typed.value == key) {
            self.problems.add(self.at, format!("the action `{}` needs `{key}`", self.name));
        }
    }

    fn of_gateway<T: Decode>(&mut self, key: &str) -> Option<T> {
        if self.at_gateway { self.may(key) } else { None }
    }

    fn of_client<T: Decode>(&mut self, key: &str) -> Option<T> {
        if self.at_gateway { None } else { self.may(key) }
    }
}

impl Lint<'_> {
    pub fn action(&mut self, tree: &Tree) -> Option<Action> {
        let typed = decode::keyed(tree, "an action", self.problems)?;
        let Some((_, name)) = typed.iter().find(|(key, _)| key.value == "do") else {
            self.problems.add(tree.at, "an action needs `do`");
            return None;
        };
        let at_gateway = self.subject == Side::Gateway;
        let others = if at_gateway { ONLY_OF_CLIENT.as_slice() } else { &ONLY_OF_GATEWAY };
        let names = || ACTIONS.into_iter().filter(|name| !others.contains(name));
        let name = At { at: name.at, value: String::decode(name, self.problems)? };
        if names().all(|known| known != name.value) {
            let help = suggestion_or_all(&name.value, names());
            self.problems.add_with(name.at, format!("unknown action `{}`", name.value), help);
            return None;
        }
        let inner = decode::member::<Vec<Tree>>(typed, "actions", self.problems).unwrap_or_default();
        let inner = inner.iter().filter_map(|action| self.action(action)).collect();
        let known = vec!["do".to_owned()];
        let mut own =
            Arguments { name: &name.value, at: tree.at, typed, known, at_gateway, problems: &mut *self.problems };
        let action = Action { what: what(&mut own, inner), how: how(&mut own) };
        let known = own.known;
        decode::refuse_unknown(typed, &format!("the action `{}`", name.value), &known, self.problems);
        Some(action)
    }
}

fn what(own: &mut Arguments<'_, '_>, inner: Vec<Action>) -> Do {
    match own.name {
        "call" => Do::Call {
            name: own.needs("name"),
            arguments: own.may("arguments"),
            bytes: own.of_gateway("bytes"),
            task: own.of_client("task"),
        },
        "cancel" => Do::Cancel { action: own.needs("action") },
        "close" => Do::Close,
        "complete" => {
            Do::Complete { r#ref: own.needs("ref"), argument: own.needs("argument"), context: own.may("context") }
        }
        "connect" => Do::Connect,
        "directory" => Do::Directory { uri: own.needs("uri") },
        "discover" => Do::Discover,
        "file" => Do::File { uri: own.needs("uri"), path: own.needs("path") },
        "get" => Do::Get { name: own.needs("name"), arguments: own.may("arguments") },
        "list" => {
            own.require("of");
            Do::List {
                of: own.may("of").unwrap_or(&LISTS[0]),
                pages: own.of_client("pages"),
                uri: own.of_client("uri"),
                prefix: own.of_client("prefix"),
            }
        }
        "listen" => Do::Listen { notifications: own.needs("notifications") },
        "load" => Do::Load { uri: own.needs("uri"), approve: own.may("approve").unwrap_or_default() },
        "notify" => Do::Notify { method: own.needs("method") },
        "parallel" => {
            own.require("actions");
            own.known.push("actions".to_owned());
            Do::Parallel { staggered: own.of_gateway("staggered"), actions: inner }
        }
        "ping" => Do::Ping,
        "read" => Do::Read { uri: own.needs("uri") },
        "roots" if own.at_gateway => Do::Roots { uris: None },
        "roots" => Do::Roots { uris: Some(own.needs("uris")) },
        "setLevel" => Do::SetLevel { level: own.needs("level") },
        "skill" => Do::Skill { uri: own.needs("uri") },
        "subscribe" => Do::Subscribe { uri: own.needs("uri") },
        "unsubscribe" => Do::Unsubscribe { uri: own.needs("uri") },
        "wait" => Do::Wait { ms: own.needs("ms") },
        _ => Do::Walk,
    }
}

fn how(own: &mut Arguments<'_, '_>) -> How {
    How {
        client: own.of_gateway("client"),
        timeout: own.may("timeout"),
        progress: own.may("progress"),
        background: own.may("background"),
        log_level: own.of_client("logLevel"),
        cancel_after: own.of_gateway("cancel_after"),
        meta: own.of_gateway("meta"),
        id: own.of_gateway::<Tree>("id").as_ref().map(Value::from),
        respond: own.of_gateway("respond"),
        more: own.of_gateway("more"),
    }
}

impl Decode for &'static List {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        let all = LISTS.iter().chain([&SKILLS, &TASKS]);
        let names: Vec<(&str, Self)> = all.map(|list| (list.save, list)).collect();
        decode::word(tree, "of", &names, problems)
    }
}

impl Decode for Approval {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        decode::word(tree, "approve", &[("once", Self::Once), ("always", Self::Always), ("no", Self::No)], problems)
    }
}

impl Decode for Pages {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match tree.value {
            Yaml::String(_) => decode::word(tree, "pages", &[("all", Self::All)], problems),
            _ => usize::decode(tree, problems).map(Self::First),
        }
    }
}
