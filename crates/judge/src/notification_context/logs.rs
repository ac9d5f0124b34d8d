//! Log messages: the request that they belong to, and the minimum level.

use serde_json::Value;

use super::{Asked, NotificationContext, Relation, State};

/// In order of severity.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

pub(super) fn level(name: &Value) -> Option<usize> {
    LEVELS.iter().position(|known| name == known)
}

impl NotificationContext {
    /// A log message in a revision in which each request sets its own log level.
    pub(super) fn log(&self, carrier: Option<usize>, params: &Value, relation: &mut Relation) {
        let least = |asked: &Asked| asked.level.as_ref().and_then(level);
        let (about, wanted) = if self.streams {
            let Some(asked) = carrier.map(|index| &self.asked[index]) else { return };
            match &asked.level {
                None => ("nothing that asked for logs", None),
                _ if asked.is_over() => ("answered request", least(asked)),
                _ => ("running request", least(asked)),
            }
        } else {
            if !self.asked.iter().any(Asked::is_over) {
                // A log message during start-up belongs to no request.
                return;
            }
            let loud = || self.asked.iter().filter(|asked| asked.level.is_some());
            let mut running = loud().filter(|asked| !asked.is_over()).peekable();
            match running.peek() {
                Some(_) => ("running request", running.map(least).min().flatten()),
                None if loud().next().is_some() => ("answered request", None),
                None => ("nothing that asked for logs", None),
            }
        };
        relation.logs = Some(about);
        judge_level(wanted, params, relation);
    }

    /// A log message in a revision with one log level for the session.
    pub(super) fn legacy_log(&self, carrier: Option<usize>, params: &Value, relation: &mut Relation) {
        relation.level_set = Some(!self.settings.is_empty());
        let set_after = |frame: u64| {
            let sent = self.asked.iter().filter(|asked| asked.sets.is_some()).map(|asked| asked.frame);
            sent.chain(self.settings.iter().map(|setting| setting.sent)).any(|sent| sent > frame)
        };
        let setting = if self.streams {
            // A message that belongs to no request may have been in transit when the level was set.
            let Some(asked) = carrier.map(|index| &self.asked[index]) else { return };
            self.settings.iter().rfind(|setting| setting.answered < asked.frame).filter(|_| !set_after(asked.frame))
        } else {
            let running = |asked: &Asked| asked.sound && matches!(asked.state, State::Running | State::Cancelled(_));
            self.settings.last().filter(|setting| {
                !set_after(setting.sent) && !self.asked.iter().any(|asked| running(asked) && asked.frame < setting.sent)
            })
        };
        judge_level(setting.map(|setting| setting.level), params, relation);
        relation.to = setting.filter(|_| relation.wanted == Some(false)).map(|setting| setting.sent);
    }
}

/// Records whether the message has at least the wanted level.
fn judge_level(wanted: Option<usize>, params: &Value, relation: &mut Relation) {
    if let Some((level, wanted)) = level(&params["level"]).zip(wanted) {
        relation.wanted = Some(level >= wanted);
    }
}
