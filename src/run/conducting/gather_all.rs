//! Follows the schedule: measures what the server can do, has the schedule made for that, and gathers stage by stage.

use futures_util::future::join;

use super::{
    capacity::Capacity,
    clients,
    executor::{Lanes, OpenLane},
    gathered::Gathered,
    schedule::{self, Lane, Schedule, Slot, Stage},
    suite_effects::{asks, takes_two},
};
use crate::{
    evidence::RunContext,
    session::Conversation,
    suite::{Client, Connection, Suite},
};

/// Gathers for the suites; `first` is the connection of the survey. What was gathered comes in the order of the suites.
pub async fn gather_all<'a>(
    lanes: &Lanes<'a>,
    suites: &[&'a Suite],
    scene: &RunContext,
    first: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    let mut measured = Measured::of(lanes, suites, scene, first.as_ref()).await;
    let (reading, mut others) = schedule::reading(suites, scene, measured.capacity);
    let second = measured.second.take();
    let mut followed = Followed { lanes, scene, survey: first, second, noted: false, clients: Vec::new() };
    let mut all = followed.stage(reading).await;
    measured.second = followed.second.take();
    measured.capacity.second = measured.second.is_some();
    let probed = measured.second_of_process(lanes, &others, suites, scene, followed.survey.as_ref()).await;
    if measured.may_wait_together(lanes, scene) {
        let (waiting, without) = schedule::waiting(&others, scene);
        if are_several(&waiting) && measured.many_wait(lanes, scene, followed.survey.as_ref()).await {
            followed.second = measured.second.take();
            all.extend(followed.stage(waiting).await);
            others = without;
        }
    }
    followed.second = measured.second.take();
    // Further starts may have been quicker than the first.
    measured.capacity.connects_quickly = lanes.connects_quickly();
    others.retain(|suite| probed.as_ref().is_none_or(|probed| probed.suite.id != suite.id));
    let Schedule { meanwhile, stages } = schedule::rest(&others, scene, measured.capacity);
    all.extend(followed.all(meanwhile, stages).await);
    all.extend(probed);
    all.sort_by_key(|gathered| suites.iter().position(|suite| suite.id == gathered.suite.id));
    all
}

/// What was measured, with the connection that showed it.
pub struct Measured {
    pub capacity: Capacity,
    pub second: Option<Conversation>,
}

impl Measured {
    pub async fn of(lanes: &Lanes<'_>, suites: &[&Suite], scene: &RunContext, first: Option<&Conversation>) -> Self {
        let able = scene.transport.capabilities();
        let connects_quickly = lanes.connects_quickly();
        let (mut gains, mut second) = (false, None);
        if let Some(first) = first {
            let takes_two = suites.iter().any(|suite| takes_two(suite, scene));
            gains = (able.process && takes_two && connects_quickly)
                || (able.stream_per_request && lanes.gains_from_concurrency(first).await);
            if gains {
                let many = !able.stream_per_request || lanes.serves_many(scene.revision).await;
                // This also replaces the first session if the others have ended it.
                second = lanes.second(first, scene.revision).await;
                if !many {
                    lanes.close(second.take(), false).await;
                }
            }
        }
        Self { capacity: Capacity { connects_quickly, concurrent: gains, second: second.is_some() }, second }
    }

    /// Opens a second process, unless what came of a suite shows that the server serves one.
    async fn second_of_process<'a>(
        &mut self,
        lanes: &Lanes<'a>,
        others: &[&'a Suite],
        suites: &[&'a Suite],
        scene: &RunContext,
        first: Option<&Conversation>,
    ) -> Option<Gathered<'a>> {
        let first = first.filter(|_| self.may_need_second(lanes, suites, scene))?;
        self.capacity.connects_quickly = lanes.connects_quickly();
        let mut probed = None;
        if let Some(suite) = probing(others, scene, self.capacity) {
            probed = lanes.probe(first, suite, scene).await;
        }
        if probed.is_none() {
            self.second = lanes.second(first, scene.revision).await;
        }
        self.capacity.second = probed.is_some() || self.second.is_some();
        probed
    }

    /// Whether a second process would be of use, and none is there.
    fn may_need_second(&self, lanes: &Lanes, suites: &[&Suite], scene: &RunContext) -> bool {
        scene.transport.capabilities().process
            && !self.capacity.second
            && !lanes.opener.is_single()
            && suites.iter().any(|suite| takes_two(suite, scene))
    }

    /// As above, without gathering for any suite.
    pub async fn second_only(
        &mut self,
        lanes: &Lanes<'_>,
        suites: &[&Suite],
        scene: &RunContext,
        first: Option<&Conversation>,
    ) {
        if let Some(first) = first.filter(|_| self.may_need_second(lanes, suites, scene)) {
            self.second = lanes.second(first, scene.revision).await;
            self.capacity.second = self.second.is_some();
        }
        self.capacity.connects_quickly = lanes.connects_quickly();
    }

    pub fn may_wait_together(&self, lanes: &Lanes, scene: &RunContext) -> bool {
        scene.transport.capabilities().stream_per_request && !self.capacity.concurrent && lanes.may_be_concurrent()
    }

    /// Whether as many connections as lanes are served while suites wait.
    pub async fn many_wait(&mut self, lanes: &Lanes<'_>, scene: &RunContext, first: Option<&Conversation>) -> bool {
        let Some(first) = first else { return false };
        self.second = lanes.second(first, scene.revision).await;
        let many = self.second.is_some() && lanes.serves_many(scene.revision).await;
        if !many {
            lanes.close(self.second.take(), false).await;
        }
        many
    }
}

