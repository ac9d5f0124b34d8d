//! One root cause, one failure: findings that follow from another rule's are folded under that rule.

use std::collections::HashSet;

use super::{
    place::Place,
    tally::{Found, Tally},
};
use crate::suite::Rule;

/// Drops findings of a rule with `after` where one of the named rules failed for the same item, or said the same of the same
/// kind of request that another suite sent. `*` names every rule, and then the place has to be the same: that is how a
/// catch-all stays silent where a precise rule has spoken, unless of how a message came and not of what it says.
pub fn fold(tallies: &mut [Tally]) {
    let places: Vec<Vec<(Place, Place)>> = tallies.iter().map(|tally| tally.places.clone()).collect();
    let said: Vec<HashSet<(String, String)>> =
        tallies.iter().map(|tally| tally.found.iter().filter_map(words).collect()).collect();
    for index in 0..tallies.len() {
        let rule = tallies[index].rule;
        if rule.after.is_empty() || tallies[index].found.is_empty() {
            continue;
        }
        let catch_all = rule.after.iter().any(|id| id == "*");
        let mut causes = Vec::new();
        let found = std::mem::take(&mut tallies[index].found);
        let (_, kept): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|found| {
            let cause = (0..places.len()).find(|&other| {
                let by_any = catch_all && other != index && !is_on_streams(tallies[other].rule);
                let named = rule.after.contains(&tallies[other].rule.id) || by_any;
                let same_words = !catch_all && words(found).is_some_and(|words| said[other].contains(&words));
                named && (same_words || places[other].iter().any(|cause| same_cause(cause, found, catch_all)))
            });
            causes.extend(cause);
            cause.is_some()
        });
        tallies[index].found = kept;
        if tallies[index].found.is_empty() {
            tallies[index].folded_under = causes.first().map(|&cause| tallies[cause].rule.id.clone());
        }
        for cause in causes {
            if !tallies[cause].also.contains(&rule.id) {
                tallies[cause].also.push(rule.id.clone());
            }
        }
    }
}

fn is_on_streams(rule: &Rule) -> bool {
    rule.every.iter().flat_map(|every| &every.over).any(|path| path.root == "streams")
}

/// What is said of what, if it has a name.
fn words(found: &Found) -> Option<(String, String)> {
    let finding = &found.finding;
    (!finding.subject.is_empty()).then(|| (finding.subject.clone(), finding.message.clone()))
}

fn same_cause((item, at): &(Place, Place), found: &Found, catch_all: bool) -> bool {
    if catch_all {
        return at.frame > 0 && (at.holds(&found.at) || found.at.holds(at));
    }
    item.holds(&found.item) || found.item.holds(item)
}
