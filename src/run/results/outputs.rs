//! The files that reports and transcripts are written to.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use crate::{
    cli::{self, FormArgs},
    error::{Error, exit},
    evidence::{Evidence, transcript},
    outcome::RunReport,
    report::{Format, Style, Verbosity, matrix::Matrix, meaning, render},
    run::process::{
        Surroundings,
        console::{complain, failed, put},
    },
};

/// The variable with the file in which GitHub Actions finds the summary of a job.
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Tries a path before the run, so that no user waits for a file that cannot be written.
pub fn try_path(path: Option<&Path>) -> Result<(), Error> {
    path.map_or(Ok(()), writable)
}

/// One report and its file; without a path it goes to stdout.
pub struct Output {
    format: Format,
    path: Option<PathBuf>,
}

impl Output {
    pub fn is_file(&self) -> bool {
        self.path.is_some()
    }

    /// Whether the reader of this report also reads stderr.
    pub fn is_beside_stderr(&self) -> bool {
        self.format == Format::Human && self.path.is_none()
    }
}

/// Whether one of the reports shows the messages and the walk, besides the verdicts.
pub fn illustrated(args: &FormArgs) -> bool {
    let format = |text: &String| Format::from_str(text.split('=').next().unwrap_or_default(), true);
    args.report.iter().any(|text| matches!(format(text), Ok(Format::Json | Format::Html)))
}

/// The reports of the options. Their files are opened before the run, so that a failure is reported before it.
pub fn wanted(args: &FormArgs) -> Result<Vec<Output>, Error> {
    match args.report.is_empty() {
        true => Ok(vec![Output { format: Format::Human, path: None }]),
        false => parsed(&args.report),
    }
}

fn parsed(report: &[String]) -> Result<Vec<Output>, Error> {
    let parse = |text: &String| {
        let (name, path) = text.split_once('=').map_or((text.as_str(), None), |(name, path)| (name, Some(path)));
        let format = Format::from_str(name, true).map_err(|_| Error::Usage {
            message: format!("unknown report format `{name}`"),
            help: Some(format!("the formats are {}", cli::formats())),
        })?;
        if path == Some("") {
            return Err(Error::Usage {
                message: format!("--report {name}= has no path"),
                help: Some("is the variable set? `-` writes to stdout".into()),
            });
        }
        Ok(Output { format, path: path.filter(|path| *path != "-").map(PathBuf::from) })
    };
    let outputs: Vec<Output> = report.iter().map(parse).collect::<Result<_, Error>>()?;
    if let Some(path) = shared(&outputs) {
        return Err(Error::Usage {
            message: format!("two reports are written to `{}`", path.display()),
            help: Some("use a different path for each: --report FORMAT=PATH".into()),
        });
    }
    let on_stdout: Vec<Format> =
        outputs.iter().filter(|output| output.path.is_none()).map(|output| output.format).collect();
    // GitHub finds its annotations among other lines.
    let shares = |format: &Format| matches!(format, Format::Human | Format::Github);
    if on_stdout.len() > 1 && !on_stdout.iter().all(shares) {
        return Err(Error::usage(
            "only `human` and `github` can share stdout; give the others a path: --report FORMAT=PATH",
        ));
    }
    outputs.iter().filter_map(|output| output.path.as_deref()).try_for_each(writable)?;
    Ok(outputs)
}

/// The reports on many servers. Lines for each server are on stdout, too.
pub fn of_matrix(report: &[String]) -> Result<Vec<Output>, Error> {
    let outputs = parsed(report)?;
    let is_known = |output: &Output| match output.format {
        Format::Junit => output.is_file(),
        format => format == Format::Github,
    };
    match outputs.iter().all(is_known) {
        true => Ok(outputs),
        false => Err(Error::Usage {
            message: "`matrix` writes --report junit=PATH and --report github".into(),
            help: Some("its directory has the other forms: matrix.html, matrix.md and matrix.json".into()),
        }),
    }
}

/// Whether one of them needs the rules of each server as tests.
pub fn needs_tests(outputs: &[Output]) -> bool {
    outputs.iter().any(|output| output.format == Format::Junit)
}

