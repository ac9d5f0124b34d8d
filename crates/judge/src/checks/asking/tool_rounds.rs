//! In a conversation with a model, each use of a tool has its result in the next message, and each result has its use.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

/// `side` is `uses` or `results`: the side whose counterpart may be missing.
pub const CHECK: Check = Check { name: "tool-rounds", given: &["messages", "side"], run };

fn run(given: &Given) -> Report {
    let messages = given.list("messages");
    let mut report = Report::default();
    for (at, message) in messages.iter().enumerate() {
        let (kind, name, missing) = match given.text("side") {
            "uses" => ("tool_use", "id", "is used, but the next message does not consist of the tool results"),
            _ => ("tool_result", "toolUseId", "has a result, but no tool was used under this id before"),
        };
        for id in blocks(message, kind).map(|block| &block[name]) {
            report.checked += 1;
            let answered = match kind {
                "tool_use" => messages.get(at + 1).is_some_and(|next| {
                    let results: Vec<_> = blocks(next, "tool_result").map(|block| &block["toolUseId"]).collect();
                    next["role"] == "user" && results.iter().filter(|other| **other == id).count() == 1
                }),
                _ => messages[..at].iter().any(|earlier| blocks(earlier, "tool_use").any(|block| block["id"] == *id)),
            };
            if !answered {
                report.faults.push(Fault {
                    given: "messages",
                    pointer: format!("/{at}"),
                    message: format!("{id} {missing}"),
                    ..Fault::default()
                });
            }
        }
    }
    report
}

/// Content blocks of one type. Content is a block or a list of blocks.
fn blocks<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let content = &message["content"];
    let several = content.as_array().map_or_else(|| std::slice::from_ref(content), Vec::as_slice);
    several.iter().filter(move |block| block["type"] == kind)
}
