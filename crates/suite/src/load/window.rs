//! Where a step or rule applies: revisions, transports, proposals, capabilities.

use super::lint::Lint;
use crate::{facts, file, model::Applies};
use conform_model::revision::Revision;
use conform_source::{diagnostic::suggestion, yaml::At};

/// The revisions from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub since: Revision,
    pub until: Revision,
}

impl Window {
    pub const ALWAYS: Self = Self { since: Revision::ALL[0], until: Revision::NEWEST };

    pub fn of(applies: &Applies) -> Self {
        Self { since: applies.since.unwrap_or(Self::ALWAYS.since), until: applies.until.unwrap_or(Self::ALWAYS.until) }
    }

    pub fn and(self, other: Self) -> Self {
        Self { since: self.since.max(other.since), until: self.until.min(other.until) }
    }

    fn is_empty(self) -> bool {
        self.since > self.until
    }
}

/// Whether no run exists to which both apply.
pub fn are_disjoint(a: &Applies, b: &Applies) -> bool {
    let transports = |a: &Applies, b: &Applies| {
        !a.transport.is_empty() && !b.transport.is_empty() && !a.transport.iter().any(|one| b.transport.contains(one))
    };
    let contradicts = |a: &Applies, b: &Applies| a.server.iter().any(|path| b.server.contains(&format!("!{path}")));
    Window::of(a).and(Window::of(b)).is_empty() || transports(a, b) || contradicts(a, b) || contradicts(b, a)
}

/// The capabilities of servers in all revisions.
const CAPABILITIES: [&str; 8] =
    ["completions", "experimental", "extensions", "logging", "prompts", "resources", "tasks", "tools"];

impl Lint<'_> {
    pub fn applies(&mut self, typed: Option<file::Applies>, outer: Window) -> Applies {
        let Some(typed) = typed else { return Applies::default() };
        if typed.typed.keys.is_empty() {
            self.problems.add(typed.typed.at, "`applies` is empty");
        }
        self.window(typed.since.as_ref(), typed.until.as_ref(), outer);
        if let Some(proposal) = &typed.proposal
            && !self.known.proposals.is_empty()
            && !self.known.proposals.contains(&proposal.value)
        {
            let help = suggestion(&proposal.value, self.known.proposals.iter().map(String::as_str));
            self.problems.add_with(proposal.at, format!("unknown proposal `{}`", proposal.value), help);
        }
        if let Some(extension) = &typed.extension
            && extension.value.split_once('/').is_none_or(|(prefix, name)| prefix.is_empty() || name.is_empty())
        {
            self.problems.add(extension.at, "write the identifier of an extension: `io.modelcontextprotocol/skills`");
        }
        let server = typed.server.map(|server| server.0).unwrap_or_default();
        for path in &server {
            let names = path.value.strip_prefix('!').unwrap_or(&path.value);
            if names.split('.').any(|name| name.is_empty() || name.contains(char::is_whitespace)) {
                self.problems.add(path.at, "write a capability as `resources`, `resources.subscribe` or `!tools`");
                continue;
            }
            let first = names.split('.').next().unwrap_or_default().to_owned();
            self.one_known(&At { at: path.at, value: first }, "capability", &CAPABILITIES.map(str::to_owned));
        }
        let facts = typed.facts.map(|facts| facts.0).unwrap_or_default();
        let known: Vec<String> = facts::names().map(str::to_owned).collect();
        for fact in &facts {
            self.one_known(fact, "fact", &known);
        }
        Applies {
            since: typed.since.map(|since| since.value),
            until: typed.until.map(|until| until.value),
            transport: typed.transport.map(|transport| transport.0).unwrap_or_default(),
            proposal: typed.proposal.map(|proposal| proposal.value),
            extension: typed.extension.map(|extension| extension.value),
            server: server.into_iter().map(|path| path.value).collect(),
            protected: typed.protected.unwrap_or(false),
            facts: facts.into_iter().map(|fact| fact.value).collect(),
        }
    }

    /// Reports a window that contains no revision, by itself or within the outer one.
    pub fn window(&mut self, since: Option<&At<Revision>>, until: Option<&At<Revision>>, outer: Window) {
        let (first, last) = (since.map(|since| since.value), until.map(|until| until.value));
        let own = Window::of(&Applies { since: first, until: last, ..Applies::default() });
        let Some(at) = since.or(until).map(|revision| revision.at) else { return };
        if own.is_empty() {
            self.problems.add(at, format!("no revision is since {} and until {}", own.since, own.until));
        } else if own.and(outer).is_empty() {
            let message = format!("this never applies: the suite applies from {} to {}", outer.since, outer.until);
            self.problems.add(at, message);
        }
    }
}
