//! `mcp-conform generate`: calls with generated arguments, judged by the suites in `suites/generated` and one's own.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use crate::{
    assess::{shown::show_frames, verdict::sum_up},
    cli::GenerateArgs,
    error::Error,
    evidence::{Recorder, RunContext, RunEnd, Side},
    generate::{self, Caller, Generated, Settings, Store, Stored},
    outcome::{RunReport, Subject, TargetReport},
    plan::{Filter, Proposals, plan},
    run::{
        conducting::run_context::context,
        inputs::{
            again, configured, credentials, deviations,
            job::{Job, Revisions},
            suites::load,
            target,
        },
        process::{
            Surroundings,
            console::{complain, failed},
            interrupts::Interrupts,
            progress::Counts,
            strays::supervised,
        },
        results::{abort_report, baseline::Baseline, outputs},
    },
    session::{Opener, Wish},
    suite::Suite,
    target::{Program, Target},
};

/// An environment variable of the server, to test whether the server discloses its environment.
const CANARY: (&str, &str) = ("MCP_CONFORM_CANARY", "mcp-conform-canary-5c41f0");

pub fn generate(args: &GenerateArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let prepared = prepared(args, surroundings)?;
    let outputs = outputs::wanted(&args.output.forms)?;
    let began = Instant::now();
    match tested(prepared, args, surroundings) {
        Ok((report, kept)) => {
            let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
            // At the end, where a user of a long report still sees it.
            if let Some(kept) = kept.filter(|_| !args.output.forms.quiet) {
                complain(&kept);
            }
            Ok(outputs::exit_code(report.exit_code, [written]))
        }
        Err(error) => {
            let code = error.exit_code();
            let given = (&args.target, &args.output);
            Ok(abort_report::tell_of(&error, code, began.elapsed(), outputs, given, Vec::new(), surroundings))
        }
    }
}

struct Prepared {
    job: Job,
    wish: Wish,
    suites: Vec<Suite>,
    filter: Filter,
    settings: Settings,
    store: Store,
    baseline: Baseline,
}

