//! Measures the cost of a gateway: its memory, and the duration of calls of several sizes from several concurrent
//! clients, with and without the gateway. The numbers are for comparing gateways on one machine; no rule uses them.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::json;

use super::{
    front::Listening,
    job::{Front, GatewayJob},
    setting::Setting,
};
use crate::{
    error::Error,
    evidence::Recorder,
    outcome::{CostRow, Times},
    revision::Revision,
    session::{CallOptions, ClientProfile, Opener, Session, Wish},
    target::Limits,
    wire::process::descendants::{descendants, resident_bytes},
};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const CLIENTS: [usize; 3] = [1, 8, 32];
/// Over stdio each client is a process of the gateway; 32 are too many for a small machine.
const PROCESSES: [usize; 2] = [1, 8];
/// Maximum number of calls of one client with one size, and the time after which it begins no more.
const CALLS: usize = 200;
/// Guesses.
const LONG: Duration = Duration::from_secs(2);
/// The record is not used.
const RECORD: usize = 1;

pub async fn cost(job: &GatewayJob, revision: Revision) -> Result<Vec<CostRow>, Error> {
    let direct = measured(job, revision, false).await?;
    let through = measured(job, revision, true).await?;
    let rows = direct.into_iter().zip(through).map(|(direct, through)| CostRow {
        bytes: through.bytes,
        clients: through.clients,
        direct: direct.times,
        through: through.times,
        memory_bytes: through.memory,
    });
    Ok(rows.collect())
}

struct Cell {
    bytes: usize,
    clients: usize,
    times: Times,
    memory: Option<u64>,
}

async fn measured(job: &GatewayJob, revision: Revision, through: bool) -> Result<Vec<Cell>, Error> {
    let record = Recorder::new(RECORD, RECORD, RECORD);
    let Setting { stage, start, listening } = Setting::open(job, through, "cost", &record).await?;
    let upstream = stage.target.clone();
    let opener = Opener {
        target: job.target(start),
        limits: Limits { request: job.limits.start, ..Limits::default() },
        recorder: record,
        profile: ClientProfile::default(),
        known: Arc::default(),
    };
    let own = matches!(job.front, Front::Process { .. } | Front::Port { .. }) && through;
    let counts: &[usize] = if job.transport().capabilities().process { &PROCESSES } else { &CLIENTS };
    let (mut sessions, mut cells, mut refused) = (Vec::new(), Vec::new(), None);
    for clients in counts {
        while sessions.len() < *clients && refused.is_none() {
            match opener.open(Wish::Exactly(revision)).await {
                Ok(session) => sessions.push(Arc::new(session)),
                Err(unopened) => refused = Some(unopened.error),
            }
        }
        if refused.is_some() {
            break;
        }
        for bytes in SIZES {
            let times = cell(&sessions, bytes).await;
            let memory = if own { memory(&upstream) } else { None };
            cells.push(Cell { bytes, clients: *clients, times, memory });
        }
    }
    for session in sessions {
        if let Some(session) = Arc::into_inner(session) {
            session.close().await;
        }
    }
    if let Some(listening) = listening {
        Listening::end(listening).await;
    }
    stage.close().await;
    match refused {
        Some(error) if cells.is_empty() => Err(error),
        _ => Ok(cells),
    }
}

async fn cell(sessions: &[Arc<Session>], bytes: usize) -> Times {
    let began = Instant::now();
    let clients = sessions.iter().map(|session| {
        let session = Arc::clone(session);
        tokio::spawn(async move {
            let params = json!({ "name": "echo", "arguments": { "text": "x".repeat(bytes) } });
            let mut times = Vec::new();
            while times.len() < CALLS && (times.is_empty() || began.elapsed() < LONG) {
                let sent = Instant::now();
                let reply = session.call("cost", "tools/call", Some(params.clone()), CallOptions::default()).await;
                if reply.result.is_none() {
                    return (times, 1);
                }
                times.push(u64::try_from(sent.elapsed().as_micros()).unwrap_or(u64::MAX));
            }
            (times, 0)
        })
    });
    let (mut times, mut failed) = (Vec::new(), 0);
    for (own, failures) in join_all(clients).await.into_iter().flatten() {
        times.extend(own);
        failed += failures;
    }
    Times::new(times, failed)
}

/// The resident memory of all processes below this one, besides those of the upstream.
fn memory(upstream: &str) -> Option<u64> {
    // It is this program, with a socket next to the file that the gateway started.
    let is_upstream = |process: &u32| {
        let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let mut arguments = command.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy);
        arguments.next().is_some_and(|word| word == "stub")
            && arguments.next().is_some_and(|socket| Path::new(&*socket).parent() == Path::new(upstream).parent())
    };
    let of_gateway = descendants().into_iter().filter(|process| !is_upstream(process));
    let sum: u64 = of_gateway.map(resident_bytes).sum();
    (sum > 0).then_some(sum)
}
