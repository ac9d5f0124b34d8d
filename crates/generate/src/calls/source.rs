//! The calls of one subject, in order: plain ones, then bounds, invalid and hostile values in turn, then random ones.

use std::collections::{HashSet, VecDeque};

use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    bounds::{at_bounds, pairs, together},
    call::{Call, Case, Kind},
    planned::{Planned, alternately, planned, wrong_call},
};
use crate::{
    pool::Pool,
    subject::{Subject, What},
    values::{
        hostile::hostile,
        invalid::{at_spot, told, violates},
        schema::{Root, places},
        spots::spots,
        texts,
        valid::{Fill, Maker},
    },
};
use conform_suite::foreign::{Checker, flaws_in_all};

/// Maximum number of random values until one fits.
const DRAWS: usize = 40;
/// Maximum number of places whose bounds are tested.
const PLACES: usize = 60;
/// Maximum number of calls that are prepared in advance.
const PLANNED: usize = 3_000;

/// Valid arguments drawn to reach each part of a schema.
const BASES: usize = 24;
/// Calls that near misses, valid borders and hostile values get of each six.
const SHARES: [usize; 3] = [3, 2, 1];

/// A call is repeated after this many others.
const LATER: usize = 3;

/// Makes the calls of one subject.
pub struct Source {
    pub subject: Subject,
    checker: Option<Checker>,
    rng: Rng,
    planned: VecDeque<Call>,
    seen: HashSet<String>,
    repeated: HashSet<String>,
    drawn: usize,
    plainest: Option<Value>,
    /// Values that could not be generated, with their place.
    pub notes: Vec<String>,
    /// Keywords of the schema that a call was generated for.
    pub covered: HashSet<String>,
    /// What calls covered, and what the planned ones would cover.
    pub cases: HashSet<Case>,
    wanted: HashSet<Case>,
}

/// The sources of subjects of one kind, each with its place among all.
pub fn of_kind(sources: &[Source], what: What) -> impl Iterator<Item = (usize, &Source)> {
    sources.iter().enumerate().filter(move |(_, source)| source.subject.what == what)
}

impl Source {
    pub fn new(subject: Subject, seed: u64, pool: &Pool) -> Self {
        // Each subject has its own random sequence, independent of the rest of the list.
        let own = subject
            .name
            .bytes()
            .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let mut source = Self {
            checker: Checker::new(&subject.schema),
            subject,
            rng: Rng::with_seed(own),
            planned: VecDeque::new(),
            seen: HashSet::new(),
            repeated: HashSet::new(),
            drawn: 0,
            plainest: None,
            notes: Vec::new(),
            covered: HashSet::new(),
            cases: HashSet::new(),
            wanted: HashSet::new(),
        };
        source.plan(pool);
        source
    }

    fn plan(&mut self, pool: &Pool) {
        let name = &self.subject.name;
        if self.checker.is_none() {
            let flaws = flaws_in_all(&self.subject.schema).unwrap_or_default();
            let place = flaws.first().map_or_else(
                || "a `$schema` that is unknown, a reference that leads nowhere, or too many alternatives".to_owned(),
                |flaw| format!("`inputSchema{}` {}", flaw.pointer.replace('/', "."), flaw.message),
            );
            self.notes.push(format!("{name}: no call was generated, because its schema cannot be used: {place}"));
            return;
        }
        let least = self.draw(Fill::Least, pool);
        let all = self.draw(Fill::All, pool).or_else(|| self.draw(Fill::Some, pool));
        let Some(full) = all.or_else(|| least.clone()) else {
            let attempt = self.attempt(Fill::Least, pool).unwrap_or(json!({}));
            let broken = self.checker.as_ref().and_then(|checker| checker.broken(&attempt)).unwrap_or_default();
            let place = broken.first().map_or_else(|| "nothing was found that fits".to_owned(), told);
            self.notes.push(format!("{}: no valid arguments could be generated: {place}", self.subject.name));
            return;
        };
        self.plainest = Some(full.clone());
        self.planned.extend(least.iter().chain([&full]).map(|arguments| Call::plain(arguments.clone())));
        let schema = self.subject.schema.clone();
        let mut bases: Vec<Value> = [Some(full.clone()), least].into_iter().flatten().collect();
        let fills = [Fill::All, Fill::Some, Fill::All].into_iter().cycle();
        bases.extend(fills.take(BASES).filter_map(|fill| self.draw(fill, pool)));
        let mut found = Planned::default();
        if let Some(checker) = self.checker.clone().filter(|_| self.subject.what.has_schema()) {
            found = planned(Root(&schema), &bases, &checker, &mut self.rng);
        }
        self.wanted = found.wrong.iter().chain(&found.edges).filter_map(|call| call.case.clone()).collect();
        let mut odd = self.odd(&full);
        let first = Self::sort_odd(&mut odd);
        self.rng.shuffle(&mut odd[first..]);
        let (mut bounds, singles) = self.bounds(&full, pool);
        // Pairs of bounds come last.
        let pairs = bounds.split_off(singles);
        let valid = alternately(bounds, found.edges).into_iter().chain(pairs);
        let mut turns = [found.wrong.into(), valid.collect(), odd.into()];
        while turns.iter().any(|turn: &VecDeque<Call>| !turn.is_empty()) && self.planned.len() < PLANNED {
            for (turn, share) in turns.iter_mut().zip(SHARES) {
                let share = turn.len().min(share);
                self.planned.extend(turn.drain(..share));
            }
        }
    }

