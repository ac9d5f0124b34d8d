//! `mcp-conform generate`: calls with generated arguments, judged by the suites in `suites/generated` and one's own.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use crate::{
    cli::GenerateArgs,
    error::Error,
    evidence::{
        Evidence, Frames, Recorder, RunEnd, RunHeader, Scope, Side, Tested,
        generated::{GeneratedRun, SMALLEST, SmallestCall},
    },
    generate::{self, Caller, Generated, Settings, Store, Stored},
    plan::{Extensions, Proposals, plan},
    run::{
        conducting::run_context::context,
        inputs::{
            again, configured, credentials, deviations,
            job::{Job, Revisions},
            sdks,
            suites::load,
            target,
        },
        process::{
            Surroundings,
            console::{complain, failed},
            interrupts::Interrupts,
            progress::Counts,
        },
        results::{
            abort_report,
            course::{Conduct, Course},
            outputs,
        },
    },
    session::{Opener, Wish},
    suite::Suite,
    target::{Program, Target},
};

/// An environment variable of the server, to test whether the server discloses its environment.
const CANARY: (&str, &str) = ("MCP_CONFORM_CANARY", "mcp-conform-canary-5c41f0");

pub fn generate(args: &GenerateArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let Prepared { course, mut job, wish, settings, store } = prepared(args, surroundings)?;
    let outputs = outputs::wanted(&args.output.forms)?;
    let began = Instant::now();
    let (recorder, interrupts) = (job.recorder(), job.interrupts.clone());
    let mut kept = None;
    let work = async {
        let evidence = Box::pin(conduct(&mut job, wish, &course, &settings, recorder.clone())).await?;
        if settings.replay.is_none() {
            kept = keep(&args.examples, store, &evidence)?;
        }
        Ok::<_, Error>(evidence)
    };
    let test = Conduct { party: "server", recorder: &recorder, interrupts: &interrupts, progress: None, work };
    let mut evidence = match course.conduct(test, surroundings) {
        Ok(evidence) => evidence,
        Err(error) => {
            let given = (&args.target, &args.output);
            let (code, took) = (error.exit_code(), began.elapsed());
            return Ok(abort_report::tell_of(&error, code, took, outputs, given, Vec::new(), surroundings));
        }
    };
    evidence.header.ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    evidence.header.target.config = configured::shown(&args.target, surroundings);
    evidence.header.target.options = options(args);
    let (code, _) = course.judge(evidence, |_, _| {}).write(outputs, &args.output.forms, surroundings);
    // At the end, where a user of a long report still sees it.
    if let Some(kept) = kept.filter(|_| !args.output.forms.quiet) {
        complain(&kept);
    }
    Ok(code)
}

struct Prepared<'a> {
    course: Course<'a>,
    job: Job,
    wish: Wish,
    settings: Settings,
    store: Store,
}

fn prepared<'a>(args: &'a GenerateArgs, surroundings: &Surroundings) -> Result<Prepared<'a>, Error> {
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
    let suites = suites(args, surroundings)?;
    let proposals = Proposals::new(&[], &suites)?;
    let course = Course::of(suites, Side::Server, &args.select, &args.output, args.transcript.as_deref())?;
    if let Some(seconds) = args.timeout {
        limits.request = target::seconds(seconds, "--timeout")?;
    }
    deviations::reject_unless_visible_in(&args.target, revisions)?;
    let store = Store::read(&fs::read_to_string(&args.examples).unwrap_or_default());
    let interrupts = Interrupts::listen();
    let settings = settings(args, (&target, &facts), (replay, store.of(&target.name)), interrupts.clone())?;
    let job = Job {
        subject: Side::Server,
        target,
        facts,
        call_tools: args.call_tools,
        limits,
        profile: target::profile(&[])?,
        revisions,
        proposals,
        extensions: Extensions::default(),
        strict: args.output.strict,
        interrupts,
        fail_fast: None,
        suites: Counts::of("suites"),
    };
    Ok(Prepared { course, job, wish, settings, store })
}

/// The suites with rules over generated calls. Otherwise the other suites would be skipped one by one, for each call.
fn suites(args: &GenerateArgs, surroundings: &Surroundings) -> Result<Vec<Suite>, Error> {
    let configured = configured::config(&args.target, surroundings)?.map(|config| config.suites).unwrap_or_default();
    let own: Vec<_> = args.select.suite.iter().cloned().chain(configured).collect();
    let mut suites = load(&[Side::Server], &own, surroundings.color)?;
    suites.retain(|suite| suite.generated);
    Ok(suites)
}

fn settings(
    args: &GenerateArgs,
    (target, facts): (&Target, &Value),
    (replay, earlier): (Option<Stored>, Vec<Stored>),
    interrupts: Interrupts,
) -> Result<Settings, Error> {
    Ok(Settings {
        calls: args.calls,
        time: target::seconds(args.seconds, "--seconds")?,
        seed: args.seed.unwrap_or_else(new_seed),
        only: args.only.clone(),
        call_tools: args.call_tools,
        named: facts["tools"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect(),
        earlier,
        replay,
        program: program(target),
        interrupted: Box::new(move || interrupts.code().is_some()),
    })
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

/// Makes the calls.
async fn conduct(
    job: &mut Job,
    wish: Wish,
    Course { suites, filter, .. }: &Course<'_>,
    settings: &Settings,
    recorder: Recorder,
) -> Result<Evidence, Error> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let target = Tested {
        name: job.target.name.clone(),
        transport: job.target.start.transport().to_string(),
        command: again::command(&job.target),
        sdks: sdks::of_server(&job.target),
        ..Tested::default()
    };
    if let Some(program) = job.target.start.program_mut() {
        program.env.push((CANARY.0.to_owned(), CANARY.1.to_owned()));
    }
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
    let mut context = context(session.hello.as_ref(), session.transport(), revision, job);
    context.generated = Some(GeneratedRun::default());
    let planned = plan(suites, &context, filter);
    let caller = Caller::new(opener, revision, Some(session));
    let Generated { run, notes, cut_short } =
        Box::pin(generate::generate(caller, &mut context, &planned, settings)).await;
    context.generated = Some(run);
    let header = RunHeader {
        scope: Scope { strict: job.strict, ..Scope::default() },
        notes,
        end: RunEnd { cut_short, interrupted: job.interrupts.code(), failed_handshake: None },
        ..RunHeader::new(Side::Server, target, started, job.limits.evidence_frames)
    };
    let (links, frames) = (recorder.links(), Frames::Recorded(recorder));
    Ok(Evidence { header, links, frames, contexts: vec![context], retries: Vec::new(), cut_off: None })
}

/// Writes the calls that failed, and returns a line on the file. If there are none and no file exists, nothing is
/// written.
fn keep(path: &Path, mut store: Store, evidence: &Evidence) -> Result<Option<String>, Error> {
    let smallest = evidence.generated(SMALLEST).filter_map(|call: SmallestCall| Stored::parse(&call.replay).ok());
    store.replace(&evidence.header.target.name, smallest.collect());
    if store.is_empty() && !path.exists() {
        return Ok(None);
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let made = directory.map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(path, store.text())).map_err(|source| failed(path, "write", source))?;
    Ok(Some(format!("wrote {}: calls that failed, which the next run repeats", path.display())))
}
