//! The program on one page: each command is a prefix or suffix of suites, target, evidence, verdicts, report.

mod baseline;
mod by_hand;
mod check;
mod clients;
mod conduct;
mod configured;
mod course;
mod coverage;
mod credentials;
mod explain;
mod gathered;
mod given_up;
mod grant;
mod graph;
mod habits;
mod init;
mod interrupts;
mod job;
pub(crate) mod judge;
mod lanes;
mod list;
mod matrix;
mod mishaps;
mod misnamed;
mod mutants;
mod outputs;
mod place;
mod progress;
mod reached;
mod report;
mod rerun;
mod rounds;
mod rule_pages;
mod scene;
mod shell;
mod shown;
mod signals;

mod stop;
mod strays;
pub(crate) mod suites;
mod target;
mod timeline;
mod tree;
mod unfinished;
mod unopened;
mod verdict;
mod watch;

use std::{env, ffi::OsString, path::PathBuf, time::Instant};

use tokio::runtime::Runtime;

pub use conduct::{Conducted, conduct};
pub use interrupts::Interrupts;
pub use job::{Job, Revisions};
pub use mutants::{Bug, Matrix, Trial, Variations, bugs, gaps, trials, variation_trials};
pub use suites::{built_in, load};

use self::{baseline::Baseline, progress::Progress};
use crate::{
    cli::{Cli, Command, RunArgs, ServeArgs},
    config::Environment,
    error::{Error, exit},
    evidence::Recorder,
    outcome::RunReport,
    plan::{Filter, Proposals},
    reference,
    suite::Suite,
};

/// What the program knows of where it runs. Read at the start, passed down from there.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub color: bool,
    pub width: usize,
    /// The columns of a terminal that may show what a run waits for.
    pub status: Option<usize>,
    /// Where it was started.
    pub directory: Option<PathBuf>,
    pub environment: Environment,
    /// The program itself, for `--reference`.
    pub program: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process, written for in so many columns.
    pub fn of_process(color: bool, width: usize) -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self {
            color,
            width,
            status: None,
            directory: env::current_dir().ok(),
            environment: env::vars_os().filter_map(text).collect(),
            program: env::current_exe().ok(),
        }
    }
}

/// Runs one command; the value is the exit code.
pub fn run(cli: &Cli, surroundings: &Surroundings) -> u8 {
    let done = match &cli.command {
        Command::Init(args) => init::init(args),
        Command::Run(args) if !args.watch.is_empty() => watch::watch(args, surroundings),
        Command::Run(args) => test(args, surroundings),
        Command::Matrix(args) => matrix::matrix(args, surroundings),
        Command::Judge(args) => judge::judge(args, surroundings),
        Command::Explain(args) => explain::explain(args, surroundings),
        Command::Report(command) => report::report(command, surroundings),
        Command::List(args) => list::list(args),
        Command::Tree(args) => tree::tree(args, surroundings),
        Command::Check(args) => check::check(args, surroundings),
        Command::Serve(args) => serve(args),
        Command::Mutants(args) => mutants::mutants(args, surroundings),
        Command::Completions { shell } => Ok(shell::completions(*shell)),
        Command::Man { directory } => shell::man(directory),
    };
    done.unwrap_or_else(|error| {
        outputs::complain(&error.to_string());
        error.exit_code()
    })
}

fn test(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let (interrupts, began) = (Interrupts::listen(), Instant::now());
    match tested(args, surroundings, &interrupts) {
        Ok(Tested { report, kept }) => {
            let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
            Ok(outputs::exit_code(report.exit_code, kept.into_iter().chain([written])))
        }
        Err(error) => {
            let code = interrupts.code().unwrap_or(error.exit_code());
            Ok(unfinished::tell(&error, code, began.elapsed(), outputs, args, surroundings))
        }
    }
}

/// A run that is over, but for its reports.
pub struct Tested {
    pub report: RunReport,
    /// Whether what was to be kept besides could be written.
    pub kept: [Result<(), Error>; 2],
}

