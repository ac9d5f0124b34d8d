//! What the names of a suite stand for, as far as it is known what comes first in it. A path to another member selects nothing
//! in any run: with `present: false` it would hold for ever.

use super::{SURVEY, lint::Lint};
use crate::suite::{
    diagnostic::suggestion_or_all,
    model::{Each, Verb},
    path::{Beginning, Path},
    yaml::{At, Position},
};

/// Of what one request came to.
const REPLY: &[&str] = &[
    "end",
    "result",
    "error",
    "http",
    "endpoint",
    "body",
    "notifications",
    "ms",
    "frames",
    "why",
    "wanted",
    "rounds",
    "retried",
    "asked",
    "answers",
    "control",
    "sentinel",
    "events",
];
const LIST: &[&str] = &["end", "items", "origins", "pages", "error", "why", "frames", "asked"];
const WALK: &[&str] = &["end", "limits", "nodes", "edges", "repeats", "cycles", "depth", "pages", "visited", "visits"];
const AWAIT: &[&str] = &["end", "message", "ms", "frames"];
const CHANGE: &[&str] = &["end", "why", "reply", "frames", "ms"];
/// The one save of the survey that is a list of entries, and the item of each.
const READS: (&str, &str) = ("reads", "resource");

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Holds {
    /// What a step came to, with these members.
    Outcome(&'static [&'static str]),
    /// A list with an entry for each item: the item by its name, and as `reply` what the step came to.
    Entries(String, &'static [&'static str]),
    /// One of those.
    Entry(String, &'static [&'static str]),
}

impl Holds {
    pub fn of(verb: &Verb, each: Option<&Each>) -> Self {
        let members = match verb {
            Verb::List(_) => LIST,
            Verb::Walk(_) => WALK,
            Verb::Await(_) => AWAIT,
            Verb::Change(_) => CHANGE,
            Verb::Call(_) | Verb::Notify(_) | Verb::Send(_) | Verb::Http(_) | Verb::Cancel(_) => REPLY,
        };
        match each {
            Some(each) => Self::Entries(each.var.clone(), members),
            None => Self::Outcome(members),
        }
    }
}

impl Lint<'_> {
    /// A step saves that under this name; of steps that save different things under one nothing is known.
    pub fn saves(&mut self, name: &str, holds: Holds) {
        let known = self.holds.iter().rfind(|(of, _)| of == name);
        let same = known.is_none_or(|(_, known)| known.as_ref() == Some(&holds));
        self.holds.push((name.to_owned(), same.then_some(holds)));
    }

    /// The variable stands for what these paths select.
    pub fn goes_over(&mut self, var: &str, over: &[Path]) {
        let mut entries = over.iter().map(|path| self.entry(path));
        let first = entries.next().flatten();
        let same = entries.all(|other| other == first);
        self.holds.push((var.to_owned(), first.filter(|_| same)));
    }

    fn entry(&self, path: &Path) -> Option<Holds> {
        let beginning = path.beginning().filter(|beginning| beginning.is_all)?;
        if path.root == SURVEY {
            return (beginning.members == [READS.0]).then(|| Holds::Entry(READS.1.to_owned(), REPLY));
        }
        match self.holds_of(&path.root)? {
            Holds::Entries(var, of) if beginning.members.is_empty() => Some(Holds::Entry(var.clone(), of)),
            _ => None,
        }
    }

    fn holds_of(&self, name: &str) -> Option<&Holds> {
        self.holds.iter().rfind(|(of, _)| of == name)?.1.as_ref()
    }

    /// Notes a member that what the name stands for never has.
    pub fn check_saved(&mut self, text: &At<String>, path: &Path) {
        let Some(Beginning { in_items, members, .. }) = path.beginning() else { return };
        let Some(holds) = self.holds_of(&path.root).cloned() else { return };
        let mut members = members.into_iter();
        let Some(first) = members.next() else { return };
        let root = &path.root;
        match holds {
            Holds::Outcome(known) if !in_items => self.unless_known(text.at, &format!("${root}"), first, known),
            Holds::Entries(var, of) if !in_items => {
                let message = format!("`${root}` is a list with an element for each `{var}`");
                let member = if of.contains(&first) { format!("reply.{first}") } else { first.to_owned() };
                self.problems.add_with(text.at, message, format!("write `${root}[*].{member}`"));
            }
            Holds::Entries(var, of) | Holds::Entry(var, of)
                if first != var && of.contains(&first) && first != "reply" =>
            {
                let entry = if in_items { format!("${root}[*]") } else { format!("${root}") };
                let message = format!("unknown field `{first}` of `{entry}`; known: `{var}` and `reply`");
                self.problems.add_with(text.at, message, format!("write `{entry}.reply.{first}`"));
            }
            Holds::Entries(var, of) | Holds::Entry(var, of) => match members.next() {
                Some(second) if first == "reply" => self.unless_known(text.at, &format!("${root}.reply"), second, of),
                _ => self.unless_known(text.at, &format!("${root}"), first, &[&var, "reply"]),
            },
            Holds::Outcome(_) => {}
        }
    }

    fn unless_known(&mut self, at: Position, whole: &str, member: &str, known: &[&str]) {
        if !known.contains(&member) {
            let help = suggestion_or_all(member, known.iter().copied());
            self.problems.add_with(at, format!("unknown field `{member}` of `{whole}`"), help);
        }
    }
}