/// Whether there is more than one suite in a stage.
pub fn are_several(stage: &Stage) -> bool {
    stage.lanes.iter().map(|lane| lane.suites.len()).sum::<usize>() > 1
}

/// A suite of which the process shows whether the server serves one beside the first, where a second conversation would be
/// of no other use.
fn probing<'a>(suites: &[&'a Suite], scene: &RunContext, capacity: Capacity) -> Option<&'a Suite> {
    let mut asking = suites.iter().copied().filter(|suite| asks(suite, scene));
    let wants_it = |suite: &Suite| matches!(suite.connection, Connection::Fresh | Connection::Last);
    let is_of_use = capacity.connects_quickly || asking.clone().any(wants_it);
    asking.find(|suite| !is_of_use && suite.connection == Connection::Alone)
}

/// How far a schedule was followed.
struct Followed<'l, 'a> {
    lanes: &'l Lanes<'a>,
    scene: &'l RunContext,
    survey: Option<Conversation>,
    second: Option<Conversation>,
    /// Whether the end of a connection was noted: it is of one in a run.
    noted: bool,
    /// The other clients whose suites were gathered.
    clients: Vec<Client>,
}

impl<'a> Followed<'_, 'a> {
    async fn all(&mut self, meanwhile: Stage<'a>, stages: Vec<Stage<'a>>) -> Vec<Gathered<'a>> {
        let (lanes, scene) = (self.lanes, self.scene);
        let open: Vec<_> = meanwhile.lanes.into_iter().map(|lane| OpenLane { lane, shared: None }).collect();
        let waiting = Box::pin(async {
            if open.is_empty() { Default::default() } else { lanes.side_by_side(open, scene).await }
        });
        let in_order = Box::pin(async {
            let mut all = Vec::new();
            let mut lost = Vec::new();
            for stage in stages {
                all.extend(self.stage_with(stage, &mut lost).await);
            }
            all
        });
        let ((mut all, lost), others) = join(waiting, in_order).await;
        all.extend(others);
        all.extend(again(lanes, lost, scene, None).await);
        all
    }

    async fn stage(&mut self, stage: Stage<'a>) -> Vec<Gathered<'a>> {
        self.stage_with(stage, &mut Vec::new()).await
    }

    /// Gathers in one stage. Suites that lost their connection stay in `lost` until a stage gathers them again.
    async fn stage_with(&mut self, stage: Stage<'a>, lost: &mut Vec<Gathered<'a>>) -> Vec<Gathered<'a>> {
        let (lanes, scene) = (self.lanes, self.scene);
        let mut planned = stage.lanes;
        if !stage.of_clients.is_empty() {
            let mut of_use = clients::others(&lanes.opener.recorder);
            of_use.retain(|client| !self.clients.contains(client));
            let of_clients = stage.of_clients.into_iter().filter(|suite| of_use.contains(&suite.client));
            planned.extend(of_clients.map(Lane::of_client));
            self.clients.extend(of_use);
        }
        let (mut survey, mut second) = (Some(&mut self.survey), Some(&mut self.second));
        let open = planned.into_iter().map(|lane| {
            let shared = match lane.on {
                Some(Slot::Survey) => survey.take(),
                Some(Slot::Second) => second.take(),
                None => None,
            };
            OpenLane { lane, shared }
        });
        let open = open.collect();
        let mut all = Vec::new();
        if stage.at_once {
            let (gathered, left) = lanes.side_by_side(open, scene).await;
            all.extend(gathered);
            lost.extend(left);
        } else {
            all.extend(lanes.one_by_one(open, scene).await);
        }
        for slot in stage.closes {
            let conversation = self.slot(slot).take();
            let noted = !self.noted;
            self.noted |= conversation.is_some();
            lanes.close(conversation, noted).await;
        }
        if stage.again && !lost.is_empty() {
            let freed = stage.frees.and_then(|slot| self.slot(slot).take());
            all.extend(again(lanes, std::mem::take(lost), scene, freed).await);
        }
        all
    }

    fn slot(&mut self, slot: Slot) -> &mut Option<Conversation> {
        match slot {
            Slot::Survey => &mut self.survey,
            Slot::Second => &mut self.second,
        }
    }
}

/// Once more for suites that found no connection, or lost it, now that nothing else is connected. Where the server did not
/// come back, it is told how it was lost, and nothing else is judged: several suites lost it, and one request can have ended it.
async fn again<'a>(
    lanes: &Lanes<'a>,
    before: Vec<Gathered<'a>>,
    scene: &RunContext,
    freed: Option<Conversation>,
) -> Vec<Gathered<'a>> {
    if before.is_empty() {
        return Vec::new();
    }
    lanes.close(freed, false).await;
    lanes.closed().await;
    let apart = |gathered: &Gathered<'a>| OpenLane { lane: Lane::again(gathered.suite), shared: None };
    let again = lanes.one_by_one(before.iter().map(apart).collect(), scene).await;
    let counts = |(before, again): (Gathered<'a>, Gathered<'a>)| {
        if again.unasked && !before.unasked { before.lost_for_good() } else { again }
    };
    before.into_iter().zip(again).map(counts).collect()
}
