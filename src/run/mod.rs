//! The program on one page: each command is a prefix or suffix of suites, target, evidence, verdicts, report.

mod baseline;
mod by_hand;
mod check;
mod clients;
mod conduct;
mod coverage;
mod credentials;
mod explain;
mod grant;
mod graph;
mod job;
mod judge;
mod list;
mod mutants;
mod outputs;
mod place;
mod report;
mod rerun;
mod scene;
mod shown;
mod suites;
mod target;
mod timeline;
mod tree;
mod unopened;
mod verdict;

use std::path::PathBuf;

pub use conduct::{Conducted, conduct};
pub use job::{Job, Revisions};
pub use mutants::{Matrix, Trial, trials};
pub use suites::{built_in, load};

use self::baseline::Baseline;
use crate::{
    cli::{Cli, Command, RunArgs, ServeArgs},
    config::Environment,
    error::{Error, exit},
    plan::{Filter, Proposals},
    reference,
};

/// What the program knows of where it runs. Read in `main`, passed down from there.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub color: bool,
    pub width: usize,
    /// Where it was started.
    pub directory: Option<PathBuf>,
    pub environment: Environment,
    /// The program itself, for `--reference`.
    pub program: Option<PathBuf>,
}

/// Runs one command; the value is the exit code.
pub fn run(cli: &Cli, surroundings: &Surroundings) -> u8 {
    let done = match &cli.command {
        Command::Run(args) => test(args, surroundings),
        Command::Judge(args) => judge::judge(args, surroundings),
        Command::Explain(args) => explain::explain(args, surroundings),
        Command::Report(command) => report::report(command, surroundings),
        Command::List(args) => list::list(args),
        Command::Tree(args) => tree::tree(args, surroundings),
        Command::Check(args) => check::check(args, surroundings),
        Command::Serve(args) => serve(args),
        Command::Mutants(args) => mutants::mutants(args, surroundings),
    };
    done.unwrap_or_else(|error| {
        outputs::complain(&error.to_string());
        error.exit_code()
    })
}

fn test(args: &RunArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let suites = load(&args.scope.suite, surroundings.color)?;
    let filter = Filter::new(&args.scope.filter, &suites)?;
    let outputs = outputs::wanted(&args.output.forms)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let (mut target, mut facts) = target::target(&args.target, surroundings)?;
    let limits = target::limits(args)?;
    block_on(credentials::obtain(&mut target, &mut facts, &limits))?;
    let job = Job {
        target,
        facts,
        call_tools: args.scope.call_tools,
        limits,
        face: target::face(&args.client)?,
        revisions: args.scope.revision.parse()?,
        proposals: Proposals::new(&args.scope.proposal, &suites)?,
        strict: args.output.strict,
    };
    let mut conducted = block_on(conduct(&job, &suites, &filter))?;
    conducted.report.target.options = target::options(&args.target);
    if args.scope.call_tools {
        conducted.report.target.options += " --call-tools";
    }
    for proposal in &args.scope.proposal {
        conducted.report.target.options += &format!(" --proposal {proposal}");
    }
    rerun::say_how(&mut conducted.report, conducted.recorder.frames(), &args.scope.suite);
    by_hand::show_how(&mut conducted.report, conducted.recorder.frames());
    baseline.settle(&mut conducted.report, &args.output)?;
    if let Some(path) = &args.transcript {
        outputs::save_transcript(path, &conducted)?;
    }
    outputs::write(&outputs, &conducted.report, &args.output.forms, surroundings)?;
    Ok(conducted.report.exit_code)
}

fn serve(args: &ServeArgs) -> Result<u8, Error> {
    let mut options = reference::Options { fault: args.fault.clone(), ..reference::Options::default() };
    if !args.revision.is_empty() {
        let parsed: Result<_, _> = args.revision.iter().map(|text| text.parse()).collect();
        options.revisions = parsed.map_err(Error::usage)?;
    }
    if !args.proposal.is_empty() {
        options.proposals.clone_from(&args.proposal);
    }
    options.protected = args.protected;
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

/// One thread is plenty: the program waits for the server nearly all the time.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => panic!("the operating system refused what the run needs: {error}"),
    }
}
