//! Every kind of mistake in a suite, with the message that its author sees.
//!
//! `tests/lint/NAME.yaml` contains the mistake and `NAME.txt` the messages. A line `#--- other.yaml` begins another
//! file. A file whose name starts with `built-in` is loaded as a built-in suite. `MCP_CONFORM_BLESS=1` writes the
//! messages.

use std::{
    env,
    fmt::Write,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use mcp_conform::{
    evidence::Side,
    outcome::Level,
    suite::{Known, Origin, format::Format, load, schema, views},
};
use proptest::prelude::*;
use regex::Regex;
use similar::TextDiff;

const SEPARATOR: &str = "#--- ";

#[test]
fn every_mistake_is_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint");
    let entries = fs::read_dir(&folder).expect("the folder of cases").map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    cases.sort();
    assert!(cases.len() > 20, "only {} cases in {}", cases.len(), folder.display());

    let mut differences = String::new();
    for case in cases {
        let told = told(&case);
        let expected = case.with_extension("txt");
        if env::var_os("MCP_CONFORM_BLESS").is_some() {
            fs::write(&expected, &told).expect("the messages can be written");
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if told != expected {
            let diff = TextDiff::from_lines(&expected, &told);
            let _ = writeln!(differences, "{}\n{}", case.display(), diff.unified_diff());
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

fn told(case: &Path) -> String {
    let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(case).expect("the case can be read");
    let origin = if name.starts_with("built-in") { Origin::BuiltIn } else { Origin::User };
    match load(&files(name, &text), &known(), origin) {
        Ok(_) => "no mistake\n".to_owned(),
        Err(mistakes) => {
            let shown: Vec<String> =
                mistakes.iter().map(|mistake| mistake.render(false).trim_end().to_owned()).collect();
            shown.join("\n\n") + "\n"
        }
    }
}

fn files(name: String, text: &str) -> Vec<(String, String)> {
    let mut files = vec![(name, String::new())];
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix(SEPARATOR) {
            files.push((name.trim().to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    files
}

fn known() -> Known {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    Known {
        faults: names(&["result-not-object", "list-forgets-cursor"]),
        checks: [("cursor-walk".to_owned(), names(&["pages", "limit?"])), ("frame-order".to_owned(), Vec::new())]
            .into(),
        shapes: names(&["Resource", "Tool"]),
        methods: names(&["resources/list", "resources/read", "tools/list", "notifications/resources/updated"]),
        proposals: names(&["sep-2093"]),
        survey: names(&["resources", "reads"]),
        ids: names(&["elsewhere"]),
        ..Known::default()
    }
}

#[test]
fn the_page_on_the_language_is_current() {
    let page = include_str!("../suites/README.md");
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    if let Err(mistakes) = load(&[("README.md".to_owned(), example.to_owned())], &Known::default(), Origin::BuiltIn) {
        panic!("{}", mistakes.iter().map(|mistake| mistake.render(false)).collect::<String>());
    }
    let told = |format: &Format| page.contains(&format!("`{}`", format.name()));
    assert!(Format::ALL.iter().all(told), "a format is missing");
    let schema = serde_json::to_value(schema()).expect("a schema is JSON");
    for part in ["Matcher", "Step", "Rule"] {
        let keys = schema["definitions"][part]["properties"].as_object().expect("the keys of the language");
        let untold: Vec<_> = keys.keys().filter(|key| !page.contains(&format!("`{key}"))).collect();
        assert!(untold.is_empty(), "suites/README.md does not have {part} {untold:?}");
    }
}

#[test]
fn the_fields_on_the_page_are_current() {
    const FROM: &str = "<!-- from crates/suite/src/views -->\n";
    let page = include_str!("../suites/README.md");
    let (before, _) = page.split_once(FROM).expect("the page has the tables");
    is_current("suites/README.md", &format!("{before}{FROM}{}", views::tables()));
}

#[test]
fn the_schema_for_editors_is_current() {
    let schema = serde_json::to_string_pretty(&schema()).expect("a schema is JSON");
    is_current("suites/schema.json", &(schema + "\n"));
}

#[test]
fn the_schema_of_the_configuration_is_current() {
    is_current("docs/mcp-conform.schema.json", &format!("{:#}\n", mcp_conform::config::json_schema()));
}

/// `MCP_CONFORM_BLESS=1` writes the file.
fn is_current(file: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        fs::write(&path, expected).expect("the file can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == expected, "{file} is out of date: run the tests with MCP_CONFORM_BLESS=1");
}

/// Loads any text; all mistakes in it must be printable.
fn survive(text: &str) {
    if let Err(mistakes) = load(&[("any.yaml".to_owned(), text.to_owned())], &known(), Origin::BuiltIn) {
        assert!(!mistakes.is_empty());
        for mistake in mistakes {
            assert!(mistake.render(false).contains("any.yaml:"), "{mistake}");
            mistake.render(true);
        }
    }
}

const GOOD: &str = include_str!("lint/good.yaml");

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in ".{0,200}", yaml in "([a-z&*!|>?$'\"\\[\\]{}:,# \t-]{0,12}\n){0,8}") {
        survive(&text);
        survive(&yaml);
    }

    #[test]
    fn a_damaged_suite_is_survived(at in 0..GOOD.len(), length in 0..40_usize, patch in "[ -~\néß\u{10000}]{0,6}") {
        let end = (at + length).min(GOOD.len());
        let mut damaged = GOOD.as_bytes()[..at].to_vec();
        damaged.extend(patch.as_bytes());
        damaged.extend(&GOOD.as_bytes()[end..]);
        survive(&String::from_utf8_lossy(&damaged));
    }

    #[test]
    fn a_suite_with_two_words_swapped_is_survived(first in 0..200_usize, second in 0..200_usize) {
        let mut words: Vec<&str> = GOOD.split_inclusive(char::is_whitespace).collect();
        let count = words.len();
        words.swap(first % count, second % count);
        survive(&words.concat());
    }
}

/// What the house style has another word for, in texts that people read.
const FORBIDDEN: &str = r"\b(in vain|[Nn]obody|[Mm]end(s|ed|ing)?|spared|side by side|beside|blanks?|[Ww]hoever|[Cc](omes?|ame) by|[Rr]efus(es?|ed|ing)|[Ll]eft alone|MUST not|SHOULD not|is advised to|what came|a sound|a picture|[Aa]nswer(s|ed|ing)?|[Aa]sk(s|ed|ing)?|[Mm]embers?|told|[Tt]ell(s|ing)? of|is gone)\b";

/// What is not prose: code, placeholders, a term of the operating system, and values of the suite language.
const NOT_PROSE: &str = r"(?s)```.*?```|`[^`\n]*`|\{[^{}\s]*\}|connection refused|answered request|refused HTTP request|nothing that asked for logs";

/// The longest title that fits on two lines of 80 columns.
const LONGEST_TITLE: usize = 120;

#[test]
fn titles_are_sentences_of_the_specification() {
    let suites = mcp_conform::run::load(&[Side::Server, Side::Client, Side::Gateway], &[], false)
        .unwrap_or_else(|error| panic!("{error}"));
    let rules = suites.iter().flat_map(|suite| {
        let rules = suite.rules.iter().map(|rule| (&rule.id, rule.level, &rule.statement));
        rules.chain(suite.untested.iter().map(|row| (&row.id, row.level, &row.statement)))
    });
    let keywords = Regex::new(r"\b(MUST|SHOULD|MAY)\b").expect("a pattern");
    let mut flaws = String::new();
    for (id, level, title) in rules {
        let keyword = level.keyword();
        let first =
            if level == Level::Advice { title.split(' ').next() } else { keywords.find(title).map(|at| at.as_str()) };
        if first != Some(keyword) {
            let _ = writeln!(flaws, "{id}: {keyword} is not the keyword of: {title}");
        }
        if title.ends_with('.') || title.chars().count() > LONGEST_TITLE {
            let _ = writeln!(flaws, "{id}: has a full stop or more than {LONGEST_TITLE} characters: {title}");
        }
    }
    assert!(flaws.is_empty(), "{flaws}");
}

/// The files below a folder whose names end like this.
fn files_below(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let below = folders.iter().flat_map(|folder| files_below(folder, end));
    below.chain(files).filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

/// The pages that people read.
fn pages(root: &Path) -> Vec<(String, String)> {
    let folders =
        ["", "docs", "reports", "suites", "tests/real", "tests/planted", "integrations/pytest", "integrations/node"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).expect("the folder"));
    let files = files.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let place = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    files.map(|path| (place(&path), fs::read_to_string(&path).expect("the page"))).collect()
}

/// Comments, the texts of findings and the descriptions of faults.
fn texts_of_yaml(root: &Path) -> Vec<(String, String)> {
    let prose = Regex::new(r"(?m)(?:^|\s)#\s.*$|\b(?:says|about): .*$").expect("a pattern");
    let files = ["suites", "crates"].into_iter().flat_map(|folder| files_below(&root.join(folder), ".yaml"));
    found(files, |text| prose.find_iter(text).map(|found| found.range()).collect())
}

/// Comments and literals of product code that contain a space. The modules of tests are at the end of a file.
fn texts_of_rust(root: &Path) -> Vec<(String, String)> {
    let token =
        Regex::new(r##"(?s)//[^\n]*|r#".*?"#|r"[^"]*"|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.[^']*)'"##).expect("a pattern");
    let tests = Regex::new(r"/tests?(/|\.rs)|_tests?\.rs").expect("a pattern");
    let mut files: Vec<PathBuf> =
        ["src", "crates"].iter().flat_map(|folder| files_below(&root.join(folder), ".rs")).collect();
    files.retain(|path| !tests.is_match(&path.strip_prefix(root).unwrap_or(path).to_string_lossy()));
    found(files, |text| {
        let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
        let tokens = token.find_iter(&text[..end]).filter(|token| token.as_str().contains(' '));
        tokens.map(|token| token.range()).collect()
    })
}

/// Parts of files, each with its place.
fn found(files: impl IntoIterator<Item = PathBuf>, parts: impl Fn(&str) -> Vec<Range<usize>>) -> Vec<(String, String)> {
    let files = files.into_iter().flat_map(|path| {
        let text = fs::read_to_string(&path).expect("the file");
        let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&path);
        let place = |at: usize| format!("{}:{}", path.display(), text[..at].matches('\n').count() + 1);
        parts(&text).into_iter().map(|part| (place(part.start), text[part].to_owned())).collect::<Vec<_>>()
    });
    files.collect()
}

#[test]
fn texts_use_the_words_of_the_house_style() {
    let forbidden = Regex::new(FORBIDDEN).expect("a pattern");
    let not_prose = Regex::new(NOT_PROSE).expect("a pattern");
    let suites = mcp_conform::run::load(&[Side::Server, Side::Client, Side::Gateway], &[], false)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut texts = Vec::new();
    for suite in &suites {
        texts.push((suite.id.clone(), suite.about.clone()));
        for rule in &suite.rules {
            let parts = [Some(&rule.statement), rule.hint.as_ref(), rule.derived.as_ref()];
            texts.extend(parts.into_iter().flatten().map(|text| (rule.id.clone(), text.clone())));
        }
        texts.extend(suite.untested.iter().map(|row| (row.id.clone(), format!("{}: {}", row.statement, row.because))));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (least, found) in [(20, pages(root)), (1_000, texts_of_yaml(root)), (5_000, texts_of_rust(root))] {
        assert!(found.len() > least, "only {} texts, expected {least}", found.len());
        texts.extend(found);
    }
    let mut flaws = String::new();
    for (place, text) in texts {
        for found in forbidden.find_iter(&not_prose.replace_all(&text, "")) {
            let _ = writeln!(flaws, "{place}: `{}`", found.as_str());
        }
    }
    assert!(flaws.is_empty(), "{flaws}");
}
