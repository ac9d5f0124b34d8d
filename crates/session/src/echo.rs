//! Detects a command that is not an MCP server and echoes its input: `cat`, or a shell that prints what it reads.

use std::collections::HashSet;

use conform_model::evidence::{Frame, FrameKind, Recorder, Side};

/// Length of the start of a message that identifies it in a longer line: the envelope, the id and the method.
const RECOGNISABLE: usize = 60;

/// The first echoed line, if the server sent only the client's messages, alone or within other text.
pub fn echo(recorder: &Recorder) -> Option<String> {
    let mut sent = HashSet::new();
    let mut first = None;
    for frame in recorder.frames() {
        let Some(text) = text(&frame) else { continue };
        if frame.from == Side::Client {
            sent.insert(text.chars().take(RECOGNISABLE).collect::<String>());
        } else if sent.iter().any(|sent| text.contains(sent)) {
            first.get_or_insert(text);
        } else {
            return None;
        }
    }
    first
}

fn text(frame: &Frame) -> Option<String> {
    match frame.kind {
        FrameKind::Message => frame.message.as_ref().map(ToString::to_string),
        FrameKind::Junk => frame.text.clone(),
        _ => None,
    }
}
