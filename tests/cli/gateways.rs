//! Findings about gateways, as users see them.

use crate::{PROGRAM, ran};

/// The messages of a finding with several clients: who sent or received each, and its text.
#[test]
fn a_finding_about_two_clients_shows_both_requests_and_who_received_the_response() {
    let options = ["gateway", "--front", "http", "--revision", "2025-11-25", "--filter", "gateway-own-response"];
    let relay = [PROGRAM, "relay", "{upstream}", "--front", "http", "--port", "{port}", "--fault", "responses-in-turn"];
    let ran = ran(options.into_iter().chain(["--report", "json", "--"]).chain(relay));
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report");
    let findings =
        report["rules"].as_array().into_iter().flatten().filter_map(|rule| rule["findings"].as_array()).flatten();
    let found = findings.map(|finding| {
        let messages = finding["messages"].as_array().into_iter().flatten();
        let text = |message: &serde_json::Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
        let bodies = messages.filter(|message| text(message, "text").starts_with(['{', '…']));
        bodies.map(|message| (text(message, "from"), text(message, "text"))).collect::<Vec<_>>()
    });
    let found: Vec<_> = found.collect();
    let to_first = found.first().expect("a finding");
    let expected =
        [("client 1", "\"slow\""), ("client 2", "\"two\""), ("upstream", "\"two\""), ("to client 1", "\"two\"")];
    assert_eq!(to_first.len(), expected.len(), "{found:?}");
    for ((from, text), (expected, part)) in to_first.iter().zip(expected) {
        assert!(from == expected && text.contains(part), "{found:?}");
    }
}
