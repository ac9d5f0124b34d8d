//! The ledger of SDKs, held against conversations with the smallest servers on them: each entry is shown by a record of
//! a version that has it, no record of another version shows it, and nothing fails on such a server that no entry explains.

mod clients;
mod official;

use std::{
    collections::BTreeMap,
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use super::PROGRAM;
use conform_proof::Recording;
use conform_sdks::{LEDGERS, SdkLedger, mark};
use libtest_mimic::{Failed, Trial as Test};
use mcp_conform::{
    assess::{Options, assess},
    evidence::Side,
    outcome::{Finding, RunReport, Status},
    plan::Filter,
    report::matrix::{Fold, Row},
    revision::Revision,
    run::{built_in, load},
};
use serde::{Deserialize, de::DeserializeOwned};

pub fn tests() -> impl Iterator<Item = Test> {
    let suites = Arc::new(built_in().expect("the built-in suites load"));
    let reports = move || -> Result<Vec<(String, RunReport)>, String> {
        let filter = Filter::default();
        let options = Options::verdicts(&filter);
        let judged = records().into_iter().map(|recording| {
            let mut report = assess(&recording.evidence()?, &suites, &options);
            mark(&mut report);
            Ok((recording.name, report))
        });
        judged.collect()
    };
    let shown = Test::test("sdks the ledger is what records show, and docs/sdks.md shows it", move || {
        let reports = reports()?;
        let flaws = flaws(&reports);
        if flaws.is_empty() { Ok(documented(&reports)?) } else { Err(flaws.join("\n").into()) }
    });
    [shown, Test::test("sdks failures are accepted", accepted)].into_iter()
}

fn records() -> Vec<Recording> {
    Recording::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recorded/sdks"))
}

/// A record that fails does not fail with `--accept sdk`, since only the SDK is at fault there.
fn accepted() -> Result<(), Failed> {
    let (mut failed, authors) = (0, authors());
    for recording in records().into_iter().filter(|recording| authors.of(&recording.name).is_empty()) {
        let judge = |more: &[&str]| Command::new(PROGRAM).arg("judge").arg(recording.transcript()).args(more).output();
        let code = judge(&["--quiet"])?.status.code();
        let output = judge(&["--accept", "sdk"])?;
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.code() != Some(0) || (code == Some(1)) != said.contains("KNOWN") {
            return Err(format!("{}: exit {code:?}, and with --accept sdk:\n{said}", recording.name).into());
        }
        failed += usize::from(code == Some(1));
        if failed == 2 {
            return Ok(());
        }
    }
    Err("two records with failures were expected".into())
}

/// The rules that the author of a server violates, and not the SDK: `faults` in tests/sdks/servers.yaml.
struct Authors(BTreeMap<String, Server>);

#[derive(Deserialize)]
struct Server {
    #[serde(default)]
    faults: Vec<String>,
}

impl Authors {
    /// By the name of a record, which ends with a transport.
    fn of(&self, record: &str) -> &[String] {
        let row = record.rsplit_once('.').map_or(record, |(row, _)| row);
        self.0.get(row).map_or(&[], |server| server.faults.as_slice())
    }
}

fn authors() -> Authors {
    let rows = include_str!("../../../../../tests/sdks/servers.yaml");
    Authors(serde_saphyr::from_str(rows).expect("tests/sdks/servers.yaml"))
}

fn flaws(reports: &[(String, RunReport)]) -> Vec<String> {
    let mut flaws = Vec::new();
    let authors = authors();
    for (name, report) in reports {
        if report.target.sdks.is_empty() {
            flaws.push(format!("{name}: no SDK was found"));
        }
        let of_author = authors.of(name);
        let failed = report.rules.iter().filter(|rule| rule.status == Status::Fail && !rule.is_in_sdk());
        let (expected, failed): (Vec<_>, Vec<_>) = failed.partition(|rule| of_author.contains(&rule.id));
        flaws.extend(failed.iter().map(|rule| format!("{name}: no entry explains {} in {}", rule.id, rule.revision)));
        let absent = of_author.iter().filter(|id| !expected.iter().any(|rule| rule.id == **id));
        flaws.extend(absent.map(|id| format!("{name}: {id} is listed as a fault, and does not fail")));
    }
    for (of, known) in LEDGERS.iter().flat_map(|of| of.known.iter().map(move |known| (of, known))) {
        let with_version = reports.iter().filter_map(|named| Some((version(&named.1, of)?, named)));
        let (having, others): (Vec<_>, Vec<_>) = with_version.partition(|(version, _)| known.has(version));
        for rule in &known.rules {
            let entry = format!("{}: {rule}: \"{}\"", of.sdk, known.defect);
            let shown =
                |(_, report): &&(String, RunReport)| findings(report, rule).any(|finding| known.matches(finding));
            if !having.iter().any(|(_, named)| shown(named)) {
                flaws.push(format!("{entry}: no record shows it"));
            }
            let wrong = others.iter().filter(|(_, named)| shown(named));
            flaws.extend(wrong.map(|(version, (name, _))| format!("{entry}: {name} shows it in {version}")));
        }
    }
    flaws
}

fn version<'r>(report: &'r RunReport, of: &SdkLedger) -> Option<&'r str> {
    report.target.sdks.iter().find(|sdk| sdk.package == of.sdk)?.version.as_deref()
}

