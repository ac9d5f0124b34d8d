//! The YAML at the beginning of a file, between two lines `---`, by itself or compared with what `entry` says of it.
//!
//! `part` is `first` (the file begins with it), `mark` (nothing precedes it), `mapping` (it is a mapping with these `fields`
//! as texts), `unique` (no key occurs twice), or one of the comparisons `fields`, `types`, `values` and `name`.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    file_bytes::{about, bytes},
    parsed_yaml::{Unread, Yaml, parse},
    scalar::readings,
    yaml_differences::{Kind, differences},
};
use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "front-matter", given: &["contents", "uri", "entry?", "fields?", "part"], run };

const LINE: &str = "---";
const MARK: char = '\u{feff}';
/// Findings for one file.
const FINDINGS: usize = 5;

fn run(given: &Given) -> Report {
    let uri = given.text("uri");
    let Some((index, content)) = about(given.list("contents"), uri).next() else { return Report::default() };
    let Some(text) = bytes(content).and_then(text_of) else { return Report::default() };
    let found = match given.text("part") {
        "mark" => Some(wrong(text.starts_with(MARK), "a byte order mark precedes the front matter")),
        "first" => Some(first(&text)),
        part => judged(given, part, &text),
    };
    let Some(found) = found else { return Report::default() };
    let fault = |(pointer, message): (String, String)| {
        let (given, pointer) = match given.text("part") {
            "fields" | "types" | "values" => ("entry", pointer),
            _ => ("contents", format!("/{index}")),
        };
        Fault { given, pointer, message, subject: Some(uri.to_owned()), ..Fault::default() }
    };
    Report::of(found.into_iter().take(FINDINGS).map(fault).collect())
}

/// Another rule judges files that are not UTF-8.
fn text_of(bytes: Cow<'_, [u8]>) -> Option<String> {
    String::from_utf8(bytes.into_owned()).ok()
}

type Found = Vec<(String, String)>;

fn wrong(is_wrong: bool, message: &str) -> Found {
    if is_wrong { vec![(String::new(), message.to_owned())] } else { Vec::new() }
}

fn first(text: &str) -> Found {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    if text.lines().next().map(str::trim_end) != Some(LINE) {
        return wrong(true, "the first line is not `---`");
    }
    wrong(front(text).is_none(), "the front matter has no last line `---`")
}

/// The text between the two lines.
fn front(text: &str) -> Option<&str> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let begin = lines.next().filter(|line| line.trim_end() == LINE)?.len();
    let mut end = begin;
    for line in lines {
        if line.trim_end() == LINE {
            return text.get(begin..end);
        }
        end += line.len();
    }
    None
}

/// `None` if there is nothing to judge.
fn judged(given: &Given, part: &str, text: &str) -> Option<Found> {
    let yaml = match (parse(front(text)?), part) {
        (Ok(yaml), _) => yaml,
        (Err(Unread::Invalid(why)), "mapping") => {
            return Some(vec![(String::new(), format!("the front matter is not valid YAML: {why}"))]);
        }
        (Err(_), _) => return None,
    };
    let (Yaml::Map(members), entry) = (&yaml, given.value("entry")) else {
        return (part == "mapping").then(|| wrong(true, "the front matter is not a mapping"));
    };
    let kind = match part {
        "mapping" => {
            return Some(texts(given.value("fields")).iter().filter_map(|name| no_text(members, name)).collect());
        }
        "unique" => return Some(repeated(members)),
        "name" => return other_name(members, given.value("entry").as_str()?),
        "fields" => Kind::Fields,
        "types" => Kind::Type,
        _ => Kind::Value,
    };
    let of_kind = differences(&yaml, entry.is_object().then_some(entry)?).into_iter().filter(|one| one.kind == kind);
    Some(of_kind.map(|one| (one.pointer, one.message)).collect())
}

fn member<'y>(members: &'y [(Yaml, Yaml)], name: &str) -> Option<&'y Yaml> {
    let is_it = |key: &Yaml| matches!(key, Yaml::Scalar { text, .. } if text == name);
    members.iter().find(|(key, _)| is_it(key)).map(|(_, value)| value)
}

