//! Recorded conversations with real servers, and the verdicts on them.
//!
//! `NAME.jsonl.gz` is a transcript. `NAME.txt` has a line for each rule that was judged, with its statuses in the
//! revisions of the transcript.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use mcp_conform::{
    assess::{Options, assess},
    evidence::{Evidence, transcript},
    outcome::Status,
    plan::Filter,
    suite::Suite,
};

/// Folder of the checkout.
pub const RECORDED: &str = "tests/recorded";

const ENDING: &str = ".jsonl.gz";

pub struct Recording {
    pub name: String,
    folder: PathBuf,
}

/// By rule: a letter for its status in each revision.
type Verdicts = BTreeMap<String, String>;

impl Recording {
    /// All recordings in that folder, ordered by name.
    pub fn all(folder: &Path) -> Vec<Self> {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(ENDING)?.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.into_iter().map(|name| Self { name, folder: folder.to_owned() }).collect()
    }

    /// The verdicts that differ from the recorded ones, for the rules that the filter selects.
    pub fn differences(&self, suites: &[Suite], filter: &Filter) -> Result<Vec<String>, String> {
        let path = self.verdicts_path();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
        let recorded: Verdicts =
            lines.map(|(rule, statuses)| (rule.to_owned(), statuses.trim_start().to_owned())).collect();
        let (_, judged) = self.verdicts(suites, filter)?;
        let selected = |id: &str| {
            let mut rules = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
            rules.find(|(_, rule)| rule.id == id).is_none_or(|(suite, rule)| filter.selects(suite, rule))
        };
        let rules = judged.keys().chain(recorded.keys().filter(|id| !judged.contains_key(*id) && selected(id)));
        let shown = |verdicts: &Verdicts, rule| verdicts.get(rule).map_or("not judged", String::as_str).to_owned();
        let both = rules.map(|rule| (rule, shown(&recorded, rule), shown(&judged, rule)));
        let differing = both.filter(|(_, before, now)| before != now);
        Ok(differing.map(|(rule, before, now)| format!("{}: {rule}: {now}, recorded {before}", self.name)).collect())
    }

    /// Records the verdicts.
    pub fn record(&self, suites: &[Suite]) -> Result<(), String> {
        let (evidence, verdicts) = self.verdicts(suites, &Filter::default())?;
        let revisions: Vec<&str> = evidence.contexts.iter().map(|context| context.revision.as_str()).collect();
        let mut text = format!(
            "# Fail, Warn, Broken; advice, pass, observed; - not judged. Revisions: {}\n",
            revisions.join(", ")
        );
        let width = verdicts.keys().map(String::len).max().unwrap_or_default();
        for (rule, statuses) in &verdicts {
            let _ = writeln!(text, "{rule:width$} {statuses}");
        }
        fs::write(self.verdicts_path(), text).map_err(|error| error.to_string())
    }

    fn verdicts_path(&self) -> PathBuf {
        self.folder.join(format!("{}.txt", self.name))
    }

    fn verdicts(&self, suites: &[Suite], filter: &Filter) -> Result<(Evidence, Verdicts), String> {
        let evidence = self.evidence()?;
        let options = Options { strict: true, ..Options::verdicts(filter) };
        let report = assess(&evidence, suites, &options);
        let mut verdicts = Verdicts::new();
        for (column, context) in evidence.contexts.iter().enumerate() {
            for rule in report.rules.iter().filter(|rule| rule.revision == context.revision) {
                if let Some(letter) = letter(rule.status) {
                    let row = verdicts.entry(rule.id.clone()).or_insert_with(|| "-".repeat(evidence.contexts.len()));
                    row.replace_range(column..=column, letter);
                }
            }
        }
        Ok((evidence, verdicts))
    }

    pub fn evidence(&self) -> Result<Evidence, String> {
        let file = transcript::open(&self.transcript()).map_err(|why| format!("{}: {why}", self.name))?;
        transcript::read(file).map_err(|why| format!("{}: {why}", self.name))
    }

    pub fn transcript(&self) -> PathBuf {
        self.folder.join(format!("{}{ENDING}", self.name))
    }
}

/// The letter for a rule that was judged.
const fn letter(status: Status) -> Option<&'static str> {
    Some(match status {
        Status::Fail | Status::Known => "F",
        Status::Flaky => "f",
        Status::Broken => "B",
        Status::Warn => "W",
        Status::Advice => "a",
        Status::Pass => "p",
        Status::Observed => "o",
        Status::NotExercised | Status::NotApplicable => return None,
    })
}
