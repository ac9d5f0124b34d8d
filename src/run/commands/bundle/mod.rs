//! `mcp-conform report bundle` and `report verify`: the evidence of a run in one file, and whether its verdict holds.

mod archive;
mod holds;
mod redacted;

use std::{
    fs::{self, File},
    io::BufWriter,
    path::Path,
};

use serde::{Deserialize, Serialize};

use self::{
    archive::{Files, MOST},
    holds::{Compared, compare},
};
use crate::{
    assess,
    cli::BundleArgs,
    config,
    embedded::{SDKS, SHAPES, SUITES},
    error::{Error, exit},
    evidence::{Evidence, Scope, Side},
    outcome::{RunReport, Tool},
    report::{self, meaning, revisions},
    run::{
        commands::judge,
        inputs::suites::{load_texts, read},
        process::{
            Surroundings,
            console::{complain, failed, say},
        },
    },
};

/// Incremented when an older version could not read a new bundle.
const SCHEMA: u32 = 1;
const MANIFEST: &str = "manifest.json";
const REPORT: &str = "report.json";
const TRANSCRIPT: &str = "transcript.jsonl";
const CONFIG: &str = "mcp-conform.toml";
const SUITES_OF_USER: &str = "suites/";
/// Differences that are listed.
const SHOWN: usize = 20;

/// What a bundle says about itself.
#[derive(Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    tool: Tool,
    /// The hash of the built-in rules, which may change between versions.
    rules: String,
    /// The command that tests the same program again.
    command: String,
}

pub fn bundle(args: &BundleArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let told = super::report::read(&args.report)?;
    let mut files: Files =
        vec![(REPORT.into(), content(&args.report)?), (TRANSCRIPT.into(), content(&args.transcript)?)];
    let mut suites = args.suite.clone();
    let named = args.config.as_deref().or(told.target.config.as_deref().map(Path::new));
    if let Some(path) = named {
        let text = fs::read_to_string(path).map_err(|why| Error::Usage {
            message: format!("the configuration `{}` of the run cannot be read: {why}", path.display()),
            help: Some("name it with --config PATH, or run this where the run was started".into()),
        })?;
        let wrong = |why| Error::usage(format!("`{}` is not a configuration: {why}", path.display()));
        files.push((CONFIG.into(), redacted::redacted(&text).map_err(wrong)?.into_bytes()));
        suites.extend(config::load(path, surroundings.color)?.suites);
    }
    for (number, (path, text)) in (1..).zip(read(&suites)?) {
        files.push((format!("{SUITES_OF_USER}{number:03}-{}.yaml", plain_stem(&path)), text.into_bytes()));
    }
    let (evidence, Compared { differences, .. }) = judged(&told, &files, surroundings)?;
    if !differences.is_empty() {
        let (report, transcript) = (args.report.display(), args.transcript.display());
        return Err(Error::Usage {
            message: format!("`{report}` does not follow from `{transcript}`\n{}", listed(&differences)),
            help: Some("use the report and the transcript of one run; suites of your own need --suite".into()),
        });
    }
    let command = command(&told, &evidence.header.scope);
    let manifest = Manifest { schema: SCHEMA, tool: told.tool, rules: rules(), command };
    let manifest = serde_json::to_string_pretty(&manifest).map_err(|why| Error::usage(why.to_string()))?;
    files.insert(0, (MANIFEST.into(), (manifest + "\n").into_bytes()));
    let size: usize = files.iter().map(|(_, content)| content.len()).sum();
    if size as u64 > MOST {
        return Err(Error::usage(format!("the evidence has {size} bytes; a bundle has room for {MOST}")));
    }
    let written = File::create(&args.out).and_then(|file| archive::write(BufWriter::new(file), &files));
    written.map_err(|source| failed(&args.out, "write", source))?;
    complain(&format!("wrote {}", args.out.display()));
    Ok(exit::CONFORMING)
}