fn no_text(members: &[(Yaml, Yaml)], name: &str) -> Option<(String, String)> {
    let why = match member(members, name) {
        None => "is missing",
        Some(Yaml::Scalar { text, .. }) if text.is_empty() => "is empty",
        Some(Yaml::Scalar { text, is_plain: true }) if !readings(text).iter().any(Value::is_string) => {
            "is not a string"
        }
        Some(Yaml::Tagged | Yaml::Scalar { .. }) => return None,
        Some(_) => "is not a string",
    };
    Some((String::new(), format!("`{name}` {why} in the front matter")))
}

fn repeated(members: &[(Yaml, Yaml)]) -> Found {
    let again = |index: &usize| members[..*index].iter().any(|(key, _)| *key == members[*index].0);
    let named = |index: usize| match &members[index].0 {
        Yaml::Scalar { text, .. } => format!("the key `{text}` occurs twice in the front matter"),
        _ => "a key occurs twice in the front matter".to_owned(),
    };
    (0..members.len()).filter(again).map(|index| (String::new(), named(index))).collect()
}

fn other_name(members: &[(Yaml, Yaml)], name: &str) -> Option<Found> {
    let Some(Yaml::Scalar { text, .. }) = member(members, "name") else { return None };
    Some(if text == name { Vec::new() } else { vec![(String::new(), format!("`name` is {text}, expected {name}"))] })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn found(part: &str, text: &str, entry: Value) -> (usize, usize) {
        let given = [
            ("contents", json!([{ "uri": "skill://a/SKILL.md", "text": text }])),
            ("uri", json!("skill://a/SKILL.md")),
            ("entry", entry),
            ("fields", json!(["name", "description"])),
            ("part", json!(part)),
        ];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked, report.faults.len())
    }

    #[test]
    fn the_front_matter_comes_first_and_ends() {
        for fine in ["---\na: 1\n---\nx", "--- \r\na: 1\r\n---\r\n", "\u{feff}---\n---"] {
            assert_eq!(found("first", fine, Value::Null), (1, 0), "{fine:?}");
        }
        for odd in ["# x\n---\na: 1\n---\n", "---\na: 1\n", "", "----\n---\n"] {
            assert_eq!(found("first", odd, Value::Null), (1, 1), "{odd:?}");
        }
        assert_eq!(found("mark", "\u{feff}---\n---", Value::Null), (1, 1));
        assert_eq!(found("mark", "---\n---", Value::Null), (1, 0));
    }

    #[test]
    fn it_is_a_mapping_with_a_name_and_a_description() {
        let one = |yaml: &str| found("mapping", &format!("---\n{yaml}\n---\n"), Value::Null);
        assert_eq!(one("name: a\ndescription: b"), (1, 0));
        assert_eq!(one("name: yes\ndescription: 1e3"), (1, 0));
        assert_eq!(one("name: 2048\ndescription: ''"), (1, 2));
        assert_eq!(one("- name\n- description"), (1, 1));
        assert_eq!(one("name: a\n\tdescription: b"), (1, 1));
        assert_eq!(one("name: [a\n"), (1, 1));
        assert_eq!(found("mapping", "no front matter", Value::Null), (0, 0));
        assert_eq!(found("unique", "---\na: 1\na: 2\n---\n", Value::Null), (1, 1));
    }

    #[test]
    fn it_is_compared_with_the_entry() {
        let text = "---\nname: a\ndescription: long\ndraft: true\n---\n";
        let counts = |entry: Value| ["fields", "types", "values"].map(|part| found(part, text, entry.clone()).1);
        assert_eq!(counts(json!({ "name": "a", "description": "long", "draft": true })), [0, 0, 0]);
        assert_eq!(counts(json!({ "name": "a", "description": "lo", "draft": "true" })), [0, 1, 1]);
        assert_eq!(counts(json!({ "name": "a", "description": "long", "path": "x" })), [2, 0, 0]);
        assert_eq!(found("fields", text, Value::Null), (0, 0));
        assert_eq!((found("name", text, json!("a")), found("name", text, json!("b"))), ((1, 0), (1, 1)));
    }
}
