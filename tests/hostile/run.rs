//! One run against a hostile server: its output, its exit, its resources and leftovers.

use std::{
    fs::{self, File},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

/// In the environment of the run and of all its children.
const MARK: &str = "MCP_CONFORM_HOSTILE_TEST";
const LOOK: Duration = Duration::from_millis(5);
/// A killed process may need a moment to exit.
const GOING: Duration = Duration::from_secs(2);
/// A run that takes longer counts as hung.
const LONGEST: Duration = Duration::from_secs(500);

pub struct Run {
    child: Child,
    directory: tempfile::TempDir,
    mark: String,
    began: Instant,
    peak_kb: u64,
    cpu_seconds: f32,
}

/// The result of a run.
#[derive(Debug)]
pub struct Met {
    pub code: Option<i32>,
    pub said: String,
    /// The JSON report, if there was one.
    pub report: Option<Value>,
    pub seconds: f32,
    /// Of the program itself; more reliable than the duration on a busy machine.
    pub cpu_seconds: f32,
    /// Peak memory of the program itself, if the system reports it.
    pub peak_mb: u64,
    /// The difference between the report and that on the transcript, if there is one.
    pub judged_otherwise: Option<String>,
    /// Processes that still run, and files in the temporary directory.
    pub left: Vec<String>,
}

/// Starts `mcp-conform run` with these arguments.
pub fn start(arguments: &[&str]) -> Run {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("tmp")).expect("a directory");
    let said = File::create(path("said")).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-conform"));
    command.arg("run").args(["--report", "human"]).arg("--report").arg(format!("json={}", path("json").display()));
    // Some tests use their own transcript.
    if !arguments.iter().any(|argument| argument.starts_with("--transcript")) {
        command.arg("--transcript").arg(path("transcript"));
    }
    command.args(arguments).env(MARK, &mark).env("TMPDIR", path("tmp")).current_dir(directory.path());
    command.stdin(Stdio::null()).stdout(said.try_clone().expect("a file")).stderr(said);
    let child = command.spawn().expect("the program starts");
    Run { child, directory, mark, began: Instant::now(), peak_kb: 0, cpu_seconds: 0.0 }
}

impl Run {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn meet(mut self) -> Met {
        let status = loop {
            self.peak_kb = self.peak_kb.max(memory(self.child.id()));
            self.cpu_seconds = self.cpu_seconds.max(cpu(self.child.id()));
            match self.child.try_wait().expect("it can be waited for") {
                Some(status) => break status,
                None if self.began.elapsed() > LONGEST => {
                    let _ = self.child.kill();
                }
                None => sleep(LOOK),
            }
        };
        let seconds = self.began.elapsed().as_secs_f32();
        let read = |name: &str| fs::read(self.directory.path().join(name)).unwrap_or_default();
        Met {
            code: status.code(),
            said: String::from_utf8_lossy(&read("said")).into_owned(),
            judged_otherwise: self.judged_otherwise(status.code()),
            report: serde_json::from_slice(&read("json")).ok(),
            seconds,
            cpu_seconds: self.cpu_seconds,
            peak_mb: self.peak_kb.div_ceil(1024),
            left: self.left(),
        }
    }

    /// Judges the transcript, if there is one: report and exit code must equal those of the run, including times.
    fn judged_otherwise(&self, code: Option<i32>) -> Option<String> {
        let path = |name: &str| self.directory.path().join(name);
        if fs::metadata(path("transcript")).is_ok_and(|file| file.len() == 0) || !path("transcript").exists() {
            return None;
        }
        let mut judge = Command::new(env!("CARGO_BIN_EXE_mcp-conform"));
        judge.arg("judge").arg(path("transcript")).arg("--report").arg(format!("json={}", path("again").display()));
        let judged = judge.current_dir(self.directory.path()).output().expect("the program starts");
        let read = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
        if (judged.status.code(), read("again")) == (code, read("json")) {
            return None;
        }
        let (run, again) = (read("json"), read("again"));
        let (differing, _) = run.lines().zip(again.lines()).enumerate().find(|(_, (a, b))| a != b).unzip();
        let shown = |text: &str| differing.and_then(|line| text.lines().nth(line).map(str::to_owned));
        Some(format!(
            "{:?} instead of {code:?}: {:?} instead of {:?}",
            judged.status.code(),
            shown(&again),
            shown(&run)
        ))
    }

    fn left(&self) -> Vec<String> {
        let began = Instant::now();
        loop {
            let files = fs::read_dir(self.directory.path().join("tmp")).into_iter().flatten().flatten();
            let files = files.map(|file| file.path().display().to_string());
            let left: Vec<String> = marked(&format!("{MARK}={}", self.mark)).into_iter().chain(files).collect();
            if left.is_empty() || began.elapsed() > GOING {
                return left;
            }
            sleep(LOOK);
        }
    }
}

/// The processes with this in their environment, if the system shows it.
fn marked(mark: &str) -> Vec<String> {
    let holds = |path: &std::path::Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: std::path::PathBuf| {
        let line = fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ");
        format!("{}: {line}", path.display())
    };
    processes.filter(|path| holds(path)).map(named).collect()
}

fn memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn cpu(id: u32) -> f32 {
    /// The unit of the kernel, on every system that has this file.
    const TICKS_A_SECOND: f32 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let (_, rest) = stat.rsplit_once(") ").unwrap_or_default();
    let ticks = rest.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f32>().ok());
    ticks.sum::<f32>() / TICKS_A_SECOND
}