pub fn verify(path: &Path, surroundings: &Surroundings) -> Result<u8, Error> {
    let rejected = |why: String| Error::Usage {
        message: format!("`{}` is rejected: {why}", path.display()),
        help: Some("`mcp-conform report bundle` writes a bundle".into()),
    };
    let files = archive::read(path).map_err(rejected)?;
    let is_known =
        |name: &str| [MANIFEST, REPORT, TRANSCRIPT, CONFIG].contains(&name) || name.starts_with(SUITES_OF_USER);
    if let Some((name, _)) = files.iter().find(|(name, _)| !is_known(name)) {
        return Err(rejected(format!("a bundle has no file {name:?}")));
    }
    let text = |name: &str| {
        let content = of(&files, name).map_err(rejected)?;
        std::str::from_utf8(content).map_err(|_| rejected(format!("{name:?} is not text")))
    };
    let manifest: Manifest =
        serde_json::from_str(text(MANIFEST)?).map_err(|why| rejected(format!("{MANIFEST:?}: {why}")))?;
    if manifest.schema != SCHEMA {
        let schema = manifest.schema;
        return Err(rejected(format!("it has schema {schema}; this version reads schema {SCHEMA}")));
    }
    let told = report::read(text(REPORT)?).map_err(|why| rejected(format!("{REPORT:?}: {why}")))?;
    let (_, Compared { differences, accepted }) = judged(&told, &files, surroundings)?;
    let line = |label: &str, text: &str| say(&format!("{label:<9} {}", report::plain(text)));
    line("files", &format!("{} files, each as it was written", files.len()));
    let RunReport { target, revisions: tested, .. } = &told;
    let mut run = vec![target.name.clone(), revisions(tested), target.transport.clone()];
    run.retain(|part| !part.is_empty());
    line("run", &run.join(" · "));
    line("repeat", &manifest.command);
    if manifest.tool.version != conform_model::VERSION || manifest.rules != rules() {
        let versions = format!("the run by {}, now by {}", manifest.tool.version, conform_model::VERSION);
        line("note", &format!("judged by other rules: {versions}"));
    }
    if files.iter().any(|(name, _)| name.starts_with(SUITES_OF_USER)) {
        line("note", "judged with custom suites, which can replace built-in rules");
    }
    if accepted > 0 {
        let failures = if accepted == 1 { "failure" } else { "failures" };
        line("note", &format!("the report accepts {accepted} {failures} as known"));
    }
    if differences.is_empty() {
        line("holds", &meaning(&told));
        return Ok(exit::CONFORMING);
    }
    line("fails", "the verdict does not hold when the transcript is judged again");
    say(&listed(&differences));
    Ok(exit::FAILED)
}

/// Judges the transcript of these files again, with their suites.
fn judged(told: &RunReport, files: &Files, surroundings: &Surroundings) -> Result<(Evidence, Compared), Error> {
    let own = files.iter().filter(|(name, _)| name.starts_with(SUITES_OF_USER));
    let own = own.map(|(name, content)| (name.clone(), String::from_utf8_lossy(content).into_owned()));
    let sides = Side::ALL;
    let mut suites = load_texts(&sides, &own.collect::<Vec<_>>(), surroundings.color)?;
    let transcript = of(files, TRANSCRIPT).map_err(Error::usage)?;
    let (evidence, again) = judge::again(transcript, &mut suites, told.strict)?;
    let compared = compare(told, &again);
    Ok((evidence, compared))
}

fn of<'a>(files: &'a Files, name: &str) -> Result<&'a [u8], String> {
    let found = files.iter().find(|(known, _)| known == name);
    found.map(|(_, content)| content.as_slice()).ok_or_else(|| format!("{name:?} is missing"))
}

/// The command of the run, as far as its verdict depends on it.
fn command(told: &RunReport, scope: &Scope) -> String {
    let mut command = assess::command(&told.target);
    match told.revisions.as_slice() {
        [] => {}
        [one] => command += &format!(" --revision {one}"),
        _ => command += " --revision all",
    }
    for term in &scope.filter {
        let (option, term) = match term.split_at_checked(1) {
            Some(("!", term)) => ("--exclude", term),
            Some(("+", term)) => ("--with", term),
            _ => ("--filter", term.as_str()),
        };
        command += &format!(" {option} {}", shlex::try_quote(term).unwrap_or_default());
    }
    if told.strict {
        command += " --strict";
    }
    command + &assess::started(&told.target)
}

/// The hash of everything that decides about a verdict besides the program.
fn rules() -> String {
    let texts = [&*SUITES, &*SHAPES, &*SDKS].into_iter().flatten();
    let all: String = texts.map(|(path, text)| format!("{path}\0{text}\0")).collect();
    archive::sum(all.as_bytes())
}

fn content(path: &Path) -> Result<Vec<u8>, Error> {
    let length = fs::metadata(path).map_err(|source| failed(path, "read", source))?.len();
    if length > MOST {
        let path = path.display();
        return Err(Error::usage(format!("`{path}` has {length} bytes; a bundle has room for {MOST}")));
    }
    fs::read(path).map_err(|source| failed(path, "read", source))
}

/// The name of a file without its folder and extension, in characters that every file system has.
fn plain_stem(path: &str) -> String {
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let plain = stem.chars().take(60).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    plain.collect()
}

fn listed(differences: &[String]) -> String {
    let shown = differences.iter().take(SHOWN).map(|line| format!("  {}", report::plain(&report::flow(line))));
    let more = differences.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("  and {more} more"));
    shown.chain(more).collect::<Vec<_>>().join("\n")
}