fn findings<'r>(report: &'r RunReport, rule: &str) -> impl Iterator<Item = &'r Finding> {
    report.rules.iter().filter(move |judged| judged.id == rule).flat_map(|judged| &judged.findings)
}

/// The end of docs/sdks.md and reports/sdks.html are written from the ledger and the records: `MCP_CONFORM_BLESS=1`
/// does so.
fn documented(reports: &[(String, RunReport)]) -> Result<(), String> {
    let official = official::documented()?;
    let clients = clients::documented(&load(&[Side::Client], &[], false).map_err(|why| why.to_string())?)?;
    written("docs/sdks.md", |text| {
        let begin = text.find(TABLES).ok_or("docs/sdks.md has no place for what is known")? + TABLES.len();
        Ok(format!("{}{}", &text[..begin], defects() + &servers(reports) + &official + &clients))
    })?;
    written("reports/sdks.html", |_| Ok(page(reports)))
}

/// What each file of a folder of records has, by its name.
fn files<T: DeserializeOwned>(folder: &str) -> Result<Vec<(String, T)>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recorded/sdks").join(folder);
    let read = |path: PathBuf| -> Result<(String, T), String> {
        let failed = |why: String| format!("{}: {why}", path.display());
        let text = fs::read_to_string(&path).map_err(|why| failed(why.to_string()))?;
        let recorded = serde_json::from_str(&text).map_err(|why| failed(why.to_string()))?;
        Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), recorded))
    };
    let entries = fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn written(file: &str, expected: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let expected = expected(&text)?;
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        return fs::write(&path, expected).map_err(|why| format!("{}: {why}", path.display()));
    }
    if text == expected { Ok(()) } else { Err(format!("{file} is outdated: MCP_CONFORM_BLESS=1 writes it")) }
}

/// The servers as the page of a matrix, each with its record.
fn page(reports: &[(String, RunReport)]) -> String {
    let mut fold = Fold::default();
    for (name, report) in reports {
        fold.add(Row::of(name, Some(format!("../tests/recorded/sdks/{name}.jsonl.gz")), report), report);
    }
    let [(_, html), ..] = fold.finish().forms();
    html
}

/// What precedes the tables.
const TABLES: &str = "and no other version does.\n";

fn defects() -> String {
    let mut text = String::new();
    for of in LEDGERS.iter() {
        let _ = write!(
            text,
            "\n### {} ({})\n\n| what it does | versions | rules |\n| --- | --- | --- |\n",
            of.sdk, of.language
        );
        for known in &of.known {
            let versions = match (&known.from, &known.until) {
                (None, None) => "all".to_owned(),
                (Some(from), None) => format!("since {from}"),
                (None, Some(until)) => format!("before {until}"),
                (Some(from), Some(until)) => format!("since {from}, before {until}"),
            };
            let rules: Vec<String> = known.rules.iter().map(|rule| format!("`{rule}`")).collect();
            let upstream = known.upstream.iter().map(|place| format!(" ([reported]({place}))")).collect::<String>();
            let _ = writeln!(
                text,
                "| {}{upstream} | {versions} | {} |",
                known.defect.replace('|', "\\|"),
                rules.join(", ")
            );
        }
    }
    text
}

/// What the rules say of each recorded server, by revision.
fn servers(reports: &[(String, RunReport)]) -> String {
    let mut text = RECORDED.to_owned();
    let revisions: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    let _ = writeln!(text, "| record | {} |", revisions.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(revisions.len()));
    for (name, report) in reports {
        let _ = write!(text, "| {name} |");
        for revision in Revision::ALL {
            let of_revision = || report.rules.iter().filter(move |rule| rule.revision == revision);
            let count = |status| of_revision().filter(|rule| rule.status == status).count();
            let (failed, warned, passed) = (count(Status::Fail), count(Status::Warn), count(Status::Pass));
            let _ = match failed + warned + passed {
                0 => write!(text, " |"),
                _ => write!(text, " {failed} / {warned} / {passed} |"),
            };
        }
        text.push('\n');
    }
    text
}

const RECORDED: &str = "
## The recorded servers

The rules that fail, warn and pass on the smallest server of each version, by revision; a revision that the server does not speak is empty.
`mcp-conform judge tests/recorded/sdks/RECORD.jsonl.gz` shows the findings of one, with its messages.
[reports/sdks.html](../reports/sdks.html) has the servers by suite, with their worst findings and the command that repeats each.

";
