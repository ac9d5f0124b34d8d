//! What became of every derived mutant: the rule that finds it, or why none has to.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::derive::Mutant;
use mcp_conform::{revision::Revision, suite::fits};

const HEAD: &str =
    "# Which rule finds which derived mutant. Written by `proof mutants --systematic`, with MCP_CONFORM_BLESS.\n";
/// In place of a rule: nothing was found.
const NOTHING: &str = "nothing";

/// The rule that finds a mutant, if there is one.
pub type Entry = Option<String>;

/// By place, operator and revision.
#[derive(Default)]
pub struct Ledger(BTreeMap<(String, String, Revision), Entry>);

/// In the file: by place, then by rule, then by revisions, the operators.
type Written = BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<String>>>>;

fn path(party: &str, what: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("systematic").join(format!("{party}{what}.yaml"))
}

impl Ledger {
    /// Empty if there is no file.
    pub fn read(party: &str) -> Result<Self, String> {
        let path = path(party, "");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(Self::default()) };
        Self::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let written: Written = serde_saphyr::from_str(text).map_err(|why| why.to_string())?;
        let mut ledger = Self::default();
        for (place, rules) in written {
            for (rule, revisions) in rules {
                let entry = (rule != NOTHING).then_some(rule);
                for (revisions, operators) in revisions {
                    for revision in revisions.split(' ') {
                        let revision: Revision = revision.parse()?;
                        let keys = operators.iter().map(|operator| (place.clone(), operator.clone(), revision));
                        ledger.0.extend(keys.map(|key| (key, entry.clone())));
                    }
                }
            }
        }
        Ok(ledger)
    }

    pub fn write(&self, party: &str) -> Result<(), String> {
        let path = path(party, "");
        fs::write(&path, self.text()).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn text(&self) -> String {
        // First the revisions of each mutant with the same result, then its operators.
        let mut revisions: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
        for ((place, operator, revision), entry) in &self.0 {
            let rule = entry.as_deref().unwrap_or(NOTHING);
            revisions.entry((place, rule, operator)).or_default().push(revision.as_str());
        }
        let mut operators: BTreeMap<(&str, &str, String), Vec<&str>> = BTreeMap::new();
        for ((place, rule, operator), revisions) in revisions {
            operators.entry((place, rule, revisions.join(" "))).or_default().push(operator);
        }
        let mut text = HEAD.to_owned();
        let (mut last_place, mut last_rule) = ("", "");
        for ((place, rule, revisions), operators) in &operators {
            if *place != last_place {
                let _ = writeln!(text, "{place:?}:");
                last_rule = "";
            }
            if *rule != last_rule {
                let _ = writeln!(text, "  {rule}:");
            }
            let _ = writeln!(text, "    {revisions}: [{}]", operators.join(", "));
            (last_place, last_rule) = (place, rule);
        }
        text
    }

    pub fn entry(&self, mutant: &Mutant, revision: Revision) -> Option<&Entry> {
        self.0.get(&(mutant.place.clone(), mutant.operator.to_owned(), revision))
    }

    /// Whether the mutants of that revision were searched for.
    pub fn has(&self, revision: Revision) -> bool {
        self.0.keys().any(|(_, _, known)| *known == revision)
    }

    pub fn set(&mut self, mutant: &Mutant, revision: Revision, entry: Entry) {
        self.0.insert((mutant.place.clone(), mutant.operator.to_owned(), revision), entry);
    }

    /// Place, operator and rule of the mutants that are found.
    pub fn found(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let all = self.0.iter();
        all.filter_map(|((place, operator, _), entry)| Some((place.as_str(), operator.as_str(), entry.as_deref()?)))
    }
}

/// Why no rule finds a mutant.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Why {
    /// The specification permits it.
    #[default]
    Permitted,
    /// What is sent means the same, or the other side cannot see the difference.
    Equal,
    /// A rule should find it.
    Gap,
}

/// A reason why no rule finds some mutants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reason {
    because: String,
    #[serde(default)]
    class: Why,
    /// Patterns of places.
    at: Vec<String>,
    /// All, if there are none.
    #[serde(default)]
    operators: Vec<String>,
    since: Option<Revision>,
    until: Option<Revision>,
}

impl Reason {
    fn covers(&self, mutant: &Mutant, revision: Revision) -> bool {
        self.at.iter().any(|pattern| fits(pattern, &mutant.place))
            && (self.operators.is_empty() || self.operators.iter().any(|name| name == mutant.operator))
            && self.since.is_none_or(|since| since <= revision)
            && self.until.is_none_or(|until| revision <= until)
    }
}

pub struct Reasons(Vec<Reason>);

/// The names of the classes, in the order of columns.
pub const CLASSES: [&str; 5] = ["found", "permitted", "equal", "gap", "unknown"];

/// What a mutant is.
pub enum Class<'a> {
    Found(&'a str),
    Permitted(&'a str),
    Equal(&'a str),
    Gap(&'a str),
    Unknown,
}

impl Class<'_> {
    pub const fn column(&self) -> usize {
        match self {
            Self::Found(_) => 0,
            Self::Permitted(_) => 1,
            Self::Equal(_) => 2,
            Self::Gap(_) => 3,
            Self::Unknown => 4,
        }
    }
}

impl Reasons {
    pub fn read(party: &str) -> Result<Self, String> {
        let path = path(party, "-reasons");
        let failed = |why: String| format!("{}: {why}", path.display());
        let text = fs::read_to_string(&path).map_err(|why| failed(why.to_string()))?;
        serde_saphyr::from_str(&text).map(Self).map_err(|why| failed(why.to_string()))
    }

    pub fn class<'a>(&'a self, mutant: &Mutant, revision: Revision, entry: Option<&'a Entry>) -> Class<'a> {
        if let Some(Some(rule)) = entry {
            return Class::Found(rule);
        }
        match self.0.iter().find(|reason| reason.covers(mutant, revision)) {
            Some(Reason { class: Why::Permitted, because, .. }) => Class::Permitted(because),
            Some(Reason { class: Why::Equal, because, .. }) => Class::Equal(because),
            Some(Reason { class: Why::Gap, because, .. }) => Class::Gap(because),
            None => Class::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_is_read_as_it_was_written() {
        let mut ledger = Ledger::default();
        let key = |operator: &str, revision| ("ping result /result/*".to_owned(), operator.to_owned(), revision);
        for revision in [Revision::ALL[0], Revision::ALL[1]] {
            ledger.0.insert(key("missing", revision), Some("ping-replied".to_owned()));
            ledger.0.insert(key("beyond 2^53", revision), None);
        }
        ledger.0.insert(key("empty", Revision::ALL[1]), Some("ping-replied".to_owned()));
        let text = ledger.text();
        assert_eq!(Ledger::parse(&text).unwrap().0, ledger.0);
        assert!(
            text.contains("\"ping result /result/*\":\n  nothing:\n    2024-11-05 2025-03-26: [beyond 2^53]\n"),
            "{text}"
        );
    }
}
