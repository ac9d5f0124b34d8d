//! One failure per root cause: findings that follow from another rule's are folded under that rule.

use super::{
    place::Place,
    tally::{Found, Tally},
};
use conform_suite::Rule;

/// Drops findings of a rule with `after` if one of the named rules failed for the same item. Equal messages on two
/// responses may have two causes. `*` names every rule, except those over `$streams`, and requires the same location: a
/// catch-all adds nothing to a precise rule. A malformed message cannot be judged otherwise, so rules on the form come
/// before all others.
pub fn fold(tallies: &mut [Tally]) {
    let places: Vec<Vec<(Place, Place)>> = tallies.iter().map(|tally| tally.places.clone()).collect();
    let suites: Vec<String> = tallies.iter().map(|tally| tally.suite.id.clone()).collect();
    for index in 0..tallies.len() {
        let rule = tallies[index].rule;
        let of_form: Vec<usize> = (0..places.len()).filter(|&other| tallies[other].rule.form && !rule.form).collect();
        if (rule.after.is_empty() && of_form.is_empty()) || tallies[index].found.is_empty() {
            continue;
        }
        let catch_all = rule.after.iter().any(|id| id == "*");
        let mut causes = Vec::new();
        let found = std::mem::take(&mut tallies[index].found);
        let (_, kept): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|found| {
            let malformed = |other: &usize| places[*other].iter().any(|(message, _)| is_about(found, message));
            let cause = of_form.iter().copied().find(malformed);
            let cause = cause.or_else(|| {
                (0..places.len()).find(|&other| {
                    let by_any = catch_all && other != index && !is_on_streams(tallies[other].rule);
                    let named = rule.after.contains(&tallies[other].rule.id) || by_any;
                    // Saves of different suites differ even if they have the same name.
                    let shared = |cause: &Place| cause.frame > 0 || suites[other] == suites[index];
                    named && places[other].iter().any(|cause| shared(&cause.0) && same_cause(cause, found, catch_all))
                })
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

/// Whether the finding is about that message, or about the exchange that ended with it.
fn is_about(found: &Found, message: &Place) -> bool {
    message.frame > 0 && (found.at.frame == message.frame || found.at.frames.last() == Some(&message.frame))
}

fn same_cause((item, at): &(Place, Place), found: &Found, catch_all: bool) -> bool {
    if catch_all {
        return at.frame > 0 && (at.holds(&found.at) || found.at.holds(at));
    }
    // An unknown location matches nothing.
    item.is_known() && (item.holds(&found.item) || found.item.holds(item))
}
