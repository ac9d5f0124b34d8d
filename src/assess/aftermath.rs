//! Adds to a finding about a request without a response how the process ended, if it sent nothing after that request: its
//! exit may come long after the timeout, such as with the next line on stdin.

use std::{collections::HashMap, sync::Arc};

use crate::{
    evidence::{Ended, Frame, FrameKind, Side},
    outcome::RuleResult,
};

pub fn tell(rules: &mut [RuleResult], frames: impl Iterator<Item = Arc<Frame>>) {
    let findings = || rules.iter().flat_map(|rule| &rule.findings);
    let wanted: Vec<u64> = findings().filter_map(|finding| finding.frames.last().copied()).collect();
    let exits = exits(&wanted, frames);
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        let exit = finding.frames.last().and_then(|last| exits.get(last));
        if let Some(exit) = exit.filter(|exit| !finding.message.contains(exit.as_str())) {
            finding.message += &format!("; the server sent nothing after this request, and {exit}");
        }
    }
}

/// How the process failed after each of these frames that is a request, if the server sent nothing in between.
fn exits(wanted: &[u64], frames: impl Iterator<Item = Arc<Frame>>) -> HashMap<u64, String> {
    let mut exits = HashMap::new();
    // By connection, the wanted requests since the server last sent something.
    let mut open: HashMap<u32, Vec<u64>> = HashMap::new();
    for frame in frames {
        match (frame.from, frame.kind) {
            (Side::Client, FrameKind::Message) if frame.post.is_none() && wanted.contains(&frame.frame) => {
                if frame.message.as_ref().is_some_and(|message| message.get("id").is_some()) {
                    open.entry(frame.link).or_default().push(frame.frame);
                }
            }
            (Side::Server, FrameKind::Note) => {
                let text = frame.text.as_deref().unwrap_or_default();
                let failed = match frame.ended {
                    Some(Ended::Unasked) => true,
                    Some(Ended::StdinClosed) => !text.starts_with("exited with status 0"),
                    _ => false,
                };
                if failed {
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
