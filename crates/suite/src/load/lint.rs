//! Shared by the checks of all parts of a suite: the names in scope, and the parsing of references.

use regex::Regex;
use serde_json::Value;

use super::{Known, Origin};
use crate::{
    decode::{self, Typed},
    facts,
    ground::FOUND,
    model::{Make, Template},
    path::{Path, split_root},
    scope::Scope,
    views::{self, ValueType},
};
use conform_model::{evidence::Side, revision::Revision};
use conform_source::{
    diagnostic::{Problems, suggestion, suggestion_or_all},
    yaml::{At, Position, Text, Tree, Yaml},
};

/// In scope in every suite about servers.
const EVERYWHERE: [&str; 6] = ["facts", "values", "server", "client", "revision", "transport"];

/// In scope in every suite about gateways.
const WITH_GATEWAYS: [&str; 3] = ["values", "revision", "transport"];

/// In scope in every suite about clients.
const WITH_CLIENTS: [&str; 10] =
    ["values", "revision", "transport", "actions", "runs", "spawns", "requests", "logins", "tokens", "opened"];

/// Checks one suite.
pub struct Lint<'a> {
    pub known: &'a Known,
    pub origin: Origin,
    pub problems: &'a mut Problems,
    /// What the survey saves; `None` while the survey itself is checked.
    pub survey: Option<&'a [String]>,
    /// Names of the suite's `values`.
    pub values: Vec<String>,
    /// Each row of `values`, with the revisions in which it applies.
    pub rows: Vec<(String, Option<Revision>, Option<Revision>, Value)>,
    /// Loop variables over literal lists, with their items.
    pub loops: Vec<(String, Vec<Value>)>,
    /// Saves and loop variables, innermost last.
    pub names: Vec<String>,
    /// The shapes of some of these names. The last entry for a name counts.
    pub shapes: Vec<(String, ValueType)>,
    /// The ids of the subscriptions that earlier steps open.
    pub subscriptions: Vec<Template>,
    /// Paths to the pages of a list, or to all of what a name stands for.
    pub to_pages: Vec<Path>,
    pub in_rules: bool,
    /// The side that the rules judge.
    pub subject: Side,
    /// Whether it is a profile: its rules also see the schemas of tools.
    pub is_profile: bool,
    /// Whether every call has a connection of its own and the suite has no other connection.
    pub alone: bool,
}

