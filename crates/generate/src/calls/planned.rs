//! Near misses and valid borders for each keyword at each place of a schema.

use std::collections::{HashMap, HashSet};

use fastrand::Rng;
use serde_json::{Value, json};

use super::call::{Beside, Call, Case, Kind};
use crate::{
    pool::Pool,
    values::{
        edges::{Edge, MULTIPLE, NAMED, edges},
        invalid::{Invalid, at_spot, of_change},
        misses::{is_tolerated, misses},
        schema::Root,
        spots::{Spot, nested, spots},
        valid::{Fill, Maker},
    },
};
use conform_suite::foreign::Checker;

/// Maximum number of calls for one kind of value at one place of the schema: with the only, the first and a later item.
const EACH: usize = 3;
/// The same for values that are all different: those of `enum`, and multiples.
const MANY: usize = 20;
const ALTERNATIVE: &str = "another alternative";
/// Depths of recursive values. JSON parsers stop at 128.
const LEVELS: [usize; 4] = [2, 4, 10, 40];
/// Maximum number of valid values of which one should be accepted.
const PLAIN: usize = 8;
/// Maximum number of invalid values that a valid one is compared with.
const COMPARED: usize = 3;

/// The calls of one subject, the most telling ones first.
#[derive(Default)]
pub struct Planned {
    pub wrong: Vec<Call>,
    pub edges: Vec<Call>,
}

/// Calls in the order of their rank: the first kind of each keyword and place, then the second one, and so on.
#[derive(Default)]
struct Ranked {
    calls: Vec<(usize, Call)>,
    kinds: HashMap<(String, String), usize>,
    times: HashMap<Case, usize>,
    seen: HashSet<String>,
}

impl Ranked {
    fn add(&mut self, call: Call) {
        let Some(case) = call.case.clone() else { return };
        let times = self.times.entry(case.clone()).or_default();
        let each = if case.kind == NAMED || case.kind == MULTIPLE { MANY } else { EACH };
        if *times >= each || !self.seen.insert(call.key()) {
            return;
        }
        *times += 1;
        let kinds = self.kinds.entry((case.keyword, case.schema)).or_default();
        // A second call of the same kind comes after all kinds.
        let rank = *kinds + if *times > 1 { 100 } else { 0 };
        *kinds += 1;
        self.calls.push((rank, call));
    }

    fn sorted(mut self) -> Vec<Call> {
        self.calls.sort_by_key(|(rank, _)| *rank);
        self.calls.into_iter().map(|(_, call)| call).collect()
    }
}

pub fn wrong_call(one: Invalid, spot: &Spot) -> Call {
    let case = Case { keyword: one.keyword.clone(), schema: spot.schema.clone(), kind: one.kind };
    Call {
        kind: Kind::Invalid,
        keyword: one.keyword,
        at: one.at,
        why: one.why,
        base: Some(one.base),
        case: Some(case),
        ..Call::plain(one.arguments)
    }
}

/// Calls from valid arguments that together reach each part of the schema.
pub fn planned(root: Root, bases: &[Value], checker: &Checker, rng: &mut Rng) -> Planned {
    let (mut wrong, mut valid) = (Ranked::default(), Ranked::default());
    let mut reached: HashSet<(String, Position)> = HashSet::new();
    for base in bases {
        let found = spots(root, base);
        let new: Vec<&Spot> =
            found.iter().filter(|spot| reached.insert((spot.schema.clone(), position(base, &spot.at)))).collect();
        for spot in new {
            one_spot(root, spot, base, checker, rng, (&mut wrong, &mut valid));
        }
        for levels in LEVELS {
            for (at, deep) in nested(&found, base, levels) {
                if checker.holds(&deep) == Some(true) {
                    deepened(root, (&found, &at, &deep), checker, (&mut wrong, &mut valid));
                }
            }
        }
    }
    Planned { wrong: wrong.sorted(), edges: valid.sorted() }
}

/// Some validators look at the first item of an array only, and some at the last one.
#[derive(PartialEq, Eq, Hash)]
enum Position {
    Only,
    First,
    Later,
}

fn position(value: &Value, at: &str) -> Position {
    let mut position = Position::Only;
    for (end, _) in at.match_indices('/').skip(1).chain([(at.len(), "")]) {
        let (outer, step) = at[..end].rsplit_once('/').unwrap_or_default();
        match (value.pointer(outer).and_then(Value::as_array), step.parse::<usize>()) {
            (Some(_), Ok(1..)) => return Position::Later,
            (Some(items), Ok(0)) if items.len() > 1 => position = Position::First,
            _ => {}
        }
    }
    position
}