pub fn tested(args: &RunArgs, surroundings: &Surroundings, interrupts: &Interrupts) -> Result<Tested, Error> {
    let (mut target, mut facts, limits) = target::target(&args.target, surroundings)?;
    let suites = load(&own_suites(args, surroundings)?, surroundings.color)?;
    let mut filter = Filter::new(&args.scope.filter, &suites)?;
    if let Some(part) = args.partition {
        filter = filter.part(part, &suites);
    }
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let limits = target::limits(args, limits)?;
    unless_ended(credentials::obtain(&mut target, &mut facts, &limits))?;
    let revisions = args.scope.revision.parse()?;
    target::unless_unseen(&args.target, revisions)?;
    let job = Job {
        target,
        facts,
        call_tools: args.scope.call_tools,
        limits,
        face: target::face(&args.client)?,
        revisions,
        proposals: Proposals::new(&args.scope.proposal, &suites)?,
        strict: args.output.strict,
        interrupts: interrupts.clone(),
    };
    let Conducted { mut report, recorder, scenes } = watched(&job, &suites, &filter, args, surroundings)?;
    report.partition = args.partition.iter().map(ToString::to_string).collect();
    report.target.options = target::options(&args.target);
    report.target.command = target::command(&job.target);
    report.target.config = configured::shown(&args.target, surroundings);
    if let Some(file) = &report.target.config {
        report.notes.extend(misnamed::notes(file, &job.facts, &scenes));
    }
    if args.scope.call_tools {
        report.target.options += " --call-tools";
    }
    for proposal in &args.scope.proposal {
        report.target.options += &format!(" --proposal {proposal}");
    }
    report.target.options += &target::manner(args);
    if outputs::illustrated(&args.output.forms) {
        conduct::illustrate(&mut report, &suites, &scenes, recorder.frames());
    }
    rerun::say_how(&mut report, recorder.frames(), &args.scope.suite);
    by_hand::show_how(&mut report, &suites, || recorder.frames());
    // What cannot be written keeps nothing else from being so.
    let settled = baseline.settle(&mut report, &args.output);
    if let Some(code) = interrupts.code() {
        report.exit_code = code;
    }
    let conducted = Conducted { report, recorder, scenes };
    let saved = args.transcript.as_ref().map_or(Ok(()), |path| outputs::save_transcript(path, &conducted));
    Ok(Tested { report: conducted.report, kept: [settled, saved] })
}

/// Conducts a run while a terminal shows what it waits for, and leaves none of its processes behind.
fn watched(
    job: &Job,
    suites: &[Suite],
    filter: &Filter,
    args: &RunArgs,
    surroundings: &Surroundings,
) -> Result<Conducted, Error> {
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let status = surroundings.status.filter(|_| !args.output.forms.quiet);
    // The handshake with a server that starts slowly takes the longest.
    let shown = Progress::show(&recorder, job.limits.request * 3, status);
    let conducted = block_on(async {
        tokio::select! {
            conducted = conduct(job, suites, filter, recorder) => conducted,
            // What is dropped here ends its servers.
            () = job.interrupts.second() => Err(Error::Interrupted),
        }
    });
    drop(shown);
    let strays = strays::end(&earlier);
    let mut conducted = conducted?;
    if strays > 0 {
        let note = format!("processes that the server left running outside of its process group were ended: {strays}");
        conducted.report.notes.push(note);
    }
    Ok(conducted)
}

/// The suites of the user's own: those that were typed, and those that the configuration names.
pub fn own_suites(args: &RunArgs, surroundings: &Surroundings) -> Result<Vec<PathBuf>, Error> {
    let configured = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    Ok(args.scope.suite.iter().cloned().chain(configured).collect())
}

fn serve(args: &ServeArgs) -> Result<u8, Error> {
    let mut options = reference::Options {
        fault: args.fault.clone(),
        variation: args.variation.clone(),
        ..reference::Options::default()
    };
    if !args.revision.is_empty() {
        let parsed: Result<_, _> = args.revision.iter().map(|text| text.parse()).collect();
        options.revisions = parsed.map_err(Error::usage)?;
    }
    if !args.proposal.is_empty() {
        options.proposals.clone_from(&args.proposal);
    }
    options.protected = args.protected;
    options.world = args.world.as_deref().map(str::parse).transpose().map_err(Error::usage)?;
    match args.http {
        None => reference::stdio(options),
        Some(address) => block_on(reference::http(options, address, |bound| {
            outputs::say(&format!("http://{bound}/mcp\nhttp://{bound}/sse"));
            for (name, token) in reference::tokens().iter().filter(|_| args.protected) {
                outputs::say(&format!("{name}: {token}"));
            }
        })),
    }
    .map_err(Error::usage)?;
    Ok(exit::CONFORMING)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime().block_on(work)
}

/// Does the work, unless the program is told to end: then the servers that it has started end with it.
fn unless_ended<T>(work: impl Future<Output = T>) -> T {
    let runtime = runtime();
    let done = runtime.block_on(async {
        tokio::select! {
            done = work => Ok(done),
            code = signals::asked() => Err(code),
        }
    });
    // What still runs in it is let go, and with it the processes it owns.
    drop(runtime);
    done.unwrap_or_else(|code| std::process::exit(code.into()))
}

/// One thread is plenty: the program waits for the server nearly all the time.
fn runtime() -> Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap_or_else(|error| panic!("the operating system refused what the run needs: {error}"))
}
