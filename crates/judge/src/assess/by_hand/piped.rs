//! Recipes over stdio: the lines that a client sent, piped into the server with the delays between them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    super::rerun::ALWAYS, RecipeContext, body, discovers, history::History, method, names_what_was_made_up, opens,
    quoted, seconds,
};
use conform_model::evidence::Frame;

/// A shorter delay between two lines is dropped, in microseconds.
const TOGETHER: u64 = 300_000;

/// A process with its input lines for each connection of the frames.
pub fn lines(shown: &BTreeSet<u64>, history: &History, past: RecipeContext, command: &str) -> Option<String> {
    let asked = |link: u32| {
        let lines = history.lines.get(&link).into_iter().flatten();
        lines.filter(|(number, _)| shown.contains(number)).map(|(_, frame)| frame).collect::<Vec<_>>()
    };
    let mut links: BTreeSet<u32> = history.lines.keys().copied().filter(|link| !asked(*link).is_empty()).collect();
    links.extend(history.heard_on(shown));
    let ends = shown.iter().any(|frame| history.ends.contains(frame));
    let mut recipe = Vec::new();
    for link in links {
        let last_shown = *shown.iter().rfind(|number| history.at(link, **number).is_some())?;
        let needed = needed(link, &asked(link), last_shown, history, past)?;
        let lines = paced(link, &needed, last_shown, history)?;
        let status = if ends { "; echo \"exit status: $?\"" } else { "" };
        recipe.push(format!("({lines}) | {command}{status}"));
    }
    (!recipe.is_empty()).then(|| recipe.join("\n"))
}

/// The lines that must precede the requested ones so that the server is in the same state.
fn needed(
    link: u32,
    asked: &[&Arc<Frame>],
    last_shown: u64,
    history: &History,
    past: RecipeContext,
) -> Option<Vec<Arc<Frame>>> {
    let kept: &BTreeMap<u64, Arc<Frame>> = history.lines.get(&link)?;
    if asked.is_empty() {
        // A message that the server sent on its own may follow from all earlier lines.
        let all: Vec<_> = kept.range(..last_shown).map(|(_, frame)| Arc::clone(frame)).collect();
        let is_all = all.len() == history.sent_before(link, last_shown);
        return (is_all && !all.iter().any(|frame| names_what_was_made_up(frame, history))).then_some(all);
    }
    let last = asked.last().map_or(0, |frame| frame.frame).max(last_shown);
    let suites: BTreeSet<&str> = asked
        .iter()
        .filter_map(|frame| frame.by.as_deref())
        .filter(|by| past.requests && !ALWAYS.contains(by) || history.stateful.contains(*by))
        .collect();
    let is_needed = |frame: &Arc<Frame>| {
        let by = frame.by.as_deref().unwrap_or_default();
        let prepares = opens(frame)
            || by == "handshake" && past.declaration && discovers(frame)
            || by == "answer" && (!suites.is_empty() || history.follows_handshake(link, frame.frame));
        prepares || suites.contains(by) || asked.iter().any(|known| known.frame == frame.frame)
    };
    let needed: Vec<_> = kept.range(..=last).map(|(_, frame)| Arc::clone(frame)).filter(is_needed).collect();
    (!needed.iter().any(|frame| names_what_was_made_up(frame, history))).then_some(needed)
}

/// The lines in groups that were sent together.
fn paced(link: u32, lines: &[Arc<Frame>], last_shown: u64, history: &History) -> Option<String> {
    let mut script = String::new();
    for (index, frame) in lines.iter().enumerate() {
        let earlier = index.checked_sub(1).map(|index| &lines[index]);
        let waited = earlier.filter(|earlier| {
            history.came_between(link, earlier.frame, frame.frame) || frame.at - earlier.at > TOGETHER
        });
        if let Some(earlier) = waited {
            // Time spent on other requests is not a delay.
            let gap = frame.at - earlier.at;
            script += &match history.came_between(link, earlier.frame, frame.frame) {
                // The cancellation must arrive during the request.
                true if method(frame) == Some("notifications/cancelled") => {
                    format!("; sleep 0.{}; ", (gap / 100_000 + 1).min(9))
                }
                came => format!("; sleep {}; ", seconds(if came { 1 } else { gap })),
            };
        }
        script += if earlier.is_none() || waited.is_some() { "printf '%s\\n' " } else { " " };
        script += &quoted(&body(frame)?)?;
    }
    let sent = lines.last()?.at;
    // A server may exit when its input ends, so the input stays open until the response.
    let waited = history.newest(link, last_shown).unwrap_or(sent).saturating_sub(sent);
    Some(format!("{script}; sleep {}", seconds(waited)))
}
