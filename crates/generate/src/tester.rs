//! Makes the calls in turn, has them judged, and shrinks those that fail.

use std::collections::{HashMap, HashSet};

use super::{
    Caller, Clock, Generated, Settings, Share,
    calls::{Call, Source},
    counts::Counts,
    findings::{Findings, Made},
    growth::{self, Curves},
    item::Item,
    ledger::Ledger,
    listed::subjects,
    observe::{Observer, Usual},
    pool::{Pool, collect, harvest},
    program, prompts, sequences, sessions, state, templates,
    things::Things,
    together::{Accepted, together},
    turns::{Loss, Spent, turns},
};
use conform_model::evidence::{
    End, RunContext,
    generated::{GROWTH, GeneratedRun, SEQUENCES},
};
use conform_suite::plan::Plan;

/// A replayed call is preceded by up to this many others, until one has a response: they show the usual duration.
const USUAL: usize = 3;
/// Maximum number of names in a note.
const NAMED: usize = 5;
/// The number of calls that are judged together.
const BATCH: usize = 32;

pub struct Tester<'a> {
    settings: &'a Settings,
    clock: Clock<'a>,
    sources: Vec<Source>,
    pool: Pool,
    observer: Observer<'a>,
    findings: Findings<'a>,
    curves: Curves,
    counts: Counts,
    /// Calls that are not judged yet.
    batch: Vec<Made>,
    /// Accepted calls whose judgement depends on what the server rejects elsewhere.
    waiting: Vec<Made>,
    accepted: Accepted,
    things: Things,
    spent: Spent,
    /// Sources that make no more calls.
    exhausted: HashSet<usize>,
    last: Option<(usize, Call)>,
    made: usize,
    made_of: HashMap<usize, usize>,
    /// Why no more calls were made, though there were some.
    ended: Option<String>,
    notes: Vec<String>,
    cut_short: Option<String>,
}

impl<'a> Tester<'a> {
    pub fn new(caller: Caller, context: &'a RunContext, plan: &'a Plan<'a>, clock: Clock<'a>) -> Self {
        let settings = clock.settings;
        let mut pool = Pool::new();
        collect(&mut pool, &context.saves["survey"]["resources"]["items"], 3);
        let (subjects, mut notes) = subjects(context, settings);
        let sources = subjects.into_iter().map(|subject| Source::new(subject, settings.seed, &pool));
        let mut sources: Vec<Source> = sources.collect();
        notes.extend(sources.iter().flat_map(|source| source.notes.clone()));
        begin_with_stored(&mut sources, settings);
        Self {
            settings,
            clock,
            sources,
            pool,
            findings: Findings::new(plan, context, caller.another_record()),
            observer: Observer {
                caller,
                context,
                usual: Usual::default(),
                slow: HashSet::new(),
                made: 0,
                empty_completions: HashMap::new(),
                careful: settings.replay.is_some(),
                ledger: Ledger::default(),
                programs: settings.program.iter().cloned().chain(program::of_processes()).collect(),
            },
            curves: Curves::new(settings.calls),
            counts: Counts::default(),
            batch: Vec::new(),
            waiting: Vec::new(),
            made_of: HashMap::new(),
            ended: None,
            accepted: Accepted::default(),
            things: Things::new(),
            spent: Spent::default(),
            exhausted: HashSet::new(),
            last: None,
            made: 0,
            notes,
            cut_short: None,
        }
    }

    /// Makes other calls than the replayed one: only those show the usual duration.
    pub async fn learn_usual(&mut self) {
        let Some(source) = self.sources.first_mut() else { return };
        for _ in 0..USUAL {
            let Some(call) = source.next(&self.pool) else { break };
            let item = self.observer.observe(source, &call).await;
            if item.is_some_and(|item| matches!(item.end, End::Result | End::Error)) {
                break;
            }
        }
    }

    /// Tests tools that keep things, as long as nothing else has changed the state of the server.
    pub async fn keep_things(&mut self) {
        let Self { clock, observer, sources, findings, things, .. } = self;
        if clock.settings.replay.is_none() {
            let found = things.test(observer, sources, || clock.has_passed(Share::Third)).await;
            findings.relate(SEQUENCES, &found);
        }
    }

