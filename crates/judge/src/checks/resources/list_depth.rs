//! The depth of a container's scoped list. `part: itself` reports containers that list themselves. `part: subtree`
//! reports those that also list what is below their children, if the URIs show the same hierarchy. A graph may do
//! either in places, so findings count only if all containers do it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::below_one_of::below;
use crate::checks::{Check, Fault, Given, Report};
use conform_model::evidence::ListEnd;

pub const CHECK: Check = Check { name: "list-depth", given: &["visits", "part"], run };

type Children<'a> = HashMap<&'a str, Vec<&'a str>>;

fn run(given: &Given) -> Report {
    let visits = given.list("visits");
    let whole = visits.iter().filter(|visit| ListEnd::is_complete(&visit["reply"]));
    let children: Children = whole
        .filter_map(|visit| {
            let listed = visit["children"].as_array()?.iter().filter_map(Value::as_str);
            Some((visit["key"].as_str()?, listed.collect()))
        })
        .collect();
    let mut report = Report::default();
    let mut alone = false;
    for (index, key) in visits.iter().enumerate().filter_map(|(index, visit)| Some((index, visit["key"].as_str()?))) {
        let Some(listed) = children.get(key) else { continue };
        let message = if given.text("part") == "itself" {
            report.checked += 1;
            alone |= !listed.contains(&key);
            Some("lists itself".to_owned())
        } else {
            let depth = depth(key, listed, &children);
            // If no child lists anything below itself, the depth is unknown.
            report.checked += usize::from(depth != Depth::Unknown);
            match depth {
                Depth::Unknown => None,
                Depth::Children => {
                    alone = true;
                    None
                }
                Depth::Below(uri) => Some(format!("also lists {uri}, which is below one of its children")),
            }
        };
        report.faults.extend(message.map(|message| Fault {
            given: "visits",
            pointer: format!("/{index}/children"),
            message,
            subject: Some(key.to_owned()),
            ..Fault::default()
        }));
    }
    if alone {
        report.faults.clear();
    }
    report
}

#[derive(Debug, PartialEq)]
enum Depth<'a> {
    /// None of its children has children.
    Unknown,
    Children,
    /// It lists everything that its children list, such as this URI.
    Below(&'a str),
}

fn depth<'a>(key: &str, listed: &[&'a str], children: &Children<'a>) -> Depth<'a> {
    // A server that matches prefixes as plain text treats siblings with longer names, and their subtrees, as children.
    let extends = |child: &&&str| child.len() > key.len() && child.starts_with(key);
    let containers: Vec<_> = listed.iter().filter(extends).filter_map(|child| children.get_key_value(child)).collect();
    // If two levels are listed, URIs of the second level are not children.
    let is_child = |child: &str| !containers.iter().any(|(other, _)| **other != child && below(child, other));
    let mut grandchildren = containers
        .iter()
        .filter(|(child, _)| is_child(child))
        .flat_map(|(child, its)| its.iter().copied().filter(move |uri| below(uri, child)));
    let Some(first) = grandchildren.next() else { return Depth::Unknown };
    let listed: HashSet<&str> = listed.iter().copied().collect();
    let all = listed.contains(first) && grandchildren.all(|uri| listed.contains(uri));
    if all { Depth::Below(first) } else { Depth::Children }
}

#[cfg(test)]
mod tests {
    use super::{Children, Depth, depth};

    fn look<'a>(key: &str, children: &Children<'a>) -> Depth<'a> {
        depth(key, &children[key], children)
    }

    #[test]
    fn a_subtree_is_told_from_a_list_of_children() {
        let mut children = Children::from([("a:/x", vec!["a:/x/y", "a:/x/z"]), ("a:/x/y", vec!["a:/x/y/1", "a:/x"])]);
        assert_eq!(look("a:/x", &children), Depth::Children);
        children.insert("a:/x", vec!["a:/x/y", "a:/x/y/1"]);
        assert_eq!(look("a:/x", &children), Depth::Below("a:/x/y/1"));
        assert_eq!(look("a:/x/y", &children), Depth::Unknown, "what leads back is not below");
        children.insert("a:/x/y/1", vec!["a:/x/y/1/2"]);
        assert_eq!(look("a:/x", &children), Depth::Below("a:/x/y/1"), "two levels of three");
        let mut children = Children::from([("a:/x", vec!["a:/xy", "a:/xy/1"]), ("a:/xy", vec!["a:/xy/1"])]);
        assert_eq!(look("a:/x", &children), Depth::Below("a:/xy/1"), "taken by its first characters");
        children.insert("a:/x", vec!["a:/xy"]);
        assert_eq!(look("a:/x", &children), Depth::Children);
    }
}
