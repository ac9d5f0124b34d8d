//! Reads the evidence: a transcript, the files of `mcp-conform record`, or a recording of another tool.

use std::{
    collections::HashSet,
    io::{BufRead, Cursor, Read},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{filter, options};
use crate::{
    assess::assess,
    cli::JudgeArgs,
    error::Error,
    evidence::{
        Evidence, Frames, RunContext, Side, recorded,
        transcript::{self, Reader},
    },
    outcome::{Finding, RuleResult, Status},
    run::{
        foreign::Format,
        process::{console, interrupts::Interrupts, runtime::block_on},
    },
    suite::Suite,
};

/// How often a file that grows is looked at. A guess.
const LOOK: Duration = Duration::from_millis(200);
/// Judging a long recording takes seconds, and must leave most of the processor to the recorded programs.
const REST: u32 = 4;

pub struct Recording {
    path: PathBuf,
    reader: Reader,
    file: Box<dyn BufRead>,
    /// The format of another tool.
    foreign: Option<Format>,
    /// The next file of the recording, if it cannot be read.
    lost: Option<PathBuf>,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

impl Recording {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = opened(path)?;
        let unread = |why| console::failed(path, "read", why);
        let foreign = Format::of(file.fill_buf().map_err(unread)?);
        let file: Box<dyn BufRead> = match foreign {
            None => file,
            Some(format) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map_err(unread)?;
                Box::new(Cursor::new(format.converted(&bytes).map_err(|why| unknown(path, &why))?))
            }
        };
        Ok(Self { path: path.to_owned(), reader: Reader::default(), file, foreign, lost: None, rest: Vec::new() })
    }

    /// Reads what was written since the last call, also to later files. Returns whether there was anything.
    fn take(&mut self) -> Result<bool, Error> {
        let mut any = false;
        loop {
            let read = self.file.read_until(b'\n', &mut self.rest).map_err(|why| self.failed(why))?;
            if read == 0 {
                let Some(next) = self.reader.next().map(str::to_owned) else { return Ok(any) };
                let path = self.path.with_file_name(next);
                let Ok(file) = opened(&path) else {
                    self.lost = Some(path);
                    return Ok(any);
                };
                (self.path, self.file) = (path, file);
                self.reader.go_on();
                continue;
            }
            any = true;
            if self.rest.pop_if(|last| *last == b'\n').is_some() {
                let line = std::mem::take(&mut self.rest);
                self.reader.take(&line, false).map_err(|why| self.wrong(&why))?;
            }
        }
    }

    /// Reads everything that is there; the last line may be truncated.
    pub fn read_on(&mut self) -> Result<(), Error> {
        self.take()?;
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            self.reader.take(&line, true).map_err(|why| self.wrong(&why))?;
        }
        Ok(())
    }

    /// The evidence to judge. A recorded conversation is completed, and rules for clients that have to be started are
    /// listed.
    pub fn evidence(self, suites: &[Suite]) -> Result<Evidence, Error> {
        let (path, lost, closed) = (self.path, self.lost, self.reader.is_closed());
        let mut evidence = self.reader.finish().map_err(|why| wrong(&path, &why))?;
        if evidence.header.recorded {
            if let Some(lost) = lost {
                evidence
                    .header
                    .notes
                    .push(format!("the recording goes on in {}, which cannot be read", lost.display()));
            } else if !closed {
                evidence.header.notes.push("the recording has no end: it was stopped, or goes on".to_owned());
            }
            complete(&mut evidence, suites);
        }
        Ok(evidence)
    }

    fn failed(&self, why: std::io::Error) -> Error {
        console::failed(&self.path, "read", why)
    }

    fn wrong(&self, why: &str) -> Error {
        wrong(&self.path, why)
    }
}

fn opened(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    transcript::open(path).map_err(|why| console::failed(path, "read", why))
}

fn wrong(path: &Path, why: &str) -> Error {
    Error::Usage {
        message: format!("`{}` is not a transcript: {why}", path.display()),
        help: Some(
            "`mcp-conform run ... --transcript PATH` writes one, and so does `mcp-conform record --out PATH`; a HAR or a \
             trace of mcp-trace-validator is read, too"
                .into(),
        ),
    }
}