fn prepared(args: &GenerateArgs, surroundings: &Surroundings) -> Result<Prepared, Error> {
    let revisions: Revisions = args.revision.parse()?;
    let wish = match revisions {
        Revisions::One(revision) => Wish::Exactly(revision),
        Revisions::Auto => Wish::Newest,
        Revisions::All => return Err(Error::usage("`generate` tests one revision: name it, or leave out --revision")),
    };
    if args.calls == 0 {
        return Err(Error::usage("--calls needs at least 1"));
    }
    let replay = args.replay.as_ref().map(|text| Stored::parse(text)).transpose();
    let replay = replay.map_err(|why| Error::Usage {
        message: format!("--replay does not take this: {why}"),
        help: Some(r#"for example {"tool":"add","arguments":{"a":1,"b":2},"kind":"valid"}"#.into()),
    })?;
    let (target, facts, mut limits) = target::target(&args.target, surroundings)?;
    let own: Vec<_> = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    let own: Vec<_> = args.select.suite.iter().cloned().chain(own).collect();
    let mut suites = load(&[Side::Server], &own, surroundings.color)?;
    // Otherwise the other suites would be skipped one by one, for each call.
    suites.retain(|suite| suite.generated);
    let filter = Filter::new(&args.select.terms(), &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    if let Some(seconds) = args.timeout {
        limits.request = target::seconds(seconds, "--timeout")?;
    }
    deviations::reject_unless_visible_in(&args.target, revisions)?;
    let named = facts["tools"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let store = Store::read(&fs::read_to_string(&args.examples).unwrap_or_default());
    let interrupts = Interrupts::listen();
    let settings = Settings {
        calls: args.calls,
        time: target::seconds(args.seconds, "--seconds")?,
        seed: args.seed.unwrap_or_else(new_seed),
        only: args.only.clone(),
        call_tools: args.call_tools,
        named,
        earlier: store.of(&target.name),
        replay,
        options: options(args),
        program: program(&target),
        interrupted: {
            let interrupts = interrupts.clone();
            Box::new(move || interrupts.code().is_some())
        },
    };
    let proposals = Proposals::new(&[], &suites)?;
    let job = Job {
        target,
        facts,
        call_tools: args.call_tools,
        limits,
        profile: target::profile(&[])?,
        revisions,
        proposals,
        strict: args.output.strict,
        interrupts,
        fail_fast: None,
        suites: Counts::of("suites"),
    };
    Ok(Prepared { job, wish, suites, filter, settings, store, baseline })
}

/// Where the program is that the target starts.
fn program(target: &Target) -> Option<String> {
    let Program { argv, cwd, .. } = target.start.program()?;
    let here = cwd.clone().or_else(|| std::env::current_dir().ok())?;
    generate::directory(argv, &here)
}

/// Small enough to be typed.
fn new_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| u64::from(since.subsec_nanos()) % 1_000_000)
}

/// The options that name the target and change what is sent.
fn options(args: &GenerateArgs) -> String {
    let mut options = again::options(&args.target);
    if let Some(seconds) = args.timeout {
        options += &format!(" --timeout {seconds}");
    }
    options
}

/// The report, and a line on the file with the calls that failed.
fn tested(
    prepared: Prepared,
    args: &GenerateArgs,
    surroundings: &Surroundings,
) -> Result<(RunReport, Option<String>), Error> {
    let Prepared { mut job, wish, suites, filter, settings, mut store, baseline } = prepared;
    let began = Instant::now();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let name = job.target.name.clone();
    let command = again::command(&job.target);
    if let Some(program) = job.target.start.program_mut() {
        program.env.push((CANARY.0.to_owned(), CANARY.1.to_owned()));
    }
    let interrupts = job.interrupts.clone();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let conducted = conduct(&mut job, wish, &suites, &filter, &settings, &recorder);
    let ((context, generated), left) = supervised("server", &interrupts, conducted)?;
    let Generated { mut rules, counts, mut notes, failing, cut_short } = generated;
    notes.extend(left);
    show_frames(&mut rules, recorder.frames(), job.limits.evidence_frames);
    let mut kept = None;
    if settings.replay.is_none() {
        store.replace(&name, failing);
        kept = keep(&args.examples, &store)?;
    }
    let described = TargetReport {
        subject: Subject::Server,
        name,
        options: settings.options.clone(),
        command,
        config: configured::shown(&args.target, surroundings),
        transport: context.transport.to_string(),
        server: Some(context.server["info"].clone()).filter(|info| !info.is_null()),
        client: None,
        capabilities: context.server["capabilities"].clone(),
        revisions: vec![context.revision],
    };
    let mut report = RunReport {
        started,
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        calls: counts,
        ..sum_up(described, rules, notes, cut_short, args.output.strict)
    };
    let end = RunEnd { interrupted: interrupts.code(), ..RunEnd::default() };
    baseline.settle(&mut report, &args.output, &end, &|_, _| true)?;
    Ok((report, kept))
}

async fn conduct(
    job: &mut Job,
    wish: Wish,
    suites: &[Suite],
    filter: &Filter,
    settings: &Settings,
    recorder: &Recorder,
) -> Result<(RunContext, Generated), Error> {
    credentials::obtain(&mut job.target, &mut job.facts, &job.limits).await?;
    let opener = Opener {
        target: job.target.clone(),
        limits: job.limits.clone(),
        recorder: recorder.clone(),
        profile: job.profile.clone(),
        known: Arc::default(),
    };
    let session = opener.open(wish).await.map_err(|unopened| unopened.error)?;
    let revision = session.revision().ok_or_else(|| Error::usage("no revision was negotiated"))?;
    let mut context =
        RunContext { generated: true, ..context(session.hello.as_ref(), session.transport(), revision, job) };
    let known = context.clone();
    let planned = plan(suites, &known, filter);
    let caller = Caller::new(opener, revision, Some(session));
    let generated = generate::generate(caller, &mut context, &planned, settings).await;
    Ok((context, generated))
}

/// Writes the calls that failed, and returns a line on the file. If there are none and no file exists, nothing is written.
fn keep(path: &Path, store: &Store) -> Result<Option<String>, Error> {
    if store.is_empty() && !path.exists() {
        return Ok(None);
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let made = directory.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, store.text())).map_err(|source| failed(path, "write", source))?;
    Ok(Some(format!("wrote {}: calls that failed, which the next run repeats", path.display())))
}
