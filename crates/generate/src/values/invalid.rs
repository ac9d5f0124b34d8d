//! Arguments that violate a keyword of the schema in exactly one place: valid ones with one change.

use serde_json::Value;

use super::{
    misses::{Miss, misses},
    schema::Root,
    spots::Spot,
};
use conform_suite::foreign::{Broken, Checker};

/// No tool has this name or contains this value.
pub const NONSENSE: &str = "mcp-conform-none-of-these";

/// Arguments with one change, and the violation.
pub struct Invalid {
    pub arguments: Value,
    pub keyword: String,
    pub at: String,
    /// What is invalid, as part of a sentence.
    pub why: String,
    /// How the arguments were changed.
    pub kind: &'static str,
    /// The valid arguments.
    pub base: Value,
}

/// The near misses of these arguments at one spot.
pub fn at_spot(root: Root, spot: &Spot, valid: &Value, checker: &Checker) -> Vec<Invalid> {
    let Some(here) = valid.pointer(&spot.at) else { return Vec::new() };
    // Over HTTP the value would have to be repeated in a header, which could be wrong as well.
    if spot.part.contains_key("x-mcp-header") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for Miss { keyword, kind, value } in misses(root, &spot.part, here, spot.at.is_empty()) {
        let mut arguments = valid.clone();
        let Some(place) = arguments.pointer_mut(&spot.at) else { continue };
        *place = value;
        found.extend(of_change(arguments, valid, (keyword, kind), checker));
    }
    found
}

/// The arguments with what is wrong with them, if all of it is in one place.
pub fn of_change(
    arguments: Value,
    valid: &Value,
    (keyword, kind): (&str, &'static str),
    checker: &Checker,
) -> Option<Invalid> {
    if !arguments.is_object() {
        return None;
    }
    let broken = checker.broken(&arguments)?;
    let first = broken.first()?;
    let only = violates(&broken, keyword).or_else(|| violates(&broken, &first.keyword))?;
    let (keyword, why, at) = (only.keyword.clone(), told(only), only.violation.pointer.clone());
    Some(Invalid { arguments, keyword, at, why, kind, base: valid.clone() })
}

/// The violation of this keyword, if nothing is wrong in another place. Inside of alternatives, the alternatives as a whole
/// are violated.
pub fn violates<'b>(broken: &'b [Broken], keyword: &str) -> Option<&'b Broken> {
    let first = broken.first()?;
    let is_one = broken.iter().all(|other| other.violation.pointer == first.violation.pointer);
    let alternatives = ["anyOf", "oneOf"];
    let own = broken.iter().find(|one| one.keyword == keyword);
    own.or_else(|| broken.iter().find(|one| alternatives.contains(&one.keyword.as_str()))).filter(|_| is_one)
}

pub fn told(broken: &Broken) -> String {
    let path = broken.violation.pointer.trim_start_matches('/').replace('/', ".");
    let place = if path.is_empty() { "`arguments`".to_owned() } else { format!("`{path}`") };
    format!("{place} {}", broken.violation.message)
}
