//! One run: gather what the suites ask for in each revision to be tested, judge it, and report.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use super::{clients, handshake_failure, revision_run::Course, run_context::describe};
use crate::{
    error::Error,
    evidence::{Frame, Link, Recorder, RunContext},
    judge::judge,
    outcome::RunReport,
    plan::{Filter, plan},
    revision::Revision,
    run::{
        assembly::{
            given_up, reached::reached, resource_graph, shown::show_frames, timeline::timeline, verdict::sum_up,
        },
        inputs::job::{Job, Revisions},
    },
    session::{Opener, Wish},
    suite::Suite,
};

/// A run that is over: the report, and the evidence it rests on.
pub struct Conducted {
    pub report: RunReport,
    pub recorder: Recorder,
    pub scenes: Vec<RunContext>,
}

/// The schedule of each revision to be tested, in words.
pub async fn schedule(job: &Job, suites: &[Suite], filter: &Filter, recorder: Recorder) -> Result<String, Error> {
    let mut course = Course::new(job, suites, filter, opener(job, recorder));
    let wishes = match job.revisions {
        Revisions::Auto => vec![Wish::Newest],
        Revisions::One(revision) => vec![Wish::Exactly(revision)],
        Revisions::All => Revision::ALL.map(Wish::Exactly).to_vec(),
    };
    let (mut all, mut failure) = (Vec::new(), None);
    for wish in wishes {
        match course.planned(wish).await {
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

pub async fn conduct(job: &Job, suites: &[Suite], filter: &Filter, recorder: Recorder) -> Result<Conducted, Error> {
    let began = Instant::now();
    let mut course = Course::new(job, suites, filter, opener(job, recorder.clone()));
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let opened = match job.revisions {
        Revisions::Auto => course.revision(Wish::Newest).await,
        Revisions::One(revision) => course.revision(Wish::Exactly(revision)).await,
        Revisions::All => course.every_revision().await,
    };
    let failure = match opened {
        Ok(()) => None,
        Err(unopened) => Some(course.fall_back(unopened).await?),
    };
    let Course { mut notes, mishaps, heard, scenes, cut_short, .. } = course;
    notes.extend(mishaps.notes());
    let (mut rules, links) = (Vec::new(), recorder.links());
    for scene in &scenes {
        let spoken = |link: &Link| link.revision == Some(scene.revision);
        let ours: HashSet<u32> = links.iter().filter(|link| spoken(link)).map(|link| link.link).collect();
        let frames = recorder.frames_where(move |link, _| ours.contains(&link));
        rules.extend(judge(&plan(suites, scene, filter), scene, &links, frames));
    }
    rules.retain(|rule| filter.shows(&rule.id));
    given_up::explain(&mut rules, &scenes, suites);
    if !heard {
        handshake_failure::explain(&mut rules);
    }
    show_frames(&mut rules, recorder.frames(), job.limits.evidence_frames);
    let target = describe(&job.target, &scenes);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let report = sum_up(target, rules, notes, cut_short, started, ms, job.strict);
    let unread = recorder.unread();
    let report = RunReport { limits: reached(unread, &scenes, suites), ..report };
    let report = match failure {
        Some(error) => handshake_failure::conclude(error, report)?,
        None => report,
    };
    Ok(Conducted { report, recorder, scenes })
}

/// Adds what some reports show besides verdicts.
pub fn illustrate(
    report: &mut RunReport,
    suites: &[Suite],
    scenes: &[RunContext],
    frames: impl Iterator<Item = Arc<Frame>>,
) {
    (report.timeline, report.timeline_left_out) = timeline(frames);
    report.graph = scenes.last().and_then(|scene| resource_graph::graph(scene, suites));
}