fn unknown(path: &Path, why: &str) -> Error {
    Error::Usage {
        message: format!("`{}` cannot be judged: {why}", path.display()),
        help: Some("`mcp-conform docs record` describes which recordings of other tools are read".into()),
    }
}

/// Adds what a recording does not say: its contexts, and the scenarios that it does not show.
pub fn complete(evidence: &mut Evidence, suites: &[Suite]) {
    recorded::complete(evidence);
    // Rules that need a certain world are listed as not exercised.
    let ids: Vec<&String> = suites.iter().filter(|suite| suite.scenario.is_some()).map(|suite| &suite.id).collect();
    let mut scenarios = Vec::new();
    for id in ids {
        let of = |id: &String| suites.iter().find(|suite| suite.id == *id).and_then(|suite| suite.scenario.as_ref());
        if !scenarios.iter().any(|known| of(known) == of(id)) {
            scenarios.push(id.clone());
        }
    }
    let of_clients: Vec<RunContext> =
        evidence.contexts.iter().filter(|context| context.subject == Side::Client).cloned().collect();
    for context in of_clients {
        let more = scenarios.iter().map(|id| RunContext { scenario: Some(id.clone()), ..context.clone() });
        evidence.contexts.extend(more);
    }
    evidence.contexts.sort_by_key(|context| context.revision);
}

/// Judges again whenever the file has grown, and prints each finding once.
pub fn follow(recording: &mut Recording, args: &JudgeArgs, suites: &[Suite]) -> Result<(), Error> {
    if recording.foreign.is_some() {
        return Err(Error::usage("--follow is for what `mcp-conform record` writes; another tool wrote this"));
    }
    let interrupts = Interrupts::listen();
    let mut told = HashSet::new();
    loop {
        let any = recording.take()?;
        let ended = recording.reader.is_closed() || recording.lost.is_some();
        let began = Instant::now();
        if any && let Some(snapshot) = snapshot(&recording.reader) {
            if !snapshot.header.recorded {
                return Err(Error::usage(
                    "--follow is for what `mcp-conform record` writes; this is the transcript of a run",
                ));
            }
            tell_new(snapshot, args, suites, &mut told)?;
        }
        if ended || interrupts.code().is_some() {
            return Ok(());
        }
        block_on(async {
            tokio::select! {
                () = tokio::time::sleep(LOOK.max(began.elapsed() * REST)) => {}
                () = interrupts.first() => {}
            }
        });
    }
}

fn snapshot(reader: &Reader) -> Option<Evidence> {
    let header = reader.header()?.clone();
    let frames = Frames::Read(reader.frames().to_vec());
    Some(Evidence {
        header,
        links: reader.links().to_vec(),
        frames,
        contexts: Vec::new(),
        retries: Vec::new(),
        cut_off: None,
    })
}

fn tell_new(
    mut evidence: Evidence,
    args: &JudgeArgs,
    suites: &[Suite],
    told: &mut HashSet<(String, String)>,
) -> Result<(), Error> {
    recorded::complete(&mut evidence);
    let filter = filter(args, &evidence, suites)?;
    let report = assess(&evidence, suites, &options(args, &evidence, &filter));
    for rule in &report.rules {
        for finding in rule.findings.iter().filter(|_| is_finding(rule.status)) {
            if told.insert((rule.id.clone(), key(finding))) {
                console::say(&line(rule, finding));
            }
        }
    }
    Ok(())
}

fn is_finding(status: Status) -> bool {
    matches!(status, Status::Fail | Status::Warn | Status::Advice)
}

/// Identifies a finding by the frames in which it was first seen. Equal findings are only counted.
fn key(finding: &Finding) -> String {
    format!("{} {} {:?}", finding.subject, finding.message, finding.frames.first())
}

fn line(rule: &RuleResult, finding: &Finding) -> String {
    let frames: Vec<String> = finding.frames.iter().map(ToString::to_string).collect();
    let place = if frames.is_empty() { String::new() } else { format!(" (messages {})", frames.join(", ")) };
    let word = rule.status.word().to_uppercase();
    crate::report::plain(&format!("{word} {} {}: {}{place}", rule.subject.noun(), rule.id, finding.line())).into_owned()
}
