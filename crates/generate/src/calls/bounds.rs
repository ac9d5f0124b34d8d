//! Several values at their bounds at once.

use indexmap::IndexMap;
use serde_json::Value;

use super::call::Call;
use conform_suite::foreign::Checker;

/// Maximum number of pairs of bounds.
const PAIRS: usize = 300;

/// The values at the bounds of each place.
pub type Places<'a> = IndexMap<&'a str, Vec<&'a Value>>;

pub fn at_bounds(found: &[Call]) -> Places<'_> {
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
    (checker.holds(&arguments) == Some(true)).then(|| Call::plain(arguments))
}

/// All places at their first bound, then all at their second, and so on: a failure is shrunk. Each single bound comes
/// later, and is compared with the value inside it.
pub fn together(full: &Value, places: &Places, checker: &Checker) -> Vec<Call> {
    let most = places.values().map(Vec::len).max().unwrap_or_default();
    let nth_of_all = |nth: usize| {
        let values = places.iter().map(|(pointer, values)| (*pointer, values[nth % values.len()]));
        with_values(full, values, checker)
    };
    if places.len() < 2 { Vec::new() } else { (0..most).filter_map(nth_of_all).collect() }
}

/// Each value at a bound of one place with each value of another place: some mistakes need a certain unit and a large
/// number.
pub fn pairs(full: &Value, places: &Places, checker: &Checker) -> Vec<Call> {
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
