//! How deep the scoped list of a container reaches. `part: itself` finds containers that list themselves, `part: subtree`
//! those that list what stands below their children too, where URIs tell of the same hierarchy. A graph may well be like
//! that in places, so it counts only where all containers are.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Check, Fault, Given, Report, below_one_of::below};

pub const CHECK: Check = Check { name: "list-depth", given: &["visits", "part"], run };

type Children<'a> = HashMap<&'a str, Vec<&'a str>>;

fn run(given: &Given) -> Report {
    let visits = given.value("visits").as_array().map(Vec::as_slice).unwrap_or_default();
    let whole = visits.iter().filter(|visit| visit["reply"]["end"] == "complete");
    let children: Children = whole
        .filter_map(|visit| {
            let listed = visit["children"].as_array()?.iter().filter_map(Value::as_str);
            Some((visit["key"].as_str()?, listed.collect()))
        })
        .collect();
    let mut report = Report { checked: children.len(), ..Report::default() };
    let mut alone = false;
    for (index, key) in visits.iter().enumerate().filter_map(|(index, visit)| Some((index, visit["key"].as_str()?))) {
        let Some(listed) = children.get(key) else { continue };
        let message = if given.text("part") == "itself" {
            alone |= !listed.contains(&key);
            Some("lists itself".to_owned())
        } else {
            let deeper = deeper(key, listed, &children);
            alone |= deeper == Some(None);
            deeper.flatten().map(|uri| format!("lists {uri} as well, which stands below one of its children"))
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

/// What the container lists of the children of its children, if it lists all of that; `None` within if it does not. A
/// container none of whose children has any tells nothing.
fn deeper<'a>(key: &str, listed: &[&'a str], children: &Children<'a>) -> Option<Option<&'a str>> {
    let under = |uri: &str, of: &str| below(uri, of);
    let containers = listed.iter().filter(|child| under(child, key)).filter_map(|child| children.get_key_value(child));
    let mut grandchildren =
        containers.flat_map(|(child, its)| its.iter().copied().filter(move |uri| under(uri, child)));
    let first = grandchildren.next()?;
    let listed: HashSet<&str> = listed.iter().copied().collect();
    Some((listed.contains(first) && grandchildren.all(|uri| listed.contains(uri))).then_some(first))
}

#[cfg(test)]
mod tests {
    use super::{Children, deeper};

    fn look<'a>(key: &str, children: &Children<'a>) -> Option<Option<&'a str>> {
        deeper(key, &children[key], children)
    }

    #[test]
    fn a_subtree_is_told_from_a_list_of_children() {
        let mut children = Children::from([("a:/x", vec!["a:/x/y", "a:/x/z"]), ("a:/x/y", vec!["a:/x/y/1", "a:/x"])]);
        assert_eq!(look("a:/x", &children), Some(None));
        children.insert("a:/x", vec!["a:/x/y", "a:/x/y/1"]);
        assert_eq!(look("a:/x", &children), Some(Some("a:/x/y/1")));
        assert_eq!(look("a:/x/y", &children), None, "what leads back is not below");
    }
}
