//! Where reports and transcripts go.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use super::{Conducted, Surroundings};
use crate::{
    cli::{self, FormArgs},
    error::Error,
    evidence::transcript,
    outcome::RunReport,
    report::{Format, Style, Verbosity, render},
};

/// One report, and where it goes; without a path, to stdout.
pub struct Output {
    format: Format,
    path: Option<PathBuf>,
}

/// What was asked for. Paths are tried before the run, so that nobody waits for a report that cannot be written.
pub fn wanted(args: &FormArgs) -> Result<Vec<Output>, Error> {
    if args.report.is_empty() {
        return Ok(vec![Output { format: Format::Human, path: None }]);
    }
    let parse = |text: &String| {
        let (name, path) = text.split_once('=').map_or((text.as_str(), None), |(name, path)| (name, Some(path)));
        let format = Format::from_str(name, true).map_err(|_| Error::Usage {
            message: format!("`{name}` is no report format"),
            cure: Some(format!("the formats are {}", cli::formats())),
        })?;
        let path = path.map(PathBuf::from);
        if let Some(path) = &path {
            create(path)?;
        }
        Ok(Output { format, path })
    };
    let outputs: Vec<Output> = args.report.iter().map(parse).collect::<Result<_, Error>>()?;
    if outputs.iter().filter(|output| output.path.is_none()).count() > 1 {
        return Err(Error::usage("only one report can go to stdout; give the others a path: --report FORMAT=PATH"));
    }
    Ok(outputs)
}

pub fn write(
    outputs: &[Output],
    report: &RunReport,
    args: &FormArgs,
    surroundings: &Surroundings,
) -> Result<(), Error> {
    let verbosity = match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    for output in outputs {
        let color = surroundings.color && output.path.is_none();
        let text = render(output.format, report, &Style { width: surroundings.width, color, verbosity });
        match &output.path {
            None => say(text.trim_end_matches('\n')),
            Some(path) => fs::write(path, text).map_err(|source| failed(path, "write", source))?,
        }
    }
    Ok(())
}

pub fn save_transcript(path: &Path, conducted: &Conducted) -> Result<(), Error> {
    let report = &conducted.report;
    let header = transcript::Header {
        schema: transcript::TRANSCRIPT_SCHEMA,
        version: report.tool.version.clone(),
        target: serde_json::to_value(&report.target).unwrap_or_default(),
        started: report.started,
        ms: report.ms,
        notes: report.notes.clone(),
    };
    let file = BufWriter::new(create(path)?);
    let recorder = &conducted.recorder;
    transcript::write(file, &header, &recorder.links(), recorder.frames(), &conducted.scenes)
        .map_err(|source| failed(path, "write", source))
}

fn create(path: &Path) -> Result<File, Error> {
    File::create(path).map_err(|source| failed(path, "write", source))
}

pub fn failed(path: &Path, doing: &'static str, source: std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), doing, source }
}

/// A line to stdout. A reader that has gone away (`| head`) wants no more, and is no failure.
pub fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
}

/// A line to stderr.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
