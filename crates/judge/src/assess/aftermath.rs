//! Adds to a finding about a request without a response what happened after the timeout: a late response, or how the
//! process ended if it sent nothing more. Both may happen only after the next line on stdin.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::Value;

use conform_model::{
    evidence::{Ended, Frame, FrameKind, Kind, Message, Side, conversation::Said},
    outcome::RuleResult,
};

/// What came of requests, by the numbers of their frames.
pub struct Aftermath {
    wanted: HashSet<u64>,
    exits: Exits,
    late: Late,
}

impl Aftermath {
    pub fn of(rules: &[RuleResult]) -> Self {
        let findings = rules.iter().flat_map(|rule| &rule.findings);
        let wanted = findings.flat_map(|finding| finding.frames.iter().copied()).collect();
        Self { wanted, exits: Exits::default(), late: Late::default() }
    }

    pub fn take(&mut self, said: &Said) {
        self.exits.take(said.frame, &self.wanted);
        self.late.take(said, &self.wanted);
    }

    pub fn tell(self, rules: &mut [RuleResult]) {
        let Self { exits, late, .. } = self;
        for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
            if let Some((response, after)) = finding.frames.last().and_then(|frame| late.found.get(frame)) {
                finding.message += &format!("; the response came {after} (#{response})");
            }
            let exit = finding.frames.iter().rev().find_map(|frame| exits.found.get(frame));
            if let Some((exit, is_followed)) = exit.filter(|(exit, _)| !finding.message.contains(exit.as_str())) {
                let when = if *is_followed { "after the next message " } else { "" };
                finding.message += &format!("; the server sent nothing after this request, and {when}{exit}");
            }
        }
    }
}

/// How the process failed after a request, if the server sent nothing in between.
#[derive(Default)]
struct Exits {
    /// By request, and whether the client sent more until then: a reader that an exception has stopped may only notice with
    /// the next line.
    found: HashMap<u64, (String, bool)>,
    /// By connection, the wanted requests since the server last sent something, and whether the client sent more.
    open: HashMap<u32, Vec<(u64, bool)>>,
}

impl Exits {
    fn take(&mut self, frame: &Frame, wanted: &HashSet<u64>) {
        match (frame.from, frame.kind) {
            (Side::Client, _) if frame.post.is_none() => {
                let requests = self.open.entry(frame.link).or_default();
                for (_, is_followed) in requests.iter_mut() {
                    *is_followed = true;
                }
                if wanted.contains(&frame.frame) && frame.message.as_ref().is_some_and(is_request) {
                    requests.push((frame.frame, false));
                }
            }
            (Side::Server, FrameKind::Note) => {
                let text = frame.text.as_deref().unwrap_or_default();
                if frame.ended.is_some_and(|ended| ended.is_failure(frame.exit.as_ref())) {
                    let requests = self.open.remove(&frame.link).unwrap_or_default();
                    // At the end of stdin no message is the cause.
                    let on_its_own = frame.ended == Some(Ended::Unasked);
                    let told = |(request, is_followed)| (request, (text.to_owned(), is_followed && on_its_own));
                    self.found.extend(requests.into_iter().map(told));
                }
            }
            (Side::Server, _) => _ = self.open.remove(&frame.link),
            _ => {}
        }
    }
}

/// The responses over stdio to requests of findings.
#[derive(Default)]
struct Late {
    /// By request, the frame of the response, and its time.
    found: HashMap<u64, (u64, String)>,
    /// By connection, the last frame of the client.
    last_sent: HashMap<u32, u64>,
}

impl Late {
    fn take(&mut self, said: &Said, wanted: &HashSet<u64>) {
        let frame = said.frame;
        if frame.post.is_some() {
            return;
        }
        if frame.from == Side::Client {
            self.last_sent.insert(frame.link, frame.frame);
            return;
        }
        let request = said.request().filter(|asked| asked.responses == 0).map(|asked| asked.place);
        if let Some(request) = request.filter(|request| wanted.contains(&request.frame)) {
            let seconds = Duration::from_micros(frame.at.saturating_sub(request.at)).as_secs_f32();
            let is_followed = self.last_sent.get(&frame.link).is_some_and(|last| *last > request.frame);
            let then = if is_followed { ", after the next message of the client" } else { "" };
            self.found.insert(request.frame, (frame.frame, format!("{seconds:.1} s later{then}")));
        }
    }
}

fn is_request(message: &Value) -> bool {
    Message::of(message).kind == Kind::Request
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use conform_model::evidence::conversation::Conversation;

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
        let exit = |ended: &str, text: &str| {
            let status = i32::from(text.contains("status 1"));
            json!({ "kind": "note", "ended": ended, "text": text, "exit": { "status": status } })
        };
        let response = json!({ "message": { "id": 1, "result": {} } });
        let wanted = HashSet::from([1, 2, 3]);
        let told = |seen: &[Value]| {
            let mut exits = Exits::default();
            for frame in frames(seen) {
                exits.take(&frame, &wanted);
            }
            let mut told: Vec<_> = exits.found.into_iter().collect();
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

    #[test]
    fn a_late_response_is_named_with_its_time() {
        let ask = |id, at| json!({ "from": "client", "at": at, "message": { "id": id, "method": "ping" } });
        let response = |id, at| json!({ "at": at, "message": { "id": id, "result": {} } });
        let seen = [ask(1, 0), ask(2, 1_000_000), response(1, 2_500_000), response(2, 4_000_000)];
        let (mut late, mut conversation) = (Late::default(), Conversation::default());
        for frame in frames(&seen) {
            late.take(&conversation.take(&frame), &HashSet::from([1, 2]));
        }
        assert_eq!(late.found[&1], (3, "2.5 s later, after the next message of the client".to_owned()));
        assert_eq!(late.found[&2], (4, "3.0 s later".to_owned()));
    }
}
