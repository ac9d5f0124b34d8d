//! The calls of one subject, in order: plain ones, then bounds, invalid and hostile values in turn, then random ones.

use std::collections::{HashSet, VecDeque};

use fastrand::Rng;
use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
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
use crate::suite::foreign::{Checker, flaws_in_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Valid,
    Invalid,
    Hostile,
}

impl Kind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Hostile => "hostile",
        }
    }

    pub fn named(word: &str) -> Option<Self> {
        [Self::Valid, Self::Invalid, Self::Hostile].into_iter().find(|kind| kind.word() == word)
    }
}

/// Arguments, and why they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub arguments: Value,
    pub kind: Kind,
    /// The keyword whose bound is tested or that is violated.
    pub keyword: String,
    /// The JSON pointer in the arguments.
    pub at: String,
    /// The hostile or invalid part, as part of a sentence.
    pub why: String,
    /// The same arguments with a value inside the bound.
    pub inside: Option<Value>,
}

/// Maximum number of random values until one fits.
const DRAWS: usize = 40;
/// Maximum number of places whose bounds are tested.
const PLACES: usize = 60;
/// Maximum number of pairs of bounds.
const PAIRS: usize = 300;
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
        self.planned.extend(least.iter().chain([&full]).map(|arguments| plain(arguments.clone())));
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
        if self.repeated.insert(key(&call)) {
            self.seen.remove(&key(&call));
            self.planned.insert(self.planned.len().min(LATER), call);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.planned.is_empty() && self.seen.is_empty()
    }

    /// The next call; `None` if there are no more.
    pub fn next(&mut self, pool: &Pool) -> Option<Call> {
        while let Some(call) = self.planned.pop_front() {
            if self.seen.insert(key(&call)) {
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
                _ => vec![plain(valid)],
            };
            if calls.is_empty() {
                continue;
            }
            let call = calls.swap_remove(self.rng.usize(..calls.len()));
            if self.seen.insert(key(&call)) {
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
                    found.push(Call { keyword, at, ..plain(arguments) });
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
            None => Call { kind: if hostile { Kind::Hostile } else { Kind::Valid }, ..plain(arguments) },
            Some(first) => Call {
                kind: Kind::Invalid,
                keyword: first.keyword.clone(),
                at: first.violation.pointer.clone(),
                why: told(first),
                ..plain(arguments)
            },
        })
    }
}

/// The values at the bounds of each place.
type Places<'a> = IndexMap<&'a str, Vec<&'a Value>>;

fn at_bounds(found: &[Call]) -> Places<'_> {
    let mut places = Places::new();
    for call in found.iter().filter(|call| call.keyword != "required") {
        places.entry(&call.at).or_default().extend(call.arguments.pointer(&call.at));
    }
    places
}

/// The arguments with these values in place of their own, if they are still valid.
fn with_values<'a>(
    full: &Value,
    values: impl IntoIterator<Item = (&'a str, &'a Value)>,
    checker: &Checker,
) -> Option<Call> {
    let mut arguments = full.clone();
    for (pointer, value) in values {
        if let Some(place) = arguments.pointer_mut(pointer) {
            *place = value.clone();
        }
    }
    (checker.holds(&arguments) == Some(true)).then(|| plain(arguments))
}

/// All places at their first bound, then all at their second, and so on: a failure is shrunk. Each single bound comes
/// later, and is compared with the value inside it.
fn together(full: &Value, places: &Places, checker: &Checker) -> Vec<Call> {
    let most = places.values().map(Vec::len).max().unwrap_or_default();
    let nth_of_all = |nth: usize| {
        let values = places.iter().map(|(pointer, values)| (*pointer, values[nth % values.len()]));
        with_values(full, values, checker)
    };
    if places.len() < 2 { Vec::new() } else { (0..most).filter_map(nth_of_all).collect() }
}

/// Each value at a bound of one place with each value of another place: some mistakes need a certain unit and a large
/// number.
fn pairs(full: &Value, places: &Places, checker: &Checker) -> Vec<Call> {
    let mut calls = Vec::new();
    for (nr, (first, values)) in places.iter().enumerate() {
        for (second, others) in places.iter().skip(nr + 1) {
            let both =
                values.iter().flat_map(|value| others.iter().map(move |other| [(*first, *value), (*second, *other)]));
            calls.extend(both.filter_map(|both| with_values(full, both, checker)).take(PAIRS - calls.len()));
        }
    }
    calls
}

fn plain(arguments: Value) -> Call {
    Call { arguments, kind: Kind::Valid, keyword: String::new(), at: String::new(), why: String::new(), inside: None }
}

/// Identifies a call. A call at a bound is not the same as a plain call with the same arguments: only the call at the
/// bound is compared with values inside of it.
fn key(call: &Call) -> String {
    let inside = call.inside.as_ref().map(Value::to_string).unwrap_or_default();
    format!("{} {} {inside}", call.kind.word(), call.arguments)
}
