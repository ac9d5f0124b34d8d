//! Tools for one kind of thing, by their names: `create_note`, `get_note`, `deleteNote`, `notes_all`.

use serde_json::Value;

use crate::{calls::Source, subject::What};

const CREATES: &[&str] =
    &["create", "add", "new", "insert", "make", "register", "save", "store", "set", "put", "write", "post", "upsert"];
const READS: &[&str] = &["get", "read", "fetch", "show", "find", "describe", "view", "retrieve", "load", "lookup"];
const UPDATES: &[&str] = &["update", "edit", "rename", "modify", "change", "patch", "replace"];
const DELETES: &[&str] = &["delete", "remove", "destroy", "unset", "cancel", "drop", "erase"];
const LISTS: &[&str] = &["list", "all", "index", "browse", "enumerate"];

/// The tools for one kind of thing.
pub struct Group<'s> {
    pub create: &'s Source,
    pub read: Option<&'s Source>,
    pub update: Option<&'s Source>,
    pub delete: Option<&'s Source>,
    pub list: Option<&'s Source>,
}

impl Group<'_> {
    pub const fn is_listed(&self) -> bool {
        self.list.is_some()
    }
}

/// The words of a name in lower case: `createNotes` is `create` and `notes`.
pub fn words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
        before = c;
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

/// The verb and the noun of a name.
fn parts(name: &str) -> (Option<String>, String) {
    let words = words(name);
    let all = [CREATES, READS, UPDATES, DELETES, LISTS].concat();
    let at = words.iter().position(|word| all.contains(&word.as_str()));
    let noun = words.iter().enumerate().filter(|(index, _)| Some(*index) != at).map(|(_, word)| singular(word));
    let noun = noun.collect::<Vec<_>>().join(" ");
    (at.map(|at| words[at].clone()), noun)
}

/// Whether the tool has no required argument.
fn is_free(source: &Source) -> bool {
    source.subject.schema["required"].as_array().is_none_or(Vec::is_empty)
}

pub fn groups(sources: &[Source]) -> Vec<Group<'_>> {
    let tools = sources.iter().filter(|source| source.subject.what == What::Tool);
    let named: Vec<(&Source, Option<String>, String)> = tools
        .map(|source| (source, parts(&source.subject.name)))
        .map(|(source, (verb, noun))| (source, verb, noun))
        .filter(|(.., noun)| !noun.is_empty())
        .collect();
    let has = |verbs: &[&str], verb: &Option<String>| verb.as_ref().is_some_and(|verb| verbs.contains(&verb.as_str()));
    let find = |verbs: &[&str], noun: &str, fits: fn(&Source) -> bool| {
        let all = named.iter().find(|(source, verb, of)| of == noun && has(verbs, verb) && fits(source));
        all.map(|(source, ..)| *source)
    };
    let mut groups: Vec<Group> = Vec::new();
    for (create, verb, noun) in &named {
        if !has(CREATES, verb) || create.subject.has_hint("readOnlyHint") {
            continue;
        }
        let has_arguments = |source: &Source| !is_free(source);
        // A tool may be named only by what it lists.
        let plain = named.iter().find(|(source, verb, of)| {
            of == noun && verb.is_none() && is_free(source) && source.subject.has_hint("readOnlyHint")
        });
        let list = find(LISTS, noun, is_free)
            .or_else(|| find(READS, noun, is_free))
            .or_else(|| plain.map(|(source, ..)| *source));
        let group = Group {
            create,
            read: find(READS, noun, has_arguments),
            update: find(UPDATES, noun, has_arguments),
            delete: find(DELETES, noun, has_arguments),
            list,
        };
        if group.read.is_some() || group.list.is_some() {
            groups.push(group);
        }
    }
    groups
}

/// The names of required arguments.
pub fn required(source: &Source) -> Vec<String> {
    let names = source.subject.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_name_has_a_verb_and_a_noun() {
        let of = |name: &str| {
            let (verb, noun) = parts(name);
            format!("{} {noun}", verb.unwrap_or_default())
        };
        for (name, known) in [
            ("create_note", "create note"),
            ("deleteNotes", "delete note"),
            ("notes.get", "get note"),
            ("get-shopping-item", "get shopping item"),
            ("orders_all", "all order"),
            ("listCategories", "list category"),
            ("settings", " setting"),
            ("create", "create "),
        ] {
            assert_eq!(of(name), known, "{name}");
        }
    }
}
