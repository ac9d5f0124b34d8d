//! What a gateway costs: the time of calls of several sizes from several clients at once, directly and through it, and its
//! memory. The numbers are for comparing gateways on one machine; nothing is judged by them.

use std::{
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
    target::{Limits, Target},
};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const CLIENTS: [usize; 3] = [1, 8, 32];
/// Over stdio each client is a process of the gateway, of which a small machine runs no 32.
const PROCESSES: [usize; 2] = [1, 8];
/// Calls of one client of one size, and the time after which none is begun.
const CALLS: usize = 200;
const LONG: Duration = Duration::from_secs(2);
/// Nobody reads the record.
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
        target: Target::new(job.name(), start),
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
#[cfg(target_os = "linux")]
fn memory(upstream: &str) -> Option<u64> {
    use std::{collections::HashMap, fs, path::Path};

    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // After the name, which is in parentheses and may have spaces: the state and the parent.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        parents.insert(process, parent.unwrap_or_default());
    }
    let is_below = |process: u32| {
        let up = std::iter::successors(Some(process), |process| parents.get(process).copied());
        up.take(parents.len()).skip(1).any(|process| process == std::process::id())
    };
    let mut sum = 0;
    for process in parents.keys().copied().filter(|process| is_below(*process)) {
        let place = format!("/proc/{process}");
        let command = fs::read(format!("{place}/cmdline")).unwrap_or_default();
        // It is this program, with a socket next to the file that the gateway started.
        let mut arguments = command.split(|byte| *byte == 0).skip(1).map(String::from_utf8_lossy);
        let is_upstream = arguments.next().is_some_and(|word| word == "stub")
            && arguments.next().is_some_and(|socket| Path::new(&*socket).parent() == Path::new(upstream).parent());
        let status = fs::read_to_string(format!("{place}/status")).unwrap_or_default();
        let resident =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok());
        if !is_upstream {
            sum += resident.unwrap_or(0_u64);
        }
    }
    (sum > 0).then_some(sum * 1024)
}

#[cfg(not(target_os = "linux"))]
fn memory(_: &str) -> Option<u64> {
    None
}
