//! Prefixes to filter lists by, derived from listed URIs, since the suite language cannot cut a string.
//!
//! Each has a kind with an expected result. For a `folder` (it ends in `/`), it makes no difference whether a server
//! compares strings or path segments. That is why only those can make a run fail.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Maximum number of prefixes per kind.
const EACH: usize = 4;
const UNUSED_PREFIX: &str = "mcp-conform-nobody-has-this:";

/// Adds `$facts.prefixes.resources` and `$facts.prefixes.templates`, lists of `{ kind, prefix }`.
pub fn add_prefixes(facts: &mut Value, survey: &Value) {
    let of = |list: &str, member: &str| {
        let items = survey[list]["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = |member: &str| items.iter().filter_map(|item| item[member].as_str()).collect::<Vec<_>>();
        prefixes(&texts(member), &texts("name"))
    };
    facts["prefixes"] = json!({ "resources": of("resources", "uri"), "templates": of("templates", "uriTemplate") });
}

fn prefixes(keys: &[&str], names: &[&str]) -> Value {
    let taken = |prefix: &String| keys.iter().any(|key| key.starts_with(prefix.as_str()));
    let folders = folders(keys);
    let stem =
        folders.iter().rev().find_map(|folder| stem(folder)).or_else(|| keys.iter().find_map(|key| shorter(key)));
    let mut all = Vec::new();
    let mut add = |kind: &str, found: Vec<String>| {
        let mut seen = BTreeSet::new();
        let fresh = found.into_iter().filter(|prefix| seen.insert(prefix.clone())).take(EACH);
        all.extend(fresh.map(|prefix| json!({ "kind": kind, "prefix": prefix })));
    };
    // Prefixes that should match.
    add("query", keys.iter().flat_map(|key| queries(key)).collect());
    add("sibling", keys.iter().flat_map(|key| boundaries(key)).filter(|prefix| has_sibling(prefix, keys)).collect());
    add("inside", keys.iter().rev().filter_map(|key| inside(key)).collect());
    add("whole", [longest(keys), keys.last().copied()].into_iter().flatten().map(str::to_owned).collect());
    add("empty", vec![String::new()]);
    // Prefixes that should match nothing.
    let free = |found: Vec<String>| found.into_iter().filter(|prefix| !taken(prefix)).collect::<Vec<_>>();
    let bare = keys.iter().take(1).filter_map(|key| Some(key.split_once(':')?.1.to_owned()));
    let bare = bare.chain(names.iter().take(1).map(|&name| name.to_owned()));
    // A server that parses the prefix as a URI would match the whole folder.
    let queried = folders.iter().take(1).flat_map(|folder| ["?x", "#x"].map(|end| format!("{folder}{end}")));
    add("elsewhere", free(bare.chain(queried).collect()));
    let spelled = folders.iter().rev().map(String::as_str).chain(keys.iter().copied());
    let respelled = spelled.map(respelled).find(|found| !found.is_empty());
    add(
        "spelling",
        free(respelled.into_iter().flatten().chain(keys.iter().filter_map(|key| unescaped(key))).collect()),
    );
    let signs = |stem: String| ["*", "_", "%", "."].map(|sign| format!("{stem}{sign}"));
    add("pattern", free(stem.into_iter().flat_map(signs).collect()));
    add("concrete", free(keys.iter().filter_map(|key| concrete(key)).collect()));
    add("nobodys", vec![UNUSED_PREFIX.to_owned()]);
    add("folder", folders);
    all.into()
}

/// The index of the path in a URI: after the scheme, and after the authority, if any.
fn path_start(key: &str) -> Option<usize> {
    let after_scheme = key.find(':')? + 1;
    match key[after_scheme..].strip_prefix("//") {
        Some(rest) => Some(after_scheme + 2 + rest.find('/')?),
        None => Some(after_scheme),
    }
}

/// The parts of a key up to and including each slash in its path.
fn slashes(key: &str) -> impl Iterator<Item = &str> {
    let start = path_start(key).unwrap_or(key.len());
    let end = key.find(['?', '#']).unwrap_or(key.len());
    key.match_indices('/').filter(move |(at, _)| (start..end).contains(at)).map(|(at, _)| &key[..=at])
}

/// Prefixes that end in a slash and match different sets, most matches first. One that matches everything is of little
/// use and comes last.
fn folders(keys: &[&str]) -> Vec<String> {
    let matching = |prefix: &str| keys.iter().filter(|key| key.starts_with(prefix)).count();
    let mut distinct: BTreeSet<&str> = keys.iter().flat_map(|key| slashes(key)).collect();
    if distinct.is_empty() {
        // The URIs have no path segments, so only the slashes after the scheme are left.
        distinct = keys.iter().filter_map(|key| Some(&key[..key.find("://")? + 3])).collect();
    }
    let mut counted: Vec<(usize, &str)> = distinct.into_iter().map(|prefix| (matching(prefix), prefix)).collect();
    counted.sort_by_key(|(count, prefix)| (*count == keys.len(), std::cmp::Reverse(*count), prefix.len()));
    counted.into_iter().take(EACH).map(|(_, prefix)| prefix.to_owned()).collect()
}

/// The part of a URI up to each slash in its query.
fn queries(key: &str) -> Vec<String> {
    let Some(query) = key.find('?') else { return Vec::new() };
    key.match_indices('/').filter(|(at, _)| *at > query).map(|(at, _)| key[..=at].to_owned()).collect()
}

/// The directories of a key, without their slash.
fn boundaries(key: &str) -> Vec<String> {
    slashes(key).map(|folder| folder.trim_end_matches('/').to_owned()).filter(|prefix| !prefix.ends_with(':')).collect()
}

fn has_sibling(prefix: &str, keys: &[&str]) -> bool {
    let longer = |key: &&str| key.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    keys.iter().any(longer)
}

/// The key without the second half of its last segment, or of the first expression in that.
fn inside(key: &str) -> Option<String> {
    let segment = key.rfind('/').or_else(|| key.rfind(':'))? + 1;
    let start = key[segment..].find('{').map_or(segment, |brace| segment + brace);
    let end = key[start..].find(['}', '?', '#', '%']).map_or(key.len(), |end| start + end);
    let cut = start + (end - start) / 2;
    (cut > start && key.is_char_boundary(cut)).then(|| key[..cut].to_owned())
}

/// A key that is a prefix of other keys, if any.
fn longest<'a>(keys: &[&'a str]) -> Option<&'a str> {
    keys.iter().copied().find(|key| keys.iter().any(|other| other != key && other.starts_with(key)))
}

