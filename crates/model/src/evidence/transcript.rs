//! The transcript file: JSON lines with all evidence of a run, so that it can be judged again.
//!
//! The first line is about the whole run. Then come the connections, the frames, and the saves of the suites for each
//! revision. If failing rules were tested again, each of these retries follows in the same form.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    mem::take,
    path::Path,
    sync::Arc,
};

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::{Evidence, Frame, Frames, Link, RunContext, RunHeader};

/// Incremented when an older reader could not read a new transcript.
pub const TRANSCRIPT_SCHEMA: u32 = 2;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Transcript(Box<Header>),
    /// The first line of another run of the rules that had failed.
    Retry(Box<RunHeader>),
    Link(Link),
    Frame(Arc<Frame>),
    #[serde(alias = "scene")]
    Context(Box<RunContext>),
    /// The last line of a recording between a client and a server.
    Closed(Closed),
}

/// How a recording ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Closed {
    pub ms: u64,
    /// What was not recorded, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The file, in the same folder, that continues this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    #[serde(flatten)]
    about: RunHeader,
}

/// The part of the first line that all versions have.
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
    begin(&mut out, &evidence.header)?;
    body(&mut out, evidence)?;
    for retry in &evidence.retries {
        line(&mut out, "retry", &retry.header)?;
        body(&mut out, retry)?;
    }
    out.flush()
}

fn body(mut out: impl Write, evidence: &Evidence) -> io::Result<()> {
    let Evidence { links, frames, contexts, .. } = evidence;
    links.iter().try_for_each(|link| line(&mut out, "link", link))?;
    match frames {
        // These are JSON already; parsing and serializing them would take most of the time.
        Frames::Recorded(recorder) => recorder.texts().try_for_each(|text| writeln!(out, r#"{{"frame":{text}}}"#))?,
        Frames::Read(frames) => frames.iter().try_for_each(|frame| line(&mut out, "frame", frame))?,
    }
    contexts.iter().try_for_each(|context| line(&mut out, "context", context))
}

/// The first line.
pub fn begin(mut out: impl Write, header: &RunHeader) -> io::Result<()> {
    line(&mut out, "transcript", &Header { schema: TRANSCRIPT_SCHEMA, about: header.clone() })
}

/// The last line of a recording.
pub fn close(mut out: impl Write, closed: &Closed) -> io::Result<()> {
    line(&mut out, "closed", closed)
}

/// Writes one line, which is read as a [`Line`] of that kind.
fn line(out: &mut impl Write, kind: &str, value: &impl Serialize) -> io::Result<()> {
    write!(out, r#"{{"{kind}":"#)?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"}\n")
}

/// Bytes that are read at once: enough to see what wrote a file.
const BEGINNING: usize = 64 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a transcript, which may be compressed with gzip.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(BEGINNING, File::open(path)?);
    if file.fill_buf()?.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(BEGINNING, MultiGzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// Reads a transcript. An error has the line number and the reason.
pub fn read(input: impl BufRead) -> Result<Evidence, String> {
    let mut reader = Reader::default();
    let mut lines = input.split(b'\n').peekable();
    while let Some(text) = lines.next() {
        let text = text.map_err(|error| format!("line {}: {error}", reader.lines + 1))?;
        reader.take(&text, lines.peek().is_none())?;
    }
    reader.finish()
}

/// Parses a transcript line by line.
#[derive(Default)]
pub struct Reader {
    lines: usize,
    header: Option<RunHeader>,
    links: Vec<Link>,
    frames: Vec<Arc<Frame>>,
    contexts: Vec<RunContext>,
    closed: Option<Closed>,
    cut_off: Option<usize>,
    /// The first run, and the retries before the one that is being read.
    earlier: Vec<Evidence>,
    /// Whether an earlier file precedes this one.
    continued: bool,
}

impl Reader {
    /// One line without its line end. The last one may be truncated.
    pub fn take(&mut self, text: &[u8], is_last: bool) -> Result<(), String> {
        self.lines += 1;
        if self.cut_off.is_some() {
            return Ok(());
        }
        let number = self.lines;
        if self.header.is_none() || number == 1 {
            reject_other_versions(text)?;
        }
        let line = match serde_json::from_slice(text) {
            Ok(line) => line,
            Err(why) if why.is_eof() && self.header.is_some() && is_last => {
                // In a file that is still being written, nothing follows the last line end.
                self.cut_off = (!text.is_empty()).then_some(number);
                return Ok(());
            }
            // The beginning of a recording can be judged alone.
            Err(_) if self.header.as_ref().is_some_and(|header| header.recorded) => {
                self.cut_off = Some(number);
                return Ok(());
            }
            Err(why) => return Err(format!("line {number}: {why}")),
        };
        match line {
            Line::Transcript(first) if self.header.is_none() => self.header = Some(first.about),
            Line::Transcript(_) if self.continued && number == 1 => {}
            Line::Transcript(_) => return Err(format!("line {number}: another transcript begins")),
            Line::Retry(header) => {
                let first = self.earlier();
                self.earlier.push(first.ok_or_else(|| format!("line {number}: a retry without a run before it"))?);
                self.header = Some(*header);
            }
            Line::Link(link) => match self.links.iter_mut().find(|known| known.link == link.link) {
                // A continuation file lacks the beginning of the connection, which the first file may have.
                Some(known) => *known = Link { late: known.late, ..link },
                None => self.links.push(link),
            },
            Line::Frame(frame) => self.frames.push(frame),
            Line::Context(context) => self.contexts.push(*context),
            Line::Closed(closed) => self.closed = Some(closed),
        }
        Ok(())
    }

    /// The file that continues this one, if there is one.
    pub fn next(&self) -> Option<&str> {
        self.closed.as_ref()?.next.as_deref()
    }

    /// Continues with the next file.
    pub fn go_on(&mut self) {
        (self.lines, self.closed, self.continued) = (0, None, true);
    }

    /// The connections read so far.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    pub fn header(&self) -> Option<&RunHeader> {
        self.header.as_ref()
    }

    pub fn frames(&self) -> &[Arc<Frame>] {
        &self.frames
    }

    /// Whether the recording has ended.
    pub fn is_closed(&self) -> bool {
        self.closed.as_ref().is_some_and(|closed| closed.next.is_none())
    }

    /// What was read of the run that ends here.
    fn earlier(&mut self) -> Option<Evidence> {
        let header = self.header.take()?;
        let (links, frames, contexts) = (take(&mut self.links), take(&mut self.frames), take(&mut self.contexts));
        let frames = Frames::Read(frames);
        Some(Evidence { header, links, frames, contexts, retries: Vec::new(), cut_off: self.cut_off })
    }

    pub fn finish(mut self) -> Result<Evidence, String> {
        let mut last = self.earlier().ok_or("its first line is not that of a transcript")?;
        if let Some(closed) = self.closed {
            last.header.ms = closed.ms;
            last.header.notes.extend(closed.notes);
        }
        let mut runs = self.earlier.into_iter().chain([last]);
        let mut first = runs.next().ok_or("it has no run")?;
        first.retries = runs.collect();
        // Only the end of a file can be missing.
        first.cut_off = self.cut_off;
        Ok(first)
    }
}

fn reject_other_versions(first: &[u8]) -> Result<(), String> {
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
