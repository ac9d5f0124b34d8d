//! The calls of one subject, in order: plain ones, then bounds, invalid and hostile values in turn, then random ones.

use std::collections::{HashSet, VecDeque};

use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    bounds::{at_bounds, pairs, together},
    call::{Call, Kind},
};
use crate::{
    pool::Pool,
    subject::{Subject, What},
    values::{
        hostile::hostile,
        invalid::{invalid, told, violates},
        schema::{Root, places},
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
        let mut turns = [self.bounds(&full, pool), self.wrong(&full), self.odd(&full)];
        let first = Self::sort_odd(&mut turns[2]);
        self.rng.shuffle(&mut turns[2][first..]);
        let mut turns = turns.map(VecDeque::from);
        while turns.iter().any(|turn| !turn.is_empty()) && self.planned.len() < PLANNED {
            for turn in &mut turns {
                self.planned.extend(turn.pop_front());
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
            if self.seen.insert(call.key()) {
                self.cover(&call);
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

    fn cover(&mut self, call: &Call) {
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

    /// The valid arguments with one value at a bound.
    fn bounds(&mut self, full: &Value, pool: &Pool) -> Vec<Call> {
        let schema = self.subject.schema.clone();
        let root = Root(&schema);
        let Some(checker) = self.checker.clone() else { return Vec::new() };
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
                    why: String::new(),
                    inside,
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
        all.extend(pairs);
        all
    }

    fn wrong(&self, valid: &Value) -> Vec<Call> {
        let Some(checker) = &self.checker else { return Vec::new() };
        if matches!(self.subject.what, What::Template | What::Completion | What::List) {
            return Vec::new();
        }
        let schema = &self.subject.schema;
        let wrong = invalid(Root(schema), schema, valid, checker).into_iter();
        wrong
            .map(|one| Call {
                arguments: one.arguments,
                kind: Kind::Invalid,
                keyword: one.keyword,
                at: one.at,
                why: one.why,
                inside: None,
            })
            .collect()
    }

    fn odd(&self, valid: &Value) -> Vec<Call> {
        let Some(checker) = &self.checker else { return Vec::new() };
        let schema = &self.subject.schema;
        let odd = hostile(Root(schema), schema, valid, checker).into_iter();
        odd.map(|one| Call {
            arguments: one.arguments,
            kind: Kind::Hostile,
            keyword: String::new(),
            at: one.at,
            why: one.what,
            inside: None,
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