/// The calls of one part at one place.
fn one_spot(
    root: Root,
    spot: &Spot,
    base: &Value,
    checker: &Checker,
    rng: &mut Rng,
    (wrong, valid): (&mut Ranked, &mut Ranked),
) {
    let Some(here) = base.pointer(&spot.at) else { return };
    let invalid = at_spot(root, spot, base, checker);
    let name = spot.at.rsplit('/').next().unwrap_or_default();
    let mut found = edges(rng, &spot.part, name, here);
    found.extend(branches(root, spot, rng));
    let plain: Vec<Value> =
        [here.clone()].into_iter().chain(found.iter().map(|edge| edge.value.clone())).take(PLAIN).collect();
    for edge in found {
        let mut arguments = base.clone();
        let Some(place) = arguments.pointer_mut(&spot.at) else { continue };
        *place = edge.value;
        // A special value may be the plain one, and the only one that is rejected.
        let is_special = [NAMED, ALTERNATIVE, "null"].contains(&edge.kind);
        if (&arguments == base && !is_special) || !arguments.is_object() || checker.holds(&arguments) != Some(true) {
            continue;
        }
        // Messages about the same keyword are the most similar ones.
        let (same, others): (Vec<&Invalid>, Vec<&Invalid>) =
            invalid.iter().partition(|one| one.keyword == edge.keyword);
        let strict = same.iter().chain(&others).filter(|one| !is_tolerated(&one.keyword, one.kind));
        let against: Vec<Value> =
            strict.filter_map(|one| one.arguments.pointer(&spot.at).cloned()).take(COMPARED).collect();
        let case = Case { keyword: edge.keyword.to_owned(), schema: spot.schema.clone(), kind: edge.kind };
        valid.add(Call {
            keyword: edge.keyword.to_owned(),
            at: spot.at.clone(),
            beside: Some(Beside { plain: plain.clone(), invalid: against }),
            case: Some(case),
            ..Call::plain(arguments)
        });
    }
    for one in invalid {
        wrong.add(wrong_call(one, spot));
    }
}

/// A value of each alternative and of each type.
fn branches(root: Root, spot: &Spot, rng: &mut Rng) -> Vec<Edge> {
    let pool = Pool::new();
    let mut found = Vec::new();
    for keyword in ["anyOf", "oneOf", "type"] {
        for branch in spot.part.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            let mut rest = spot.part.clone();
            rest.shift_remove(keyword);
            let branch = if keyword == "type" { json!({ "type": branch }) } else { branch.clone() };
            let schema = json!({ "allOf": [branch, rest] });
            let value = Maker::new(root, rng, &pool, Fill::All).value(&schema);
            found.extend(value.map(|value| Edge { keyword, kind: ALTERNATIVE, value }));
        }
    }
    found
}

/// Recursive values: valid ones, and those with something wrong at the innermost place.
fn deepened(
    root: Root,
    (found, at, deep): (&[Spot], &str, &Value),
    checker: &Checker,
    (wrong, valid): (&mut Ranked, &mut Ranked),
) {
    let Some(inner) = deep.pointer(at) else { return };
    // The part of the innermost value is that of an outer one, which is a prefix of its place.
    let Some(spot) =
        found.iter().filter(|spot| at.starts_with(&spot.at) && !spot.at.is_empty()).max_by_key(|spot| spot.at.len())
    else {
        return;
    };
    let case = |kind| Case { keyword: "$ref".to_owned(), schema: spot.schema.clone(), kind };
    let depth = format!("{} levels", at.matches('/').count());
    let mut first = true;
    for miss in misses(root, &spot.part, inner, false) {
        let mut arguments = deep.clone();
        let Some(place) = arguments.pointer_mut(at) else { continue };
        *place = miss.value;
        let Some(one) = of_change(arguments, deep, (miss.keyword, miss.kind), checker) else { continue };
        if is_tolerated(&one.keyword, one.kind) || !first {
            continue;
        }
        first = false;
        let why = format!("{} ({depth})", one.why);
        wrong.add(Call { case: Some(case("a flaw at the innermost level")), why, ..wrong_call(one, spot) });
    }
    valid.add(Call { keyword: "$ref".to_owned(), case: Some(case("many levels")), ..Call::plain(deep.clone()) });
}

/// The elements of both, in turn.
pub fn alternately(one: Vec<Call>, other: Vec<Call>) -> Vec<Call> {
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(one.next());
        all.extend(other.next());
        if all.len() == before {
            return all;
        }
    }
}
