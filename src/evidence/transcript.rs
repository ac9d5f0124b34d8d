//! The transcript file: JSON lines that hold all the evidence of a run, so that it can be judged again.
//!
//! The first line is about the whole run; then come the connections, the frames, and for each revision what the suites
//! saved.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Evidence, Frame, Frames, Link, RunContext, RunHeader};

/// Raised when an older reader could not understand a transcript.
pub const TRANSCRIPT_SCHEMA: u32 = 2;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Transcript(Box<Header>),
    Link(Link),
    Frame(Arc<Frame>),
    Scene(Box<RunContext>),
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    #[serde(flatten)]
    about: RunHeader,
}

/// As much of a first line as all versions have.
#[derive(Deserialize)]
struct First {
    transcript: Written,
}

#[derive(Deserialize)]
struct Written {
    schema: u32,
    version: String,
}

pub fn write(mut out: impl Write, evidence: &Evidence) -> io::Result<()> {
    let Evidence { header, links, frames, scenes, cut_off: _ } = evidence;
    line(&mut out, "transcript", &Header { schema: TRANSCRIPT_SCHEMA, about: header.clone() })?;
    links.iter().try_for_each(|link| line(&mut out, "link", link))?;
    match frames {
        // These are texts already; reading and writing each again would take most of the time.
        Frames::Recorded(recorder) => recorder.texts().try_for_each(|text| writeln!(out, r#"{{"frame":{text}}}"#))?,
        Frames::Read(frames) => frames.iter().try_for_each(|frame| line(&mut out, "frame", frame))?,
    }
    scenes.iter().try_for_each(|scene| line(&mut out, "scene", scene))?;
    out.flush()
}

/// Writes what is read as a [`Line`] of that kind.
fn line(out: &mut impl Write, kind: &str, value: &impl Serialize) -> io::Result<()> {
    write!(out, r#"{{"{kind}":"#)?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"}\n")
}

/// Reads a transcript; the error says which line is at fault and why.
pub fn read(input: impl BufRead) -> Result<Evidence, String> {
    let (mut header, mut links, mut frames, mut scenes) = (None, Vec::new(), Vec::new(), Vec::new());
    let (mut lines, mut cut_off) = (input.split(b'\n').enumerate().peekable(), None);
    while let Some((index, text)) = lines.next() {
        let number = index + 1;
        let text = text.map_err(|error| format!("line {number}: {error}"))?;
        if header.is_none() {
            unless_of_another_version(&text)?;
        }
        let line = match serde_json::from_slice(&text) {
            Ok(line) => line,
            Err(why) if why.is_eof() && header.is_some() && lines.peek().is_none() => {
                cut_off = Some(number);
                break;
            }
            Err(why) => return Err(format!("line {number}: {why}")),
        };
        match line {
            Line::Transcript(first) => header = Some(first.about),
            Line::Link(link) => links.push(link),
            Line::Frame(frame) => frames.push(frame),
            Line::Scene(scene) => scenes.push(*scene),
        }
    }
    let header = header.ok_or("its first line is not that of a transcript")?;
    Ok(Evidence { header, links, frames: Frames::Read(frames), scenes, cut_off })
}

fn unless_of_another_version(first: &[u8]) -> Result<(), String> {
    match serde_json::from_slice(first) {
        Ok(First { transcript: Written { schema, version } }) if schema > TRANSCRIPT_SCHEMA => {
            Err(format!("it was written by mcp-conform {version}, a newer version"))
        }
        Ok(First { transcript: Written { schema, version } }) if schema < TRANSCRIPT_SCHEMA => Err(format!(
            "it was written by mcp-conform {version} in an older format ({schema}, now {TRANSCRIPT_SCHEMA}): run it \
             again, or judge it with that version"
        )),
        _ => Ok(()),
    }
}
