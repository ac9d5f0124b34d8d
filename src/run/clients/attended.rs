//! A client that the user starts: the program serves it, shows new messages, and judges the record after the client has
//! left.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use super::{
    client_run::ClientRun,
    facts,
    job::ClientJob,
    process::Ran,
    stage::{Place, Stage},
};
use crate::{
    assess::timeline::what,
    error::Error,
    evidence::{Evidence, FrameKind, Recorder, Side, Transport},
    outcome::excerpt::middle,
    plan::Filter,
    report::plain,
    revision::Revision,
    suite::Suite,
    wire::Secrets,
};

/// New messages are shown this often. A guess.
const EVERY: Duration = Duration::from_millis(100);
/// The name of the server in the configuration of a client.
const SERVER: &str = "mcp-conform";

/// The server that the client connects to.
pub struct Attended<'a> {
    pub world: &'a str,
    /// 0: any free port.
    pub port: u16,
    pub width: usize,
}

/// Serves any client until it leaves or the user presses Ctrl-C.
pub async fn attend(
    job: &ClientJob,
    suites: &[Suite],
    filter: &Filter,
    recorder: Recorder,
    attended: &Attended<'_>,
    show: impl Fn(&str),
) -> Result<Evidence, Error> {
    let mut run = ClientRun::new(job, suites, filter, recorder);
    let options = run.worlds.named(attended.world).map_err(|help| Error::Usage {
        message: format!("unknown world `{}`", attended.world),
        help: help.or_else(|| Some("`mcp-conform list faults` and `list variations` have the names".to_owned())),
    })?;
    // If no suite uses this world, only rules without a world judge the run.
    let scenario = run.planned.iter().find(|planned| planned.scenario.world == attended.world);
    let scenario = scenario.map_or(attended.world, |planned| planned.id).to_owned();
    let transport = job.client.transport;
    let address = format!("127.0.0.1:{}", attended.port);
    let place = Place::System { program: &job.program, address: &address, behind: false };
    let mut stage = Stage::open(options, transport, &scenario, place, &run.recorder, &Secrets::default()).await?;
    show(&instructions(transport, &stage.target));
    let (began, mut seen) = (Instant::now(), 0);
    loop {
        let over = tokio::select! {
            () = job.interrupts.first() => true,
            () = sleep(EVERY) => stage.is_left(),
        };
        for frame in run.recorder.since(seen) {
            seen = frame.frame;
            let arrow = if frame.from == Side::Client { "→" } else { "←" };
            if matches!(frame.kind, FrameKind::Message | FrameKind::Junk) {
                let line =
                    format!("{:>8.3} s  {arrow} {}", Duration::from_micros(frame.at).as_secs_f64(), what(&frame));
                show(&middle(&plain(&line), attended.width));
            }
        }
        if over {
            break;
        }
    }
    let (links, spawned) = stage.close().await;
    let Some(revision) = run.spoken(&links) else {
        return Err(Error::Party {
            party: "client",
            tried: "to wait for a client".to_owned(),
            came: "no client connected, or none sent a request".to_owned(),
            help: "connect it to the address that was shown, then press Ctrl-C".to_owned(),
        });
    };
    for link in &links {
        run.recorder.settle(*link, revision);
    }
    let ran = Ran { hung: false, stopped: false, status: None, stderr: String::new(), took: began.elapsed() };
    let unread = (Vec::new(), false);
    let start = facts::start(&scenario, attended.world, &ran, &links, &spawned, unread, &run.recorder);
    run.keep(revision, &[start]);
    let mut evidence = run.evidence();
    // Ctrl-C is the normal end of such a run.
    evidence.header.end.interrupted = None;
    Ok(evidence)
}

/// The command line or the configuration that the user needs.
fn instructions(transport: Transport, target: &str) -> String {
    let (server, what) = if transport.capabilities().process {
        (json!({ "command": target, "args": [] }), "Let it start this server")
    } else {
        (json!({ "url": target }), "Connect it to")
    };
    let config = json!({ "mcpServers": { SERVER: server } });
    let newest = Revision::NEWEST;
    format!(
        "Waiting for a client, in any revision up to {newest}. {what}:\n\n  {target}\n\nor put this into its configuration:\n\n  \
         {config}\n\nPress Ctrl-C to end, and to judge what the client sent.\n"
    )
}