/// A folder without its slash and last letter.
fn stem(folder: &str) -> Option<String> {
    let name = folder.trim_end_matches('/');
    let start = path_start(folder)?;
    (name.len() > start + 1 && name.ends_with(|c: char| c.is_ascii_alphanumeric()))
        .then(|| name[..name.len() - 1].to_owned())
}

/// A URI that consists only of a name, without the last letter.
fn shorter(key: &str) -> Option<String> {
    let name = key.split_once(':')?.1.trim_start_matches('/');
    let plain = name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| key[..key.len() - 1].to_owned())
}

/// With the first letter of the path in the other case, and percent-encoded.
fn respelled(folder: &str) -> Vec<String> {
    let start = path_start(folder).unwrap_or(folder.len());
    let Some(at) = folder[start..].find(|c: char| c.is_ascii_alphabetic()).map(|at| start + at) else {
        return Vec::new();
    };
    let (letter, rest) = (folder.as_bytes()[at], &folder[at + 1..]);
    let other = if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    vec![format!("{}{}{rest}", &folder[..at], char::from(other)), format!("{}%{letter:02X}{rest}", &folder[..at])]
}

/// The key up to its first percent-encoded character, which is decoded.
fn unescaped(key: &str) -> Option<String> {
    let at = key.find('%')?;
    let byte = u8::from_str_radix(key.get(at + 1..at + 3)?, 16).ok().filter(u8::is_ascii_graphic)?;
    Some(format!("{}{}", &key[..at], char::from(byte)))
}

/// The key up to its first expression, with a value instead of that.
fn concrete(key: &str) -> Option<String> {
    Some(format!("{}123", key.split_once('{')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_kind(kind: &str, keys: &[&str]) -> Vec<String> {
        let found = prefixes(keys, &["notes"]);
        let of_kind = found.as_array().unwrap().iter().filter(|entry| entry["kind"] == kind);
        of_kind.map(|entry| entry["prefix"].as_str().unwrap().to_owned()).collect()
    }

    const KEYS: [&str; 5] =
        ["file:///src/a.rs", "file:///src/lib/b%2Fc.rs", "file:///src-old/a.rs", "db://shop/1", "q://h/g?u=x/y/1"];

    #[test]
    fn folders_end_in_a_slash_of_the_path() {
        assert_eq!(of_kind("folder", &KEYS), ["file:///", "file:///src/", "q://h/", "db://shop/"]);
        assert_eq!(of_kind("query", &KEYS), ["q://h/g?u=x/", "q://h/g?u=x/y/"]);
        assert_eq!(of_kind("folder", &["https://a", "urn:b", "odd"]), ["https://"]);
        assert_eq!(of_kind("folder", &["urn:b", "odd"]), [""; 0]);
    }

    #[test]
    fn names_alone_are_cut_and_respelled() {
        let keys = ["note://alpha", "memo:gamma"];
        assert_eq!(of_kind("pattern", &keys), ["note://alph*", "note://alph_", "note://alph%", "note://alph."]);
        // The case of a host makes no difference.
        assert_eq!(of_kind("spelling", &keys), ["memo:Gamma", "memo:%67amma"]);
    }

    #[test]
    fn the_others_match_in_one_way_of_reading_only() {
        assert_eq!(of_kind("sibling", &KEYS), ["file:///src"]);
        assert_eq!(of_kind("inside", &["file:///docs/readme.md"]), ["file:///docs/read"]);
        assert_eq!(of_kind("inside", &["file:///logs/{day}.log"]), ["file:///logs/{d"]);
        assert_eq!(of_kind("pattern", &KEYS), ["file:///sr*", "file:///sr_", "file:///sr%", "file:///sr."]);
    }

    #[test]
    fn what_is_to_match_nothing_matches_nothing() {
        for kind in ["elsewhere", "spelling", "pattern", "concrete", "nobodys"] {
            for prefix in of_kind(kind, &KEYS) {
                assert!(!KEYS.iter().any(|key| key.starts_with(&prefix)), "{kind}: {prefix}");
            }
        }
        assert_eq!(of_kind("concrete", &["db://x/{id}/y"]), ["db://x/123"]);
        assert!(of_kind("spelling", &KEYS).contains(&"file:///src/lib/b/".to_owned()));
    }
}
