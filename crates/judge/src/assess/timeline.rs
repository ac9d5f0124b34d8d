//! A timeline of the messages, with a short text per frame, and the bodies as far as a report has room for them.

use serde_json::Value;

use super::shown::whole;
use conform_model::{
    evidence::{Frame, FrameKind, Side},
    outcome::{Moment, Sender, excerpt, masked},
};

/// Maximum number of frames in a report.
const KEPT: usize = 1000;
/// Maximum length of a text without a name.
const LONGEST: usize = 100;
/// Maximum number of columns of a body. Most messages of the reference server are shorter than 300 bytes.
const BODY: usize = 1000;
/// Maximum number of bytes of all bodies: the HTML report of the reference server has 700 kB without them.
const BODIES: usize = 256 * 1024;

/// The first frames, and the number of further ones.
#[derive(Default)]
pub struct Timeline {
    pub moments: Vec<Moment>,
    pub left_out: usize,
    bodies: usize,
}

impl Timeline {
    pub fn take(&mut self, frame: &Frame) {
        if frame.kind == FrameKind::Visit {
            return;
        }
        if self.moments.len() >= KEPT {
            self.left_out += 1;
            return;
        }
        let what = what(frame);
        let body = body(frame, &what, BODIES - self.bodies);
        self.bodies += body.as_ref().map_or(0, String::len);
        self.moments.push(Moment {
            frame: frame.frame,
            microseconds: frame.at,
            connection: frame.link,
            from: match frame.from {
                Side::Client => Sender::Client,
                _ => Sender::Server,
            },
            what,
            bytes: frame.bytes,
            body,
        });
    }
}

/// What there is to show of a frame besides its short text, if it fits.
fn body(frame: &Frame, what: &str, room: usize) -> Option<String> {
    let whole = whole(frame);
    // Masked first: a cut token would no longer be recognized.
    let body = excerpt::middle(&masked(&whole), BODY).into_owned();
    (!what.ends_with(&body) && body.len() <= room).then_some(body)
}

/// One frame as a short text.
pub fn what(frame: &Frame) -> String {
    let text = || frame.text.as_deref().unwrap_or_default().chars().take(LONGEST).collect::<String>();
    match (frame.kind, &frame.http) {
        (FrameKind::Message, _) => frame.message.as_ref().map(message).unwrap_or_default(),
        (FrameKind::Junk, _) => format!("no message: {}", text()),
        (FrameKind::Unread, _) => format!("not read: {}", frame.why.as_deref().unwrap_or_default()),
        (FrameKind::HttpRequest, Some(head)) => {
            format!("{} {}", head.method.as_deref().unwrap_or_default(), head.url.as_deref().unwrap_or_default())
        }
        (FrameKind::HttpResponse, Some(head)) => format!("HTTP {}", head.status.unwrap_or_default()),
        _ => text(),
    }
}

/// The name of the subject of a request.
pub fn about(request: &Value) -> Option<&str> {
    let params = request.get("params")?;
    ["uri", "prefix", "name", "cursor", "taskId"].iter().find_map(|member| params.get(*member)?.as_str())
}

fn message(message: &Value) -> String {
    let id = message.get("id").map(|id| format!(" {id}")).unwrap_or_default();
    let said = match message.get("method").and_then(Value::as_str) {
        Some(method) => format!("{method}{id}{}", about(message).map(|name| format!(" · {name}")).unwrap_or_default()),
        None if message.is_array() => "a batch of messages".to_owned(),
        None => match message.get("error") {
            Some(error) => format!("error{id} · {}", error.get("code").unwrap_or(&Value::Null)),
            None => format!("result{id}"),
        },
    };
    said.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn timeline(frames: impl Iterator<Item = Frame>) -> (Vec<Moment>, usize) {
        let mut timeline = Timeline::default();
        frames.for_each(|frame| timeline.take(&frame));
        (timeline.moments, timeline.left_out)
    }

    fn frame(number: u64, text: &str) -> Frame {
        let frame = json!({
            "frame": number, "at": 1, "link": 1, "from": "server", "kind": "message", "bytes": text.len(),
            "message": { "jsonrpc": "2.0", "id": number, "result": { "text": text } },
        });
        serde_json::from_value(frame).unwrap()
    }

    #[test]
    fn bodies_are_shortened_and_tokens_masked() {
        let long = format!("Bearer eyJhbGciOi.J9abc {}", "é".repeat(5000));
        let (moments, _) = timeline([frame(1, "milk"), frame(2, &long)].into_iter());
        let bodies: Vec<_> = moments.iter().map(|moment| moment.body.clone().unwrap()).collect();
        assert_eq!(bodies[0], r#"{"jsonrpc":"2.0","id":1,"result":{"text":"milk"}}"#);
        assert!(bodies[1].contains("Bearer eyJh… é") && bodies[1].ends_with("\"}}"), "{}", bodies[1]);
        assert_eq!(excerpt::columns(&bodies[1]), BODY);
    }

    /// A token that the cut would divide stays masked.
    #[test]
    fn a_token_at_the_cut_is_masked() {
        for before in BODY / 3..BODY {
            let text = format!("{} Bearer eyJhbGciOi.J9abcdefghijklmnop {}", "x".repeat(before), "y".repeat(BODY));
            let (moments, _) = timeline(std::iter::once(frame(1, &text)));
            assert!(!moments[0].body.as_ref().unwrap().contains("eyJhbG"), "{before}");
        }
    }

    #[test]
    fn all_bodies_have_one_limit() {
        let (moments, left_out) = timeline((0..2000).map(|number| frame(number, &"x".repeat(2000))));
        let bodies: Vec<usize> = moments.iter().filter_map(|moment| Some(moment.body.as_ref()?.len())).collect();
        assert_eq!((moments.len(), left_out), (KEPT, 2000 - KEPT));
        assert!(bodies.iter().sum::<usize>() <= BODIES && bodies.len() > 200, "{}", bodies.len());
    }

    #[test]
    fn a_text_that_is_whole_already_is_not_repeated() {
        let note =
            json!({ "frame": 1, "at": 1, "link": 1, "from": "server", "kind": "note", "text": "stdin was closed" });
        let junk = json!({ "frame": 2, "at": 1, "link": 1, "from": "server", "kind": "junk", "text": "listening" });
        let frames = [note, junk].map(|frame| serde_json::from_value(frame).unwrap());
        let (moments, _) = timeline(frames.into_iter());
        assert_eq!(moments.iter().map(|moment| moment.body.as_deref()).collect::<Vec<_>>(), [None, None]);
    }
}