    /// Makes calls until a limit is reached or there are no more.
    pub async fn make_calls(&mut self, share: Share) {
        let wanted = self.settings.replay.as_ref().map_or(self.settings.calls, super::Stored::repeated);
        let mut turn = turns(&self.sources).into_iter().cycle();
        while self.exhausted.len() < self.sources.len() && self.cut_short.is_none() {
            if let Some(why) = self.enough(share) {
                self.ended = Some(why);
                break;
            }
            let Some(index) = turn.next() else { break };
            let others = self.exhausted.len() + 1 < self.sources.len();
            if (others && self.spent.is_turn_of_others(index)) || self.exhausted.contains(&index) {
                continue;
            }
            let made = self.made_of.entry(index).or_default();
            *made += 1;
            if *made > wanted {
                self.exhausted.insert(index);
                continue;
            }
            let source = &mut self.sources[index];
            let call = match &self.settings.replay {
                Some(stored) => stored.call(source),
                None => source.next(&self.pool),
            };
            let Some(call) = call else {
                self.exhausted.insert(index);
                continue;
            };
            self.make(index, call).await;
        }
        if share == Share::Most || self.settings.replay.is_some() {
            self.recall();
        }
        self.findings.judge(std::mem::take(&mut self.batch));
    }

    /// Judges what waited until it was known what the server rejects elsewhere.
    fn recall(&mut self) {
        for (index, call, mut item) in std::mem::take(&mut self.waiting) {
            item.seen.rejected_elsewhere = Some(self.observer.ledger.is_rejected_elsewhere(&call, &item.name));
            self.batch.push((index, call, item));
        }
    }

    /// What was not reached, in one note.
    fn note_missing(&mut self) {
        let Some(why) = self.ended.take() else { return };
        let missing = |source: &Source| (source.missing().len(), source.subject.name.clone());
        let mut all: Vec<(usize, String)> = self.sources.iter().map(missing).filter(|(count, _)| *count > 0).collect();
        all.sort_by(|one, other| other.cmp(one));
        let total: usize = all.iter().map(|(count, _)| count).sum();
        let named: Vec<String> = all.iter().take(NAMED).map(|(count, name)| format!("{name} ({count})")).collect();
        let more = if all.len() > NAMED { ", ..." } else { "" };
        let cases = match total {
            0 => "every planned kind of value was sent".to_owned(),
            _ => format!(
                "kinds of values that were not sent: {total}, of {}{more} (--verbose lists them)",
                named.join(", ")
            ),
        };
        self.notes.push(format!("{} calls were made {why}; {cases}", self.made));
    }

    /// Why no more calls are made, if so.
    fn enough(&self, share: Share) -> Option<String> {
        if (self.settings.interrupted)() {
            return Some("before the interruption".to_owned());
        }
        if self.clock.has_passed(share) {
            return Some("in the time given by --seconds".to_owned());
        }
        let full = self.findings.full().or_else(|| self.observer.caller.recorder().full());
        full.map(|full| format!("before {full}"))
    }

    async fn make(&mut self, index: usize, call: Call) {
        self.curves.look(self.made, &self.observer.caller);
        self.made += 1;
        let Some(item) = self.observe(index, &call).await else {
            let gone = self.observer.caller.gone.as_ref();
            self.cut_short = gone.map(|gone| format!("the server could not be started again: {gone}"));
            return;
        };
        self.counts.add(index, &item);
        self.spent.add(index, &item);
        let before = self.last.replace((index, call.clone()));
        let guilty = self.guilty(&item, before).await;
        self.note_loss(index, &call, &item, guilty.as_ref().map(|(before, ..)| *before));
        if let Some(guilty) = guilty {
            self.batch.push(guilty);
            return;
        }
        harvest(&mut self.pool, &item);
        self.accepted.add(index, &call, &item);
        if item.seen.rejected_elsewhere.is_some() {
            self.waiting.push((index, call, item));
        } else {
            self.batch.push((index, call, item));
        }
        if self.batch.len() >= BATCH {
            self.findings.judge(std::mem::take(&mut self.batch));
        }
    }

