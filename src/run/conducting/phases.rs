//! Executes a phase of the schedule: its stages one after another, and meanwhile its other lanes.

use std::{
    future::pending,
    sync::{Arc, atomic::Ordering},
};

use futures_util::{StreamExt, future::join, stream};
use tokio::sync::watch;

use super::{
    capacity::Capacity,
    clients,
    executor::{Executor, Slots, Walked},
    gathered::Gathered,
    schedule::{Lane, Phase, Slot, Stage},
    stop::Incident,
    suite_effects::{Effect, effect},
};
use crate::{
    error::Error,
    evidence::RunContext,
    gather,
    suite::{Capabilities, Connection, Suite},
};

/// How many connections these phases surely open, besides those that are open already.
pub fn connections(phases: &[Phase<&Suite>], context: &RunContext) -> usize {
    let of_lane = |lane: &Lane<&Suite>| {
        let mut is_used = lane.on == Slot::Survey;
        let mut count = usize::from(lane.on == Slot::New && lane.suites[0].connection != Connection::PerCall);
        for suite in &lane.suites {
            let needs_unused = suite.connection == Connection::New;
            count += usize::from(needs_unused && is_used) + gather::connections(suite, context);
            is_used = !needs_unused;
        }
        count
    };
    let is_sure = |lane: &&Lane<&Suite>| lane.suites.iter().all(|suite| suite.capabilities.is_none());
    let stages = phases.iter().flat_map(|phase| &phase.stages).flat_map(|stage| &stage.lanes);
    stages.chain(phases.iter().flat_map(|phase| &phase.meanwhile)).filter(is_sure).map(of_lane).sum()
}

impl<'a> Executor<'a> {
    /// Gathers in the stages of a phase, and concurrently in its other lanes.
    pub(super) async fn phase(
        &self,
        Phase { stages, meanwhile }: Phase<&'a Suite>,
        context: &RunContext,
        slots: &Slots,
        capacity: Capacity,
    ) -> Vec<Gathered<'a>> {
        let none_meanwhile = watch::Sender::new(meanwhile.is_empty());
        let meanwhile = async {
            let stage = Stage { lanes: meanwhile, at_once: capacity.connections, crowded: true };
            let gathered =
                if stage.lanes.is_empty() { <_>::default() } else { self.stage(stage, context, slots, capacity).await };
            none_meanwhile.send_replace(true);
            gathered
        };
        let following = async {
            let mut all = Vec::new();
            for stage in stages {
                let (gathered, lost) = self.stage(stage, context, slots, capacity).await;
                all.extend(gathered);
                if !lost.is_empty() {
                    let _ = none_meanwhile.subscribe().wait_for(|none| *none).await;
                    all.extend(self.again(lost, context, slots, capacity).await);
                }
                self.stop_if_seen_failing(context);
            }
            self.stages_are_over.send_replace(true);
            all
        };
        let (mut all, (gathered, lost)) = join(following, meanwhile).await;
        all.extend(gathered);
        if !lost.is_empty() {
            all.extend(self.again(lost, context, slots, capacity).await);
        }
        self.stop_if_seen_failing(context);
        let is_of_use = clients::of_use(&self.opener.recorder).contains(&Capabilities::Full);
        all.retain(|gathered| is_of_use || effect(gathered.suite, context) != Effect::Observes);
        all
    }

    /// Returns when all other suites are finished and the server has sent no requests to its client.
    pub(super) async fn has_nothing_to_observe(&self) {
        let _ = self.stages_are_over.subscribe().wait_for(|over| *over).await;
        if clients::of_use(&self.opener.recorder).contains(&Capabilities::Full) {
            pending::<()>().await;
        }
    }

    /// Stops processes that were started ahead and not used.
    pub(super) fn end_unused(&self) {
        let known = Arc::clone(&self.opener.known);
        self.endings.spawn(async move {
            known.ahead.end().await;
            None
        });
    }

    /// Gathers in the lanes of a stage. The second result are suites that ran concurrently with others and found no
    /// connection or lost it. They may succeed when nothing else is connected.
    async fn stage(
        &self,
        stage: Stage<&'a Suite>,
        context: &RunContext,
        slots: &Slots,
        capacity: Capacity,
    ) -> (Vec<Gathered<'a>>, Vec<Gathered<'a>>) {
        let of_use = clients::of_use(&self.opener.recorder);
        // Whether it is of use to observe the server shows while that is done.
        let is_of_use = |suite: &Suite| {
            effect(suite, context) == Effect::Observes
                || suite.capabilities.is_none_or(|client| of_use.contains(&client))
        };
        let lanes = stage.lanes.into_iter().filter(|lane| lane.suites.iter().all(|suite| is_of_use(suite)));
        let (shared, known, crowded) = (context.transport.capabilities().shared, &self.opener.known, stage.crowded);
        let (missed, before, hangs) =
            (known.unanswered.count(), known.unanswered.by_suite(), known.hangs.load(Ordering::Relaxed));
        let walked = lanes.map(|lane| self.walk(lane, context, slots, capacity, crowded));
        let walked: Vec<Walked> = stream::iter(walked).buffer_unordered(stage.at_once).collect().await;
        // The server may have crashed on the request of any suite, or because there were too many. Running each suite
        // alone shows which.
        let since = known.unanswered.by_suite();
        let is_lost = |gathered: &Gathered| {
            let missed = since.get(&gathered.suite.id) > before.get(&gathered.suite.id);
            crowded && (gathered.lost || (shared && (gathered.was_cut_off() || missed)))
        };
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        for Walked { gathered, unopened } in walked {
            let (again, gathered): (Vec<_>, Vec<_>) = gathered.into_iter().partition(is_lost);
            all.extend(gathered);
            lost.extend(again);
            let unopened = unopened.into_iter();
            if crowded {
                let why = |error: &Error| self.stop.why().unwrap_or_else(|| Incident::Lost(error.came()));
                lost.extend(unopened.map(|(suite, error)| Gathered::nothing(suite, why(&error))));
            } else {
                all.extend(unopened.map(|(suite, error)| self.unreachable(suite, &error)));
            }
        }
        if crowded && shared {
            let again: Vec<&str> = lost.iter().map(|gathered| gathered.suite.id.as_str()).collect();
            known.reset_for_repeat(missed, hangs, &again);
            for suite in &again {
                self.opener.recorder.asked_again(suite);
            }
        }
        (all, lost)
    }

    /// Repeats suites that found no connection or lost it, now that nothing else is connected. If the server did not
    /// recover, only its loss is reported, and nothing else is judged: several suites lost it, but one request may have
    /// caused that.
    async fn again(
        &self,
        lost: Vec<Gathered<'a>>,
        context: &RunContext,
        slots: &Slots,
        capacity: Capacity,
    ) -> Vec<Gathered<'a>> {
        for slot in slots {
            self.close(slot.lock().await.take(), false).await;
        }
        self.end_unused();
        self.endings.wait().await;
        let lane = |suite| Lane { suites: vec![suite], on: Slot::New, why: "it lost its connection", turn: None };
        let lanes = lost.iter().map(|gathered| lane(gathered.suite)).collect();
        let (again, _) = self.stage(Stage { lanes, at_once: 1, crowded: false }, context, slots, capacity).await;
        let counts = |(before, again): (Gathered<'a>, Gathered<'a>)| {
            if again.unasked && !before.unasked { before.lost_for_good() } else { again }
        };
        lost.into_iter().zip(again).map(counts).collect()
    }
}