pub fn write_matrix(outputs: &[Output], matrix: &Matrix) -> Result<(), Error> {
    outputs.iter().try_for_each(|output| match (matrix.report(output.format), &output.path) {
        (Some(text), Some(path)) => fs::write(path, text).map_err(|source| failed(path, "write", source)),
        (Some(text), None) => put(text.trim_end()).map_err(|source| failed(Path::new("stdout"), "write", source)),
        (None, _) => Ok(()),
    })
}

/// A file that two reports would be written to. Devices such as /dev/null may be used by several.
fn shared(outputs: &[Output]) -> Option<&Path> {
    let mut taken = HashSet::new();
    let files = outputs.iter().filter_map(|output| output.path.as_deref());
    let mut files = files.filter(|path| path.is_file() || !path.exists());
    files.find(|path| !taken.insert(std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())))
}

/// Writes as many reports as possible; `Err` is the first failure.
pub fn write(
    outputs: &[Output],
    report: &RunReport,
    args: &FormArgs,
    surroundings: &Surroundings,
) -> Result<(), Error> {
    let verbosity = match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ if args.findings => Verbosity::Findings,
        _ => Verbosity::Normal,
    };
    let one = |output: &Output| {
        let color = surroundings.color && output.path.is_none();
        let links = surroundings.links && output.path.is_none();
        let text = render(output.format, report, &Style { width: surroundings.width, color, links, verbosity });
        match &output.path {
            None => put(text.trim_end_matches('\n')).map_err(|source| failed(Path::new("stdout"), "write", source)),
            Some(path) => {
                // What earlier commands of the step have put there stays.
                let is_summary =
                    surroundings.environment.get(JOB_SUMMARY).is_some_and(|summary| Path::new(summary) == path);
                let written = match is_summary {
                    true => OpenOptions::new()
                        .append(true)
                        .create(true)
                        .open(path)
                        .and_then(|mut file| file.write_all(text.as_bytes())),
                    false => fs::write(path, text),
                };
                written.map_err(|source| failed(path, "write", source))?;
                if !args.quiet {
                    complain(&format!("wrote {}", path.display()));
                }
                Ok(())
            }
        }
    };
    let results: Vec<Result<(), Error>> = outputs.iter().map(one).collect();
    // Without a report on stdout, the log of a pipeline would have no verdict, and a failed step would not say which rules
    // fail, even with --quiet. What failed before was printed already.
    let are_files = !outputs.is_empty() && outputs.iter().all(|output| output.path.is_some());
    if are_files && (!args.quiet || report.exit_code != exit::CONFORMING) && report.cause().is_none() {
        let verbosity = Verbosity::Quiet;
        let style = Style { width: surroundings.width, verbosity, ..Style::default() };
        match report.exit_code {
            exit::CONFORMING => complain(&meaning(report)),
            _ => complain(render(Format::Human, report, &style).trim_end()),
        }
    }
    results.into_iter().collect()
}

/// The verdict, or if it is a pass and something could not be written, the exit code for that. All failures are
/// printed.
pub fn exit_code(verdict: u8, written: impl IntoIterator<Item = Result<(), Error>>) -> u8 {
    let failures: Vec<Error> = written.into_iter().filter_map(Result::err).collect();
    for failure in &failures {
        complain(&format!("{failure}\n  note: the run itself ended with exit code {verdict}"));
    }
    if verdict == exit::CONFORMING { failures.first().map_or(verdict, Error::exit_code) } else { verdict }
}

pub fn save_transcript(path: &Path, evidence: &Evidence) -> Result<(), Error> {
    let written = File::create(path).and_then(|file| transcript::write(BufWriter::new(file), evidence));
    written.map_err(|source| failed(path, "write", source))
}

/// The reports to write. Without results, stderr says why, so a human report on stdout is not needed.
pub fn beside(failure: Option<&Error>, mut outputs: Vec<Output>) -> Vec<Output> {
    if let Some(error) = failure {
        complain(&error.to_string());
        outputs.retain(|output| !output.is_beside_stderr());
    }
    outputs
}

/// Whether the file can be written. Its content stays until the report replaces it.
fn writable(path: &Path) -> Result<(), Error> {
    let existed = path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    // An empty file would look like the result of a run that has not begun.
    let tried = opened.and_then(|_| if existed { Ok(()) } else { fs::remove_file(path) });
    tried.map_err(|source| failed(path, "write", source))
}
