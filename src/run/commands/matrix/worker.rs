//! One server, tested by a separate process. There is always a report at the end.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anstream::adapter::strip_str;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, copy, sink},
    process::{Child, Command},
    sync::watch,
    time::{sleep, timeout},
};

use super::targets::Entry;
use crate::{
    assess::verdict::without_results,
    cli::{MatrixArgs, ProfileArgs as Profiles},
    error::{Error, exit},
    outcome::{RunReport, Subject, TargetReport},
    report::{self, Format, Style, render},
    run::{
        inputs::target::seconds,
        process::{Surroundings, console::failed},
    },
    wire::process::{Process, group::Group},
};

/// Time that a run may take beyond its own limit: to stop the server, to judge and to write. A guess.
const BEYOND: Duration = Duration::from_secs(30);
/// From SIGTERM to SIGKILL. A guess.
const GRACE: Duration = Duration::from_secs(5);
/// How much of stderr is kept for the error message.
const SAID: u64 = 16 << 10;

pub struct Worker {
    program: PathBuf,
    options: Vec<String>,
    limit: Duration,
    strict: bool,
}

/// How the process of a run ended.
enum End {
    Exited(ExitStatus),
    /// It exceeded the limit.
    Overrun,
    Stopped,
    Failed(io::Error),
}

impl Worker {
    pub fn new(args: &MatrixArgs, surroundings: &Surroundings) -> Result<Self, Error> {
        let program = surroundings.program.clone().ok_or_else(|| Error::usage("this program cannot find itself"))?;
        Ok(Self { program, options: options(args), limit: limit(args)?, strict: args.strict })
    }

    /// The report, which is also in `directory`; `None` if the run was stopped before there was one.
    pub async fn test(
        &self,
        entry: &Entry,
        directory: &Path,
        mut stopped: watch::Receiver<bool>,
    ) -> Result<Option<RunReport>, Error> {
        if *stopped.borrow() {
            return Ok(None);
        }
        let path = directory.join(&entry.file);
        let began = Instant::now();
        let (end, said) = match self.start(entry, &path) {
            Ok(child) => self.attend(child, &mut stopped).await,
            Err(error) => (End::Failed(error), String::new()),
        };
        let why = match end {
            End::Stopped => return Ok(None),
            End::Overrun => format!("stopped after {} s without a result", self.limit.as_secs()),
            End::Failed(error) => format!("the run could not be started: {error}"),
            End::Exited(status) => {
                let written = fs::read_to_string(&path).ok().and_then(|text| report::read(&text).ok());
                if let Some(report) = written.filter(|_| status.code().is_some()) {
                    return Ok(Some(report));
                }
                if said.is_empty() { format!("the run ended without a report: {status}") } else { said }
            }
        };
        let report = without_results(described(entry), why, began.elapsed(), self.strict, exit::UNREACHABLE);
        fs::write(&path, render(Format::Json, &report, &Style::default()))
            .map_err(|source| failed(&path, "write", source))?;
        Ok(Some(report))
    }

    fn start(&self, entry: &Entry, path: &Path) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(["run", "--color", "never", "--config"]).arg(&entry.config).args(&self.options);
        command.arg("--report").arg(format!("json={}", path.display())).arg(&entry.name);
        // In its own process group, so that Ctrl-C reaches only this process, which then stops the others.
        Group::prepare(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn()
    }

    /// Waits for the process to exit, or stops it; returns its stderr as well.
    async fn attend(&self, child: Child, stopped: &mut watch::Receiver<bool>) -> (End, String) {
        let mut process = Process { group: Group::of(child.id()), child };
        let said = tokio::spawn(beginning(process.child.stderr.take()));
        let end = tokio::select! {
            status = process.child.wait() => status.map_or_else(End::Failed, End::Exited),
            () = sleep(self.limit) => End::Overrun,
            _ = stopped.wait_for(|stopped| *stopped) => End::Stopped,
        };
        if matches!(end, End::Overrun | End::Stopped) {
            // SIGTERM lets it stop its server first.
            process.stop(GRACE).await;
        }
        // The process has ended, and its id may be reused soon.
        drop(process);
        (end, timeout(GRACE, said).await.ok().and_then(Result::ok).unwrap_or_default())
    }
}

/// The description of a server that could not be tested.
fn described(entry: &Entry) -> TargetReport {
    TargetReport {
        subject: Subject::Server,
        name: entry.shown.clone(),
        options: format!("--config {} {}", entry.config.display(), entry.name),
        command: None,
        config: None,
        transport: entry.transport.to_string(),
        sdks: Vec::new(),
        server: None,
        client: None,
        capabilities: Value::Null,
        revisions: Vec::new(),
    }
}

/// The options of `mcp-conform run` that all servers of a matrix share.
pub fn options(args: &MatrixArgs) -> Vec<String> {
    let scope = &args.scope;
    let mut options = Vec::new();
    let mut option = |flag: &str, value: String| options.push(format!("{flag}={value}"));
    option("--timeout", args.timeout.to_string());
    option("--run-timeout", args.run_timeout.to_string());
    option("--revision", scope.revision.clone());
    scope.select.terms().into_iter().for_each(|term| option("--filter", term));
    scope.proposal.iter().for_each(|name| option("--proposal", name.clone()));
    scope.extension.iter().for_each(|name| option("--extension", name.clone()));
    scope.select.suite.iter().for_each(|path| option("--suite", path.display().to_string()));
    let Profiles { profile, fail_on } = &args.profiles;
    options.extend(profile.iter().map(|name| format!("--profile={name}")));
    options.extend((!fail_on.is_empty()).then(|| "--fail-on=profile".to_owned()));
    options.extend(args.strict.then(|| "--strict".to_owned()));
    options.extend(scope.call_tools.then(|| "--call-tools".to_owned()));
    options
}

/// How long the process of a run may take.
pub fn limit(args: &MatrixArgs) -> Result<Duration, Error> {
    seconds(args.timeout, "--timeout")?;
    Ok(seconds(args.run_timeout, "--run-timeout")?.saturating_add(BEYOND))
}

/// The beginning of the output, on one line; the rest is discarded.
async fn beginning(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut said = Vec::new();
    let _ = (&mut pipe).take(SAID).read_to_end(&mut said).await;
    let _ = copy(&mut pipe, &mut sink()).await;
    let said = strip_str(&String::from_utf8_lossy(&said)).to_string();
    said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
