//! One root cause, one failure: findings that follow from another rule's are folded under that rule.

use super::{
    place::Place,
    tally::{Found, Tally},
};

/// Drops findings of a rule with `after` where one of the named rules failed for the same item. `*` names every rule,
/// and then the place has to be the same: that is how a catch-all stays silent where a precise rule has spoken.
pub fn fold(tallies: &mut [Tally]) {
    let places: Vec<Vec<(Place, Place)>> = tallies.iter().map(|tally| tally.places.clone()).collect();
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
                let named = rule.after.contains(&tallies[other].rule.id) || (catch_all && other != index);
                named && places[other].iter().any(|cause| same_cause(cause, found, catch_all))
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

fn same_cause((item, at): &(Place, Place), found: &Found, catch_all: bool) -> bool {
    if catch_all {
        return at.frame > 0 && (at.holds(&found.at) || found.at.holds(at));
    }
    item.holds(&found.item) || found.item.holds(item)
}
