//! Two responses to the same list request have the same items, in the same order unless `order: any`. A request that
//! succeeded once is not rejected later.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "pages-agree", given: &["page", "with", "order?"], run };

fn run(given: &Given) -> Report {
    let (reply, with) = (given.value("page"), &given.value("with")["result"]);
    let (page, refusal) = (&reply["result"], &reply["error"]);
    if !with.is_object() || !(page.is_object() || refusal.is_object()) {
        return Report::default();
    }
    let (mut ours, mut theirs) = (keys(page), keys(with));
    if given.text("order") == "any" {
        ours.sort();
        theirs.sort();
    }
    if page.is_object() && ours == theirs {
        return Report::of(Vec::new());
    }
    let (pointer, what, received) = match page.is_object() {
        true => ("/result", format!("the page has {}", short(&ours)), Value::from(ours)),
        false => ("/error", "the page was rejected".into(), refusal.clone()),
    };
    let fault = Fault {
        given: "page",
        pointer: pointer.into(),
        message: format!("{what}; the same request returned {} before", short(&theirs)),
        expected: Some(Value::from(theirs)),
        received: Some(received),
        ..Fault::default()
    };
    Report::of(vec![fault])
}

/// The identifiers of the items in a list result, whatever it lists.
pub fn keys(result: &Value) -> Vec<String> {
    let lists = result.as_object().into_iter().flatten().filter_map(|(name, value)| match name.as_str() {
        "resources" | "resourceTemplates" | "tools" | "prompts" => value.as_array(),
        _ => None,
    });
    let key = |item: &Value| {
        let known = ["uri", "uriTemplate", "name"].iter().find_map(|name| item[*name].as_str());
        known.map_or_else(|| item.to_string(), str::to_owned)
    };
    lists.flatten().map(key).collect()
}

/// A list of identifiers, short enough for a sentence.
pub fn short(keys: &[String]) -> String {
    match keys {
        [] => "nothing".into(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, .., last] => format!("{} items, {first} to {last}", keys.len()),
    }
}
