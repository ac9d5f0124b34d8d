//! The limits that kept something from being judged. They are the first lines of a report, because a rule may pass only
//! for that reason.

use indexmap::IndexMap;

use super::resource_graph;
use conform_model::evidence::{Cause, Evidence, FrameKind, RunContext, Side};
use conform_suite::{SURVEY, Step, Suite, Verb, ground};

/// One line for each limit that was reached.
pub fn reached(evidence: &Evidence, suites: &[Suite]) -> Vec<String> {
    let mut unread: IndexMap<(Option<Cause>, String), usize> = IndexMap::new();
    // What our own server sends to a client is not read for other reasons.
    let is_ours = |from: Side| evidence.header.judged == Side::Client && from != Side::Client;
    for frame in evidence.frames_where(|index| index.kind == FrameKind::Unread && !is_ours(index.from)) {
        *unread.entry((frame.cause, frame.why.clone().unwrap_or_default())).or_default() += 1;
    }
    let mut lines: Vec<String> = unread.iter().map(|((cause, why), count)| not_read(*cause, why, *count)).collect();
    for context in &evidence.contexts {
        let steps = suites.iter().flat_map(|suite| suite.gather.iter().map(move |step| (suite, step)));
        let met = steps
            .filter_map(|(suite, step)| of_step(suite, step, context))
            .chain(resource_graph::limit_of(context, suites));
        for line in met {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Describes input that exceeded a limit.
fn not_read(cause: Option<Cause>, why: &str, count: usize) -> String {
    let raise = match cause {
        Some(Cause::TooLong) => " (--max-message)",
        Some(Cause::TooManyValues) => " (--limit message_values)",
        _ => "",
    };
    match count {
        1 => format!("one message of the server was not read: {why}{raise}"),
        count => format!("{count} messages of the server were not read: {why}{raise}"),
    }
}

fn of_step(suite: &Suite, step: &Step, context: &RunContext) -> Option<String> {
    let saved = context.saves.get(&suite.id)?.get(step.save.as_ref()?)?;
    match (&step.verb, &step.each) {
        (Verb::List(list), None) if saved["end"] == "page-limit" => {
            let pages = saved["pages"].as_array()?.len();
            // The suite itself may limit the pages.
            let wanted = pages == list.pages && suite.id != SURVEY;
            (!wanted).then(|| format!("{}: pages after the first {pages} were not read", list.method))
        }
        (Verb::Call(call), Some(each)) if suite.id == SURVEY => {
            let (looked_at, scope) = (saved.as_array()?.len(), ground(context, suite));
            let all = each.over.look_up(&scope).ok()?.as_array()?.len();
            let method = call.method.look_up(&scope).ok()?;
            let is_cut = each.at_most.is_some_and(|most| looked_at == most && all > most);
            is_cut.then(|| format!("{}: only {looked_at} of {all} were tested", method.as_str().unwrap_or_default()))
        }
        _ => None,
    }
}
