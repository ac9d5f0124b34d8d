//! An embedded resource has the annotations that the list gives it, inside `resource`.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "embedded-annotations", given: &["block", "resources"], run };

fn run(given: &Given) -> Report {
    let embedded = &given.value("block")["resource"];
    let Some(uri) = embedded["uri"].as_str() else { return Report::default() };
    let listed = given.value("resources").as_array().into_iter().flatten().find(|entry| entry["uri"] == *uri);
    let Some(annotations) = listed.and_then(|entry| entry.get("annotations")) else { return Report::default() };
    let fault = |message: String| Fault {
        given: "block",
        pointer: "/resource".into(),
        message,
        expected: Some(annotations.clone()),
        received: embedded.get("annotations").cloned(),
        ..Fault::default()
    };
    Report::of(match embedded.get("annotations") {
        Some(Value::Object(_)) => Vec::new(),
        Some(_) => vec![fault(format!("`annotations` of the embedded {uri} is not an object"))],
        None => vec![fault(format!("{uri} is listed with annotations, but embedded without annotations"))],
    })
}
