//! Names stay different after a host has replaced characters in them and cut them.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

/// What `replaced` matches becomes an underscore; then only the first `cut` characters are kept.
pub const CHECK: Check = Check { name: "equal-names", given: &["names", "replaced", "cut?"], run };

fn run(given: &Given) -> Report {
    let replaced = match Regex::new(given.text("replaced")) {
        Ok(replaced) => replaced,
        Err(why) => return Report { broken: Some(format!("`replaced`: {why}")), ..Report::default() },
    };
    let most = given.value("cut").as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let names = given.list("names").iter().enumerate().filter_map(|(index, name)| Some((index, name.as_str()?)));
    let (mut first, mut faults, mut checked) = (HashMap::new(), Vec::new(), 0);
    for (index, name) in names {
        checked += 1;
        let becomes: String = replaced.replace_all(name, "_").chars().take(most).collect();
        match first.get(&becomes) {
            None => _ = first.insert(becomes, name),
            Some(other) => faults.push(Fault {
                given: "names",
                pointer: format!("/{index}"),
                message: match *other == name {
                    true => format!("two tools have the name {}", Value::from(name)),
                    false => format!(
                        "{} and {} both become {}",
                        Value::from(*other),
                        Value::from(name),
                        Value::from(becomes)
                    ),
                },
                subject: Some(name.to_owned()),
                ..Fault::default()
            }),
        }
    }
    // One name has no other that it could equal.
    Report { checked: if checked > 1 { checked } else { 0 }, faults, broken: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn names_are_compared_as_the_host_has_them() {
        let messages = |names, cut: usize| {
            let given = [("names", names), ("replaced", json!("[^a-z]")), ("cut", json!(cut))];
            let report = tried(&CHECK, Revision::NEWEST, given);
            (report.checked, report.faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>())
        };
        assert_eq!(messages(json!(["a.b", "a-b"]), 9), (2, vec!["\"a.b\" and \"a-b\" both become \"a_b\"".into()]));
        assert_eq!(messages(json!(["abc", "abd"]), 2), (2, vec!["\"abc\" and \"abd\" both become \"ab\"".into()]));
        assert_eq!(messages(json!(["a", "a"]), 9), (2, vec!["two tools have the name \"a\"".into()]));
        assert_eq!(messages(json!(["a", "b", 3]), 9), (2, vec![]));
        assert_eq!(messages(json!(["a"]), 9), (0, vec![]));
    }
}
