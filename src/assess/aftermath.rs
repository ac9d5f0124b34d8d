//! Adds to a finding about a request without a response how the process ended, if it sent nothing after that request: its
//! exit may come long after the timeout, such as with the next line on stdin.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    evidence::{Ended, Frame, FrameKind, Side},
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
        if let Some((exit, is_followed)) = exit.filter(|(exit, _)| !finding.message.contains(exit.as_str())) {
            let when = if *is_followed { "after the next message " } else { "" };
            finding.message += &format!("; the server sent nothing after this request, and {when}{exit}");
        }
    }
}

/// How the process failed after each of these frames that is a request, if the server sent nothing in between, and
/// whether the client sent more until then: a reader that an exception has stopped may only notice with the next line.
fn exits(wanted: &HashSet<u64>, frames: impl Iterator<Item = Arc<Frame>>) -> HashMap<u64, (String, bool)> {
    let mut exits = HashMap::new();
    // By connection, the wanted requests since the server last sent something, and whether the client sent more.
    let mut open: HashMap<u32, Vec<(u64, bool)>> = HashMap::new();
    for frame in frames {
        match (frame.from, frame.kind) {
            (Side::Client, _) if frame.post.is_none() => {
                let requests = open.entry(frame.link).or_default();
                for (_, is_followed) in requests.iter_mut() {
                    *is_followed = true;
                }
                if wanted.contains(&frame.frame) && is_request(&frame) {
                    requests.push((frame.frame, false));
                }
            }
            (Side::Server, FrameKind::Note) => {
                let text = frame.text.as_deref().unwrap_or_default();
                if frame.ended.is_some_and(|ended| ended.is_failure(text)) {
                    let requests = open.remove(&frame.link).unwrap_or_default();
                    // At the end of stdin no message is the cause.
                    let on_its_own = frame.ended == Some(Ended::Unasked);
                    let told = |(request, is_followed)| (request, (text.to_owned(), is_followed && on_its_own));
                    exits.extend(requests.into_iter().map(told));
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
        let (at_once, later) = ((failed.clone(), false), (failed.clone(), true));
        assert_eq!(told(&[ask(1), response, ask(2), exit("unasked", &failed)]), [(3, at_once.clone())]);
        assert_eq!(told(&[ask(1), ask(2), exit("unasked", &failed)]), [(1, later), (2, at_once.clone())]);
        assert_eq!(told(&[ask(1), ask(2), exit("stdin-closed", &failed)]), [(1, at_once.clone()), (2, at_once)]);
        assert_eq!(told(&[ask(1), exit("stdin-closed", "exited with status 0 when stdin was closed")]), []);
        assert_eq!(told(&[ask(1), exit("terminated", "still ran 2s after stdin was closed")]), []);
    }
}
