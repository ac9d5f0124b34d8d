//! The names in a list are keys of an object.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

/// `called` is what the message calls the list.
pub const CHECK: Check = Check { name: "known-names", given: &["names", "known?", "called"], run };

fn run(given: &Given) -> Report {
    let names = given.list("names").iter().enumerate().filter_map(|(index, name)| Some((index, name.as_str()?)));
    let names: Vec<_> = names.collect();
    let unknown = names.iter().filter(|(_, name)| given.value("known").get(*name).is_none());
    let fault = |(index, name): &(usize, &str)| Fault {
        given: "names",
        pointer: format!("/{index}"),
        message: format!("{} has {}, which is no property", given.text("called"), Value::from(*name)),
        ..Fault::default()
    };
    Report { checked: names.len(), faults: unknown.map(fault).collect(), broken: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn only_keys_are_known() {
        let given = [("names", json!(["a", "b"])), ("known", json!({ "a": true })), ("called", json!("`required`"))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        let messages: Vec<_> = report.faults.iter().map(|fault| fault.message.as_str()).collect();
        assert_eq!((report.checked, messages), (2, vec!["`required` has \"b\", which is no property"]));
    }
}
