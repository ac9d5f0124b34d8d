//! The transcript file: JSON lines that hold all the evidence of a run, so that it can be judged again.
//!
//! The first line says what was tested; then come the connections, the frames, and for each revision what the suites saved.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Frame, Link, RunContext};

/// Raised when an older reader could not understand a transcript.
pub const TRANSCRIPT_SCHEMA: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Transcript(Header),
    Link(Link),
    Frame(Arc<Frame>),
    RunContext(Box<RunContext>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    pub schema: u32,
    /// The version of mcp-conform that wrote it.
    pub version: String,
    /// What was tested, as the JSON report states it.
    pub target: Value,
    /// Seconds since 1970.
    pub started: u64,
    pub ms: u64,
    pub notes: Vec<String>,
}

/// A transcript that was read back.
pub struct Transcript {
    pub header: Header,
    pub links: Vec<Link>,
    pub frames: Vec<Arc<Frame>>,
    pub scenes: Vec<RunContext>,
    /// The last line, if it stops in the middle.
    pub cut: Option<usize>,
}

pub fn write(
    mut out: impl Write,
    header: &Header,
    links: &[Link],
    frames: impl Iterator<Item = Arc<Frame>>,
    scenes: &[RunContext],
) -> io::Result<()> {
    let mut line = |line: &Line| -> io::Result<()> {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")
    };
    line(&Line::Transcript(header.clone()))?;
    links.iter().try_for_each(|link| line(&Line::Link(link.clone())))?;
    for frame in frames {
        line(&Line::Frame(frame))?;
    }
    scenes.iter().try_for_each(|scene| line(&Line::RunContext(Box::new(scene.clone()))))?;
    out.flush()
}

/// Reads a transcript; the error says which line is at fault and why.
pub fn read(input: impl BufRead) -> Result<Transcript, String> {
    let (mut header, mut links, mut frames, mut scenes) = (None, Vec::new(), Vec::new(), Vec::new());
    let (mut lines, mut cut) = (input.split(b'\n').enumerate().peekable(), None);
    while let Some((index, text)) = lines.next() {
        let number = index + 1;
        let text = text.map_err(|error| format!("line {number}: {error}"))?;
        let line = match serde_json::from_slice(&text) {
            Ok(line) => line,
            Err(why) if why.is_eof() && header.is_some() && lines.peek().is_none() => {
                cut = Some(number);
                break;
            }
            Err(why) => return Err(format!("line {number}: {why}")),
        };
        match line {
            Line::Transcript(found) if found.schema > TRANSCRIPT_SCHEMA => {
                return Err(format!("it was written by mcp-conform {}, a newer version", found.version));
            }
            Line::Transcript(found) => header = Some(found),
            Line::Link(link) => links.push(link),
            Line::Frame(frame) => frames.push(frame),
            Line::RunContext(scene) => scenes.push(*scene),
        }
    }
    let header = header.ok_or("its first line is not that of a transcript")?;
    Ok(Transcript { header, links, frames, scenes, cut })
}
