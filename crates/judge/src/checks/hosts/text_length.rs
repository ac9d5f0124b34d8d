//! Texts are together not longer than a host takes.

use serde_json::json;

use crate::checks::{Check, Fault, Given, Report, texts};

/// `text` is a text, or a list of texts that are read together; `called` is what the message calls it.
pub const CHECK: Check = Check { name: "text-length", given: &["text", "at-most", "called"], run };

fn run(given: &Given) -> Report {
    let texts = texts(given.value("text"));
    let Some(most) = given.value("at-most").as_u64().filter(|_| !texts.is_empty()) else { return Report::default() };
    let length: usize = texts.iter().map(|text| text.chars().count()).sum();
    let fault = Fault {
        given: "text",
        message: format!("{} has {length} characters, expected at most {most}", given.text("called")),
        expected: Some(json!(most)),
        received: Some(json!(length)),
        ..Fault::default()
    };
    Report::of(if length as u64 > most { vec![fault] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn characters_are_counted_not_bytes() {
        let faults = |text| {
            let given = [("text", text), ("at-most", json!(4)), ("called", json!("the name"))];
            let report = tried(&CHECK, Revision::NEWEST, given);
            (report.checked, report.faults.len())
        };
        assert_eq!(
            (faults(json!("äöüß")), faults(json!(["ab", "cde"])), faults(json!(null))),
            ((1, 0), (1, 1), (0, 0))
        );
    }
}
