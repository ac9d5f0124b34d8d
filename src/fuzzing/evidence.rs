//! Transcripts as they are read from a file.

use std::io::BufReader;

use crate::evidence::transcript::{self, Transcript};

/// What can be read can be written, and is the same when it is read again.
pub fn transcript(bytes: &[u8]) {
    let Ok(recorded) = transcript::read(BufReader::new(bytes)) else { return };
    let text = written(&recorded);
    let again = transcript::read(text.as_slice()).unwrap_or_else(|why| panic!("it cannot be read again: {why}"));
    assert_eq!((&again.links, &again.frames.len()), (&recorded.links, &recorded.frames.len()));
    assert!(written(&again) == text, "it is another when it is read again");
}

pub fn written(recorded: &Transcript) -> Vec<u8> {
    let mut text = Vec::new();
    let Transcript { header, links, frames, scenes, .. } = recorded;
    transcript::write(&mut text, header, links, frames.iter().cloned(), scenes).expect("memory takes everything");
    text
}
