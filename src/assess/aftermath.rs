//! Adds to a finding about a request without a response how the process ended, if it sent nothing after that request: its
//! exit may come long after the timeout, such as with the next line on stdin.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    evidence::{Frame, FrameKind, Side},
    outcome::RuleResult,
};

pub fn tell(rules: &mut [RuleResult], frames: impl Iterator<Item = Arc<Frame>>) {
    let findings = || rules.iter().flat_map(|rule| &rule.findings);
    let wanted: HashSet<u64> = findings().flat_map(|finding| finding.frames.iter().copied()).collect();
    if wanted.is_empty() {
        return;
    }
    let exits = exits(&wanted, frames);
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        let exit = finding.frames.iter().rev().find_map(|frame| exits.get(frame));
        if let Some(exit) = exit.filter(|exit| !finding.message.contains(exit.as_str())) {
            finding.message += &format!("; the server sent nothing after this request, and {exit}");
        }
    }
}

/// How the process failed after each of these frames that is a request, if the server sent nothing in between.
fn exits(wanted: &HashSet<u64>, frames: impl Iterator<Item = Arc<Frame>>) -> HashMap<u64, String> {
    let mut exits = HashMap::new();
    // By connection, the wanted requests since the server last sent something.
    let mut open: HashMap<u32, Vec<u64>> = HashMap::new();
    for frame in frames {
        match (frame.from, frame.kind) {
            (Side::Client, _) if frame.post.is_none() && wanted.contains(&frame.frame) && is_request(&frame) => {
                open.entry(frame.link).or_default().push(frame.frame);
            }
            (Side::Server, FrameKind::Note) => {
                let text = frame.text.as_deref().unwrap_or_default();
                if frame.ended.is_some_and(|ended| ended.is_failure(text)) {
                    let requests = open.remove(&frame.link).unwrap_or_default();
                    exits.extend(requests.into_iter().map(|request| (request, text.to_owned())));
                }
            }
            (Side::Server, _) => _ = open.remove(&frame.link),
            _ => {}
        }
    }
    exits
}

fn is_request(frame: &Frame) -> bool {
    frame.message.as_ref().is_some_and(|message| message.get("id").is_some() && message.get("method").is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn frames(frames: &[Value]) -> Vec<Arc<Frame>> {
        let numbered = frames.iter().zip(1..).map(|(frame, number)| {
            let mut whole = json!({ "frame": number, "at": 0, "link": 1, "from": "server", "kind": "message" });
            whole.as_object_mut().expect("an object").extend(frame.as_object().expect("an object").clone());
            Arc::new(serde_json::from_value(whole).expect("a frame"))
        });
        numbered.collect()
    }

    #[test]
    fn only_a_request_after_the_last_message_is_told_of_a_failed_exit() {
        let ask = |id| json!({ "from": "client", "message": { "id": id, "method": "ping" } });
        let exit = |ended: &str, text: &str| json!({ "kind": "note", "ended": ended, "text": text });
        let response = json!({ "message": { "id": 1, "result": {} } });
        let wanted = HashSet::from([1, 2, 3]);
        let told = |seen: &[Value]| {
            let mut told: Vec<_> = exits(&wanted, frames(seen).into_iter()).into_iter().collect();
            told.sort();
            told
        };
        let failed = "exited with status 1".to_owned();
        assert_eq!(told(&[ask(1), response, ask(2), exit("unasked", &failed)]), [(3, failed.clone())]);
        assert_eq!(told(&[ask(1), ask(2), exit("stdin-closed", &failed)]), [(1, failed.clone()), (2, failed)]);
        assert_eq!(told(&[ask(1), exit("stdin-closed", "exited with status 0 when stdin was closed")]), []);
        assert_eq!(told(&[ask(1), exit("terminated", "still ran 2s after stdin was closed")]), []);
    }
}