    /// Moves the most effective values to the front, of each place in turn; returns how many those are.
    fn sort_odd(odd: &mut [Call]) -> usize {
        let known: Vec<&str> = texts::hostile().into_iter().take(texts::FIRST).map(|(what, _)| what).collect();
        let rank = |call: &Call| known.iter().position(|what| *what == call.why).unwrap_or(known.len());
        odd.sort_by_key(rank);
        odd.iter().take_while(|call| rank(call) < known.len()).count()
    }

    /// Calls that failed in an earlier run come first.
    pub fn first(&mut self, call: Call) {
        self.planned.push_front(call);
    }

    /// Repeats a call a little later.
    pub fn again(&mut self, call: Call) {
        if self.repeated.insert(call.key()) {
            self.seen.remove(&call.key());
            self.planned.insert(self.planned.len().min(LATER), call);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.planned.is_empty() && self.seen.is_empty()
    }

    /// The next call; `None` if there are no more.
    pub fn next(&mut self, pool: &Pool) -> Option<Call> {
        while let Some(call) = self.planned.pop_front() {
            let is_new = self.seen.insert(call.key());
            // A call with the same arguments covers the case too.
            self.cover(&call);
            if is_new {
                return Some(call);
            }
        }
        if self.seen.is_empty() {
            return None;
        }
        // Repeating the same few values would show nothing new.
        for _ in 0..DRAWS {
            self.drawn += 1;
            let fill = [Fill::Some, Fill::All, Fill::Some, Fill::Least][self.drawn % 4];
            let valid = self.draw(fill, pool)?;
            let mut calls = match self.drawn % 4 {
                1 => self.wrong(&valid),
                3 => self.odd(&valid),
                _ => vec![Call::plain(valid)],
            };
            if calls.is_empty() {
                continue;
            }
            let call = calls.swap_remove(self.rng.usize(..calls.len()));
            if self.seen.insert(call.key()) {
                self.cover(&call);
                return Some(call);
            }
        }
        None
    }

    /// What was planned, and not covered by a call; `None` if nothing could be planned.
    pub fn missing(&self) -> Vec<&Case> {
        let mut missing: Vec<&Case> = self.wanted.difference(&self.cases).collect();
        missing.sort();
        missing
    }

    fn cover(&mut self, call: &Call) {
        self.cases.extend(call.case.clone());
        if call.kind != Kind::Hostile && !call.keyword.is_empty() {
            self.covered.insert(call.keyword.clone());
        }
    }

    fn attempt(&mut self, fill: Fill, pool: &Pool) -> Option<Value> {
        Maker::new(Root(&self.subject.schema), &mut self.rng, pool, fill).value(&self.subject.schema)
    }

    fn draw(&mut self, fill: Fill, pool: &Pool) -> Option<Value> {
        (0..DRAWS).find_map(|_| {
            let value = self.attempt(fill, pool).filter(Value::is_object)?;
            (self.checker.as_ref()?.holds(&value) == Some(true)).then_some(value)
        })
    }

    /// The valid arguments with one value at a bound, then with two. The number is that of the former.
    fn bounds(&mut self, full: &Value, pool: &Pool) -> (Vec<Call>, usize) {
        let schema = self.subject.schema.clone();
        let root = Root(&schema);
        let Some(checker) = self.checker.clone() else { return (Vec::new(), 0) };
        let mut found = Vec::new();
        for (pointer, name, flat) in places(root, &schema, full, PLACES) {
            let bounds = Maker::new(root, &mut self.rng, pool, Fill::Least).bounds(&flat, &name);
            for bound in bounds {
                let with = |value: Value| {
                    let mut arguments = full.clone();
                    *arguments.pointer_mut(&pointer)? = value;
                    (arguments.is_object() && checker.holds(&arguments) == Some(true)).then_some(arguments)
                };
                let Some(arguments) = with(bound.value.clone()) else { continue };
                let inside = bound.inside.and_then(with);
                found.push(Call {
                    arguments,
                    kind: Kind::Valid,
                    keyword: bound.keyword.to_owned(),
                    at: pointer.clone(),
                    inside,
                    ..Call::plain(Value::Null)
                });
            }
            // Each optional field can be omitted.
            let Some(members) = full.pointer(&pointer).and_then(Value::as_object) else { continue };
            let required = flat.get("required").and_then(Value::as_array);
            for name in members.keys().filter(|name| required.is_none_or(|required| !required.contains(&json!(name)))) {
                let mut fewer = members.clone();
                fewer.shift_remove(name);
                let mut arguments = full.clone();
                if let Some(place) = arguments.pointer_mut(&pointer) {
                    *place = fewer.into();
                }
                if checker.holds(&arguments) == Some(true) {
                    let (keyword, at) = ("required".to_owned(), pointer.clone());
                    found.push(Call { keyword, at, ..Call::plain(arguments) });
                }
            }
        }
        let places = at_bounds(&found);
        let (mut all, pairs) = (together(full, &places, &checker), pairs(full, &places, &checker));
        all.extend(found);
        let singles = all.len();
        all.extend(pairs);
        (all, singles)
    }

    /// Near misses of one place, drawn at random.
    fn wrong(&mut self, valid: &Value) -> Vec<Call> {
        let Some(checker) = self.checker.clone().filter(|_| self.subject.what.has_schema()) else { return Vec::new() };
        let schema = self.subject.schema.clone();
        let all = spots(Root(&schema), valid);
        if all.is_empty() {
            return Vec::new();
        }
        let spot = &all[self.rng.usize(..all.len())];
        at_spot(Root(&schema), spot, valid, &checker).into_iter().map(|one| wrong_call(one, spot)).collect()
    }

    fn odd(&self, valid: &Value) -> Vec<Call> {
        let Some(checker) = &self.checker else { return Vec::new() };
        let schema = &self.subject.schema;
        let odd = hostile(Root(schema), schema, valid, checker).into_iter();
        odd.map(|one| Call {
            arguments: one.arguments,
            kind: Kind::Hostile,
            at: one.at,
            why: one.what,
            ..Call::plain(Value::Null)
        })
        .collect()
    }

    /// Valid arguments: plain values, with all optional fields.
    pub fn plainest(&self) -> Option<Value> {
        self.plainest.clone()
    }

    /// Whether a call with other arguments has the same kind.
    pub fn is_like(&self, call: &Call, arguments: &Value) -> bool {
        let Some(checker) = self.checker.as_ref().filter(|_| arguments.is_object()) else { return false };
        match call.kind {
            Kind::Valid | Kind::Hostile => checker.holds(arguments) == Some(true),
            Kind::Invalid => checker.broken(arguments).is_some_and(|broken| violates(&broken, &call.keyword).is_some()),
        }
    }

    /// The call with other arguments, and a new description of what is wrong with them.
    pub fn like(&self, call: &Call, arguments: Value) -> Call {
        let broken =
            self.checker.as_ref().filter(|_| call.kind == Kind::Invalid).and_then(|checker| checker.broken(&arguments));
        let only = broken.as_deref().and_then(|broken| broken.first());
        let (at, why) = only
            .map_or_else(|| (call.at.clone(), call.why.clone()), |only| (only.violation.pointer.clone(), told(only)));
        Call { arguments, at, why, ..call.clone() }
    }

    /// A call with these arguments: whether they are valid, or what is wrong with them.
    pub fn of(&self, arguments: Value, hostile: bool) -> Option<Call> {
        let broken = self.checker.as_ref()?.broken(&arguments)?;
        Some(match broken.first() {
            None => Call { kind: if hostile { Kind::Hostile } else { Kind::Valid }, ..Call::plain(arguments) },
            Some(first) => Call {
                kind: Kind::Invalid,
                keyword: first.keyword.clone(),
                at: first.violation.pointer.clone(),
                why: told(first),
                ..Call::plain(arguments)
            },
        })
    }
}