impl Lint<'_> {
    /// Reports a missing key, unless it is present and could not be parsed.
    pub fn needs<T>(&mut self, owner: &Typed, key: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            owner.needs(key, self.problems);
        }
        value
    }

    /// Requires exactly one of these keys, and returns it.
    pub fn just_one(&mut self, owner: &Typed, keys: &[&'static str]) -> Option<&'static str> {
        let mut typed = owner.keys.iter().filter_map(|typed| Some((typed, *keys.iter().find(|k| **k == typed.value)?)));
        let Some((_, only)) = typed.next() else {
            self.problems.add(owner.at, format!("{} needs exactly one of {}", owner.noun, listed(keys)));
            return None;
        };
        if let Some((second, _)) = typed.next() {
            let message = format!(
                "{} needs exactly one of {}, received `{}` and `{only}`",
                owner.noun,
                listed(keys),
                second.value
            );
            self.problems.add(second.at, message);
            return None;
        }
        Some(only)
    }

    /// Reports a name that is not among the known ones.
    pub fn one_known(&mut self, name: &At<String>, what: &str, known: &[String]) {
        if !known.is_empty() && !known.contains(&name.value) {
            let help = suggestion(&name.value, known.iter().map(String::as_str));
            self.problems.add_with(name.at, format!("unknown {what} `{}`", name.value), help);
        }
    }

    /// Reports a new name that is invalid or already bound.
    pub fn new_name(&mut self, name: &At<String>) {
        let written = format!("${}", name.value);
        if split_root(&written).is_none_or(|(_, rest)| !rest.is_empty()) {
            self.problems.add(name.at, "a name has letters, digits, `_` and `-`, and starts with a letter");
        } else if self.names.contains(&name.value)
            // In suites about clients and gateways, a loop variable may hide a streamed name: one message of `$sent` is
            // best called `$sent`, too.
            || self.fixed_names().any(|fixed| fixed == name.value)
                && !(matches!(self.subject, Side::Client | Side::Gateway) && self.is_streamed(&name.value))
        {
            self.problems.add(name.at, format!("`{written}` is already defined"));
        }
    }

    fn fixed_names(&self) -> impl Iterator<Item = &'static str> {
        let survey = self.survey.is_some().then_some(super::SURVEY);
        let streamed = views::streamed(self.subject).iter().map(|(name, _)| *name).filter(|_| self.in_rules);
        let everywhere: &[&str] = match self.subject {
            Side::Server | Side::AuthorizationServer => &EVERYWHERE,
            Side::Client => &WITH_CLIENTS,
            Side::Gateway => &WITH_GATEWAYS,
        };
        let of_profile = views::OF_PROFILE.iter().map(|(name, _)| *name).filter(|_| self.is_profile);
        everywhere.iter().copied().chain(survey).chain(streamed).chain(of_profile)
    }

    /// Whether the name stands for a stream of everything in the run, such as `$messages`.
    fn is_streamed(&self, root: &str) -> bool {
        let streamed = views::streamed(self.subject).iter().any(|(name, _)| *name == root);
        streamed && !self.names.iter().any(|name| name == root)
    }

    /// Parses a path whose root may be streamed, but which may not be the streamed root alone.
    pub fn path(&mut self, text: &At<String>) -> Option<Path> {
        let path = self.path_or_stream(text)?;
        if path.streamed && path.is_whole() {
            self.unstreamable(text, &path);
        }
        Some(path)
    }

    /// Parses a path, which may be a streamed root alone.
    pub fn path_or_stream(&mut self, text: &At<String>) -> Option<Path> {
        let path = match Path::parse(&text.value) {
            Ok(mut path) => {
                path.streamed = self.is_streamed(&path.root);
                path
            }
            Err(error) => {
                let message = format!("`{}` is not a valid path: {error}", text.value);
                self.problems.add_with(text.at, message, path_help(&text.value));
                return None;
            }
        };
        if path.is_whole() || path.first_member() == Some("pages") {
            self.to_pages.push(path.clone());
        }
        if !self.names.contains(&path.root) && !self.fixed_names().any(|fixed| fixed == path.root) {
            self.unbound(text, &path.root);
        } else if path.streamed && !path.is_whole() && !path.is_item_by_item() {
            self.unstreamable(text, &path);
        } else {
            let known = path.first_member().is_none_or(|field| self.is_known(text.at, &path.root, field));
            if known && self.origin != Origin::Trusted {
                self.check_fields(text, &path);
            }
        }
        Some(path)
    }

    fn unbound(&mut self, text: &At<String>, root: &str) {
        let fixed = self.fixed_names().map(str::to_owned);
        let names: Vec<String> = self.names.iter().cloned().chain(fixed).map(|name| format!("${name}")).collect();
        let help = if views::streamed(self.subject).iter().any(|(name, _)| *name == root) {
            Some("streams of the whole run are available only in rules".to_owned())
        } else {
            suggestion_or_all(&format!("${root}"), names.iter().map(String::as_str))
        };
        self.problems.add_with(text.at, format!("unknown name `${root}`"), help);
    }

    fn unstreamable(&mut self, text: &At<String>, path: &Path) {
        let root = &path.root;
        let message = format!("`${root}` is a stream: `[*]` or a filter must come first");
        self.problems.add_with(text.at, message, format!("write `${root}[*]` or `${root}[?@.member == 'value']`"));
    }

    /// Whether the field exists. This is only known for the survey, the values and the facts.
    fn is_known(&mut self, at: Position, root: &str, field: &str) -> bool {
        let known: Vec<&str> = match (root, self.survey) {
            ("values", _) => self.values.iter().map(String::as_str).collect(),
            ("facts", _) => facts::names().chain(FOUND).collect(),
            (super::SURVEY, Some(saves)) if !saves.is_empty() => saves.iter().map(String::as_str).collect(),
            _ => return true,
        };
        let is_known = known.contains(&field);
        if !is_known {
            let help = decode::new_name(&format!("`{root}`"), field).or_else(|| suggestion(field, known));
            self.problems.add_with(at, format!("unknown field `${root}.{field}`"), help);
        }
        is_known
    }

    /// A string that is nothing but a reference stands for the value that it selects. `$$` at the start stands for a
    /// dollar sign.
    pub fn text(&mut self, text: &At<String>) -> Option<Template> {
        if let Some(literal) = text.value.strip_prefix("$$") {
            return Some(Template::Literal(format!("${literal}").into()));
        }
        if split_root(&text.value).is_some() {
            return self.path_or_stream(text).map(Template::Reference);
        }
        Some(Template::Literal(text.value.clone().into()))
    }

    pub fn template(&mut self, tree: &Tree) -> Option<Template> {
        Some(match &tree.value {
            Yaml::String(text) => self.text(&At { at: tree.at, value: text.clone().into_owned() })?,
            Yaml::List(items) => {
                let items = items.iter().filter_map(|item| self.template(item)).collect();
                literal_if_plain(Template::Array(items))
            }
            Yaml::Map(members) => {
                if let [(name, parts)] = members.as_slice()
                    && let Some((_, make)) = Make::ALL.into_iter().find(|(known, _)| *known == name.value)
                {
                    return self.made(name.at, make, parts);
                }
                let member =
                    |(key, tree): &(At<Text>, Tree)| Some((key.value.clone().into_owned(), self.template(tree)?));
                literal_if_plain(Template::Object(members.iter().filter_map(member).collect()))
            }
            _ => Template::Literal(tree.into()),
        })
    }
}

impl Lint<'_> {
    /// A text that is made from others, which are one value or a list.
    fn made(&mut self, at: Position, make: Make, parts: &Tree) -> Option<Template> {
        let parts: Option<Vec<_>> = match &parts.value {
            Yaml::List(items) if make != Make::Parent => items.iter().map(|item| self.template(item)).collect(),
            _ => self.template(parts).map(|part| vec![part]),
        };
        let parts = parts?;
        if make == Make::Matches
            && !matches!(parts.as_slice(), [_, Template::Literal(Value::String(pattern))] if Regex::new(pattern).is_ok())
        {
            self.problems.add(at, "write `{ $matches: [TEXT, REGULAR EXPRESSION] }`");
            return None;
        }
        Some(Template::Made(make, parts))
    }
}

/// Turns a structure without references into one literal, which is cheaper to resolve.
fn literal_if_plain(template: Template) -> Template {
    if !template.references().is_empty() {
        return template;
    }
    template.resolve(&Scope::new()).map_or(template, Template::Literal)
}

fn path_help(text: &str) -> Option<String> {
    let help = match split_root(text) {
        None => "a path is `$`, a name and a query: `$read.result.contents[*].uri`",
        Some((_, rest)) if rest.contains('-') && !rest.contains('[') => {
            "write a field with such characters as `['a-b']`"
        }
        Some((_, rest)) if rest.contains(char::is_whitespace) && !rest.contains('[') => {
            "strings are not interpolated: the whole string is a reference or text; escape a leading `$` as `$$`"
        }
        Some(_) => return None,
    };
    Some(help.to_owned())
}

fn listed(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}
