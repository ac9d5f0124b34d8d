//! One run: gathers the evidence that the suites need in each revision to be tested.

use std::{
    cmp::Reverse,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use super::{clients, issuing::listen, server_run::ServerRun};
use crate::{
    error::Error,
    evidence::{Evidence, Frames, Recorder, RunEnd, RunHeader, Scope, Side, Tested},
    plan::Filter,
    revision::Revision,
    run::inputs::job::{Job, Revisions},
    session::{Opener, Wish},
    suite::Suite,
};

/// The schedule of each revision to be tested, in words.
pub async fn schedule(job: &Job, suites: &[Suite], filter: &Filter, recorder: Recorder) -> Result<String, Error> {
    let mut run = ServerRun::new(job, suites, filter, opener(job, recorder));
    let wishes = match job.revisions {
        Revisions::Auto => vec![Wish::Newest],
        Revisions::One(revision) => vec![Wish::Exactly(revision)],
        Revisions::All => Revision::ALL.map(Wish::Exactly).to_vec(),
    };
    let (mut all, mut failure) = (Vec::new(), None);
    for wish in wishes {
        match run.planned(wish).await {
            Ok(planned) => all.push(planned),
            Err(unopened) => failure = Some(unopened.error),
        }
    }
    match failure {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all.join("\n")),
    }
}

fn opener(job: &Job, recorder: Recorder) -> Opener {
    Opener {
        target: job.target.clone(),
        limits: job.limits.clone(),
        recorder,
        profile: clients::usual(job),
        known: Arc::default(),
    }
}

/// `Err` is about the program and its options, not about the server.
pub async fn conduct(job: &Job, suites: &[Suite], filter: &Filter, recorder: Recorder) -> Result<Evidence, Error> {
    let _listening = match &job.target.issuing {
        Some(issuing) => Some(listen(Arc::clone(issuing)).await?),
        None => None,
    };
    let began = Instant::now();
    let mut run = ServerRun::new(job, suites, filter, opener(job, recorder.clone()));
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let opened = match job.revisions {
        revisions if job.subject == Side::AuthorizationServer => run.issuer(revisions.one()).await,
        Revisions::Auto => run.revision(Wish::Newest).await,
        Revisions::One(revision) => run.revision(Wish::Exactly(revision)).await,
        Revisions::All => run.every_revision().await,
    };
    let failed_handshake = match opened {
        Ok(()) => None,
        Err(unopened) => Some(run.fall_back(unopened).await?),
    };
    let mut notes = run.take_notes();
    let ServerRun { mishaps, contexts, mut slowest, cut_short, .. } = run;
    notes.extend(mishaps.note(contexts.iter().any(|context| context.transport.capabilities().process)));
    slowest.sort_by_key(|suite| Reverse(suite.ms));
    let target = Tested {
        name: job.target.name.clone(),
        transport: job.target.start.transport().to_string(),
        ..Tested::default()
    };
    let header = RunHeader {
        ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        scope: Scope { strict: job.strict, ..Scope::default() },
        notes,
        slowest,
        end: RunEnd { cut_short, interrupted: job.interrupts.code(), failed_handshake },
        ..RunHeader::new(job.subject, target, started, job.limits.evidence_frames)
    };
    Ok(Evidence {
        header,
        links: recorder.links(),
        frames: Frames::Recorded(recorder),
        contexts,
        retries: Vec::new(),
        cut_off: None,
    })
}
