//! What a directory lists, compared with its own URI and with the files of manifests that are in it.
//!
//! `part` is `direct` (nothing but direct children), `complete` (all files and directories that follow from the manifests),
//! `known` (no file that the manifests lack), or `types` (directories, and only they, have the type of directories).
//! A manifest without a list of files (`resources` is no array) says nothing about its directory.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::manifest_uris::{is_below, normal};
use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check =
    Check { name: "directory-children", given: &["directory", "children", "manifests?", "part"], run };

const DIRECTORY: &str = "inode/directory";
/// URIs in a message.
const SHOWN: usize = 3;

fn run(given: &Given) -> Report {
    let directory = given.text("directory");
    let (Some(root), Some(children)) = (normal(directory), given.value("children").as_array()) else {
        return Report::default();
    };
    let root = root.trim_end_matches('/');
    // A child is a resource, or its URI alone.
    let listed: Vec<(&str, &Value)> =
        children.iter().filter_map(|child| Some((child.as_str().or_else(|| child["uri"].as_str())?, child))).collect();
    if given.text("part") == "direct" {
        let odd: Vec<&str> = listed.iter().filter(|(uri, _)| !is_direct(uri, root)).map(|(uri, _)| *uri).collect();
        let checked = listed.len();
        return Report {
            checked,
            faults: fault(directory, &odd, "is no direct child").into_iter().collect(),
            broken: None,
        };
    }
    let Some(expected) = expected(given.list("manifests"), root) else { return Report::default() };
    let seen: HashSet<String> = listed.iter().filter_map(|(uri, _)| Some(trimmed(&normal(uri)?))).collect();
    let (odd, what): (Vec<&str>, _) = match given.text("part") {
        "complete" => {
            let missing = expected.keys().filter(|uri| !seen.contains(*uri)).map(String::as_str).collect();
            (missing, "is missing")
        }
        "known" => {
            let is_foreign = |uri: &str, child: &Value| {
                child["mimeType"] != DIRECTORY
                    && normal(uri).is_some_and(|uri| is_direct(&uri, root) && !expected.contains_key(&trimmed(&uri)))
            };
            let foreign = listed.iter().filter(|(uri, child)| is_foreign(uri, child));
            (foreign.map(|(uri, _)| *uri).collect(), "is a file that the manifest lacks")
        }
        _ => {
            let is_wrong = |uri: &str, child: &Value| {
                let is_directory = normal(uri).and_then(|uri| expected.get(&trimmed(&uri)).copied());
                is_directory.is_some_and(|is_directory| is_directory != (child["mimeType"] == DIRECTORY))
            };
            let wrong = listed.iter().filter(|(uri, child)| is_wrong(uri, child));
            (wrong.map(|(uri, _)| *uri).collect(), "has the wrong `mimeType`: only directories have inode/directory")
        }
    };
    Report::of(fault(directory, &odd, what).into_iter().collect())
}

fn trimmed(uri: &str) -> String {
    uri.trim_end_matches('/').to_owned()
}

/// Whether it is the directory, a slash and one segment. Another rule judges a slash at the end.
fn is_direct(uri: &str, root: &str) -> bool {
    let Some(uri) = normal(uri) else { return false };
    let rest = uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    rest.map(|rest| rest.trim_end_matches('/')).is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
}

/// The children that follow from the files, each with whether it is a directory. `None` without a manifest that says so.
fn expected(manifests: &[Value], root: &str) -> Option<BTreeMap<String, bool>> {
    let mut children = BTreeMap::new();
    let mut is_covered = false;
    for manifest in manifests {
        let home = manifest["uri"].as_str().and_then(normal);
        let Some((home, _)) = home.as_deref().and_then(|main| main.rsplit_once('/')) else { continue };
        let Some(files) = manifest["resources"].as_array() else { continue };
        if root != home && !is_below(root, home) {
            continue;
        }
        is_covered = true;
        for file in files.iter().filter_map(|file| file["uri"].as_str().and_then(normal)) {
            let Some(rest) = file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let name = rest.split('/').next().unwrap_or(rest);
            let is_directory = rest.len() > name.len();
            *children.entry(format!("{root}/{name}")).or_insert(is_directory) |= is_directory;
        }
    }
    is_covered.then_some(children)
}

fn fault(directory: &str, odd: &[&str], what: &str) -> Option<Fault> {
    let first = odd.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let more = if odd.len() > SHOWN { format!(" and {} more", odd.len() - SHOWN) } else { String::new() };
    (!odd.is_empty()).then(|| Fault {
        given: "children",
        message: format!("{first}{more} {what}"),
        subject: Some(directory.to_owned()),
        received: Some(json!(odd)),
        ..Fault::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn found(part: &str, directory: &str, children: Value) -> (usize, Vec<String>) {
        let files = ["SKILL.md", "b/x.md", "b/c/y.md", "z"].map(|path| json!({ "uri": format!("skill://a/{path}") }));
        let given = [
            ("directory", json!(directory)),
            ("children", children),
            (
                "manifests",
                json!([{ "uri": "skill://a/SKILL.md", "resources": files }, { "uri": "skill://d/SKILL.md", "resources": "dynamic" }]),
            ),
            ("part", json!(part)),
        ];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked, report.faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn only_direct_children_are_right() {
        assert_eq!(found("direct", "skill://a", json!(["skill://a/b", "skill://a/b/", "skill://a/z"])), (3, vec![]));
        let odd = json!(["skill://a", "skill://a/b/c", "skill://ab", "skill://d/z", "skill://a/z"]);
        let (_, messages) = found("direct", "skill://a/", odd);
        assert_eq!(messages, ["skill://a, skill://a/b/c, skill://ab and 1 more is no direct child"]);
    }

    #[test]
    fn what_follows_from_the_manifest_is_listed() {
        let whole = json!(["skill://a/SKILL.md", "skill://a/b", "skill://a/z"]);
        assert_eq!(found("complete", "skill://a", whole), (1, vec![]));
        assert_eq!(
            found("complete", "skill://a", json!(["skill://a/z"])).1,
            ["skill://a/SKILL.md, skill://a/b is missing"]
        );
        assert_eq!(found("complete", "skill://a/b", json!(["skill://a/b/x.md"])).1, ["skill://a/b/c is missing"]);
        assert_eq!((found("complete", "skill://d", json!([])).0, found("complete", "skill://e", json!([])).0), (0, 0));
    }

    #[test]
    fn files_that_the_manifest_lacks_are_foreign() {
        let listed = json!([{ "uri": "skill://a/z" }, { "uri": "skill://a/.env" }, { "uri": "skill://a/e", "mimeType": DIRECTORY }]);
        assert_eq!(found("known", "skill://a", listed).1, ["skill://a/.env is a file that the manifest lacks"]);
    }

    #[test]
    fn only_directories_have_their_type() {
        let listed = json!([{ "uri": "skill://a/z", "mimeType": DIRECTORY }, { "uri": "skill://a/b" }]);
        assert!(found("types", "skill://a", listed).1[0].starts_with("skill://a/z, skill://a/b has"));
        let right = json!([{ "uri": "skill://a/b", "mimeType": DIRECTORY }, { "uri": "skill://a/SKILL.md" }]);
        assert_eq!(found("types", "skill://a", right), (1, vec![]));
    }
}
