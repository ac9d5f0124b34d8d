//! Transcripts as they are read from a file.

use std::io::BufReader;

use mcp_conform::evidence::{Evidence, transcript};

/// A transcript that can be read can be written, and is equal when it is read again.
pub fn transcript(bytes: &[u8]) {
    let Ok(recorded) = transcript::read(BufReader::new(bytes)) else { return };
    let text = written(&recorded);
    let again = transcript::read(text.as_slice()).unwrap_or_else(|why| panic!("it cannot be read again: {why}"));
    assert_eq!((&again.links, again.frames().count()), (&recorded.links, recorded.frames().count()));
    assert!(written(&again) == text, "it differs when it is read again");
}

pub fn written(recorded: &Evidence) -> Vec<u8> {
    let mut text = Vec::new();
    transcript::write(&mut text, recorded).expect("memory takes everything");
    text
}