    /// A subject that hung once probably hangs again, so its calls get less time. The full timeout confirms a finding.
    async fn observe(&mut self, index: usize, call: &Call) -> Option<Item> {
        let (source, limit) = (&self.sources[index], self.observer.caller.limit);
        if self.spent.has_lost(index, Loss::Response) {
            self.observer.caller.limit = limit.min(self.observer.soon(&source.subject.name));
        }
        let item = self.observer.observe(source, call).await;
        self.observer.caller.limit = limit;
        item
    }

    /// Repeats the call before one that the process did not survive: some exit after their response. `None` if it
    /// survives.
    async fn guilty(&mut self, item: &Item, before: Option<(usize, Call)>) -> Option<Made> {
        let (index, call) = before.filter(|_| self.ended_by(item))?;
        let careful = std::mem::replace(&mut self.observer.careful, true);
        let item = self.observer.observe(&self.sources[index], &call).await;
        self.observer.careful = careful;
        item.filter(|item| item.seen.killed.is_some()).map(|item| (index, call, item))
    }

    /// Whether the process exited, which is tested for.
    fn ended_by(&self, item: &Item) -> bool {
        item.seen.killed.is_some() && self.settings.replay.is_none()
    }

    /// Counts what the call cost: a subject whose calls cost too much gets no more turns.
    fn note_loss(&mut self, index: usize, call: &Call, item: &Item, guilty: Option<usize>) {
        let mut lost = None;
        if item.end == End::Timeout {
            if item.seen.usual == Some(false) {
                // The usual duration may not be known yet.
                self.sources[index].again(call.clone());
            } else if item.seen.by_number == Some(false) {
                lost = Some((index, Loss::Response));
            }
        }
        if self.ended_by(item) {
            lost = Some((guilty.unwrap_or(index), Loss::Server));
        }
        if let Some((index, loss)) = lost
            && let Some(note) = self.spent.lose(index, loss, &self.sources[index].subject.name)
        {
            self.notes.push(note);
            self.exhausted.insert(index);
        }
    }

    /// Tests what only several calls show.
    pub async fn compare(&mut self) {
        let Self { clock, observer, sources, accepted, findings, things, .. } = self;
        let mut grown = self.curves.items();
        if self.settings.replay.is_none() {
            let over = || clock.is_over();
            grown.extend(growth::files(observer, sources, over).await);
            let mut compared = state::changes(observer, sources, accepted, over).await;
            compared.extend(sessions::mixed(observer, sources, over).await);
            compared.extend(together(observer, sources, accepted, over).await);
            compared.extend(templates::misread(observer, sources, over).await);
            compared.extend(templates::stale(observer, sources, over).await);
            compared.extend(templates::offered(observer, sources, over).await);
            compared.extend(prompts::lost(observer, sources, over).await);
            for (item, call, index) in compared {
                findings.judge(vec![(index, call, item)]);
            }
            findings.relate(SEQUENCES, &sequences::sequences(observer, sources, over).await);
            findings.relate(SEQUENCES, &things.test(observer, sources, over).await);
        }
        findings.relate(GROWTH, &grown);
    }

    /// Shrinks the failing calls, closes the connection, and completes the record.
    pub async fn finish(mut self) -> Generated {
        self.note_missing();
        Box::pin(self.findings.shrink(&mut self.observer, &self.sources, self.clock.end())).await;
        self.observer.caller.close().await;
        self.findings.move_to(self.observer.caller.recorder());
        let (note, further) = self.findings.unshown();
        self.notes.extend(note);
        let Settings { calls, seed, only, call_tools, .. } = self.settings;
        self.notes.push(format!("seed {seed}: the same seed makes the same calls"));
        let counts = self.counts.all(&self.sources);
        let run =
            GeneratedRun { calls: *calls, seed: *seed, only: only.clone(), call_tools: *call_tools, counts, further };
        Generated { run, notes: self.notes, cut_short: self.cut_short }
    }
}

/// Only the replayed call is made, or the calls that failed before are made first.
fn begin_with_stored(sources: &mut Vec<Source>, settings: &Settings) {
    if let Some(stored) = &settings.replay {
        return sources.retain(|source| stored.is_of(&source.subject));
    }
    for stored in settings.earlier.iter().rev() {
        let known = sources.iter_mut().find(|source| stored.is_of(&source.subject));
        if let Some(source) = known
            && let Some(call) = stored.call(source)
        {
            source.first(call);
        }
    }
}
