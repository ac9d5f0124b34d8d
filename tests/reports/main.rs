//! The sample run of `reports/` in every format, and the reports of a clean and of a hostile server.
//!
//! `MCP_CONFORM_BLESS=1` renders the samples again. To look at one run in a terminal:
//! `COLUMNS=100 VERBOSITY=verbose cargo test --test reports -- --ignored --nocapture --exact print`.

mod fixtures;
mod terminal;

use std::{env, fs, path::PathBuf};

use fixtures::{clean, hostile, in_three_revisions};
use mcp_conform::{
    outcome::{Finding, Level, Observation, RuleResult, RunReport, Sender, ShownFrame, Status, TargetReport, World},
    report::{
        self, Format, Style, Verbosity,
        matrix::{Fold, Row},
        render,
    },
    revision::Revision,
};
use quick_xml::{Reader, events::Event};
use serde_json::{Value, json};
use similar::TextDiff;

/// Formats and their sample files.
const SAMPLES: [(Format, &str); 8] = [
    (Format::Human, "sample.human.txt"),
    (Format::Json, "sample.json"),
    (Format::Junit, "sample.junit.xml"),
    (Format::Tap, "sample.tap"),
    (Format::Sarif, "sample.sarif"),
    (Format::Markdown, "sample.md"),
    (Format::Github, "sample.github.txt"),
    (Format::Html, "sample.html"),
];

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "reports", name].iter().collect()
}

/// An artificial run with an example of everything.
fn sample() -> RunReport {
    report::read(include_str!("one-of-each.json")).unwrap()
}

/// The real run in `reports/`.
fn real() -> RunReport {
    report::read(&fs::read_to_string(path("sample.json")).unwrap()).unwrap()
}

fn human(report: &RunReport, width: usize, verbosity: Verbosity) -> String {
    render(Format::Human, report, &Style { width, verbosity, ..Style::default() })
}

#[test]
fn samples_are_what_is_rendered() {
    let report = real();
    let formats = SAMPLES.map(|(format, name)| (name, render(format, &report, &Style::default())));
    let colored = render(Format::Human, &report, &Style { width: 100, color: true, ..Style::default() });
    for (name, rendered) in formats.into_iter().chain([("terminal.svg", on_a_terminal(&colored, 100))]) {
        if env::var_os("MCP_CONFORM_BLESS").is_some() {
            fs::write(path(name), &rendered).unwrap();
        }
        let kept = fs::read_to_string(path(name)).unwrap_or_default();
        let diff = TextDiff::from_lines(&kept, &rendered);
        assert!(kept == rendered, "reports/{name} differs; MCP_CONFORM_BLESS=1 rewrites it\n{}", diff.unified_diff());
    }
}

/// A picture of a terminal of this width after this text was printed.
fn on_a_terminal(text: &str, columns: usize) -> String {
    const DARK: [(u8, u8, u8); 16] = [
        (13, 17, 23),
        (255, 123, 114),
        (63, 185, 80),
        (210, 153, 34),
        (88, 166, 255),
        (188, 140, 255),
        (57, 197, 207),
        (177, 186, 196),
        (110, 118, 129),
        (255, 161, 152),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (240, 246, 252),
    ];
    let piece = regex::Regex::new("\u{1b}\\[[0-9;]*m|.").unwrap();
    let mut lines = String::new();
    for line in text.lines() {
        let mut used = 0;
        for piece in piece.find_iter(line).map(|piece| piece.as_str()) {
            let wide = usize::from(!piece.starts_with('\u{1b}'));
            if used + wide > columns {
                lines.push('\n');
                used = 0;
            }
            lines.push_str(piece);
            used += wide;
        }
        lines.push('\n');
    }
    let picture = anstyle_svg::Term::new().palette(anstyle_svg::Palette(DARK.map(Into::into))).render_svg(&lines);
    // The default opacity of faint text is hard to read.
    picture.replace(".dimmed { opacity: 0.4; }", ".dimmed { opacity: 0.7; }")
}

#[test]
fn json_reads_back_as_it_was() {
    for report in [sample(), hostile()] {
        let text = render(Format::Json, &report, &Style::default());
        assert_eq!(report::read(&text).unwrap(), report);
    }
}

#[test]
fn the_json_schema_is_the_one_kept_and_fits() {
    let schema = serde_json::to_value(report::schema()).unwrap();
    let text = format!("{schema:#}\n");
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        fs::write(path("schema.json"), &text).unwrap();
    }
    assert_eq!(fs::read_to_string(path("schema.json")).unwrap_or_default(), text, "MCP_CONFORM_BLESS=1 rewrites it");
    let validator = jsonschema::validator_for(&schema).unwrap();
    for report in [real(), sample(), hostile(), clean(3), in_three_revisions()] {
        let report = serde_json::to_value(report).unwrap();
        let wrong: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    assert!(!validator.is_valid(&json!({ "schema": 1 })));
}

#[test]
fn each_result_of_sarif_names_its_rule() {
    for report in [sample(), hostile(), in_three_revisions()] {
        let log: Value = serde_json::from_str(&render(Format::Sarif, &report, &Style::default())).unwrap();
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        let findings = report.rules.iter().filter(|rule| rule.status != Status::Pass).map(|rule| rule.findings.len());
        assert!(results.len() >= findings.sum(), "{} results", results.len());
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
            // GitHub rejects results without a file.
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], json!("mcp-conform.toml"), "{result}");
            assert_eq!(place["region"]["startLine"], json!(1), "{result}");
        }
    }
}

/// Text of a server cannot end a line, a cell, a command or an element.
#[test]
fn text_of_a_server_stays_text_in_each_format() {
    let report = hostile();
    let rendered = |format| render(format, &report, &Style::default());
    for format in [Format::Tap, Format::Sarif, Format::Markdown, Format::Github, Format::Html, Format::Junit] {
        let text = rendered(format);
        let acting = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(acting, None, "{format:?}");
        assert!(text.contains(r"\u001b"), "{format:?} hides what came");
    }
    let points =
        rendered(Format::Tap).lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).count();
    assert_eq!(points, report.rules.len());
    let annotations = rendered(Format::Github);
    let (last, commands) = annotations.trim_end().split_once("\nThe server").map(|(head, tail)| (tail, head)).unwrap();
    assert!(!last.contains("::"), "{last}");
    assert!(commands.lines().all(|line| {
        ["::error title=", "::warning title=", "::notice title="].iter().any(|begin| line.starts_with(begin))
    }));
    assert!(!rendered(Format::Html).contains("<b>&amp;"), "markup came through");
    let markdown = rendered(Format::Markdown);
    let spans = regex::Regex::new("` [^`]* `").unwrap();
    for line in outside_of_code(&markdown) {
        let line = spans.replace_all(line, "");
        assert!(!line.contains("<b>") && !line.starts_with("FAIL") && !line.contains("]]>"), "{line}");
    }
}

/// Lines of Markdown outside of code fences.
fn outside_of_code(markdown: &str) -> Vec<&str> {
    let mut fence = None;
    let is_fence = |line: &str| line.starts_with("```");
    let outside = |line: &&str| match fence {
        None if is_fence(line) => {
            fence = Some(line.chars().take_while(|c| *c == '`').count());
            false
        }
        Some(length) if is_fence(line) && line.chars().all(|c| c == '`') && line.len() >= length => {
            fence = None;
            false
        }
        None => true,
        Some(_) => false,
    };
    markdown.lines().filter(outside).collect()
}

/// Files for the validators of `.ci/formats`: each format of an ordinary, a hostile and a very large run.
#[test]
fn every_format_is_there_for_validation() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("formats");
    fs::create_dir_all(&folder).unwrap();
    for (name, report) in [("sample", sample()), ("hostile", hostile()), ("large", large())] {
        for (format, sample) in SAMPLES {
            let extension = sample.strip_prefix("sample.").unwrap();
            fs::write(folder.join(format!("{name}.{extension}")), render(format, &report, &Style::default())).unwrap();
        }
    }
    fs::write(folder.join("matrix.html"), matrix()).unwrap();
}

/// The page of three servers that fail, and of one that conforms.
fn matrix() -> String {
    let mut conforming = sample();
    conforming.exit_code = 0;
    conforming.rules.retain(|rule| rule.status == Status::Pass);
    let mut fold = Fold::default();
    for (name, report) in [("sample", sample()), ("hostile", hostile()), ("large", large()), ("conforming", conforming)]
    {
        fold.add(Row::of(name, Some(format!("{name}.json")), &report), &report);
    }
    let [(_, page), ..] = fold.finish().forms();
    page
}

/// 2,000 rules of which 500 fail.
fn large() -> RunReport {
    let mut report = sample();
    let failing = report.rules.iter().find(|rule| rule.status == Status::Fail).unwrap().clone();
    let passing = report.rules.iter().find(|rule| rule.status == Status::Pass).unwrap().clone();
    let rule = |number: usize| RuleResult {
        id: format!("rule-{number}"),
        suite: format!("suite-{}", number / 20),
        ..if number.is_multiple_of(4) { failing.clone() } else { passing.clone() }
    };
    report.rules = (0..2000).map(rule).collect();
    report
}

#[test]
fn every_json_member_is_documented() {
    let documented = fs::read_to_string(path("README.md")).unwrap();
    let report = serde_json::to_value(hostile()).unwrap();
    let (rules, target) = (report["rules"].as_array().unwrap(), &report["target"]);
    let rule = rules.last().unwrap();
    let finding = &rule["findings"][0];
    let parts = [("", &report), ("tool.", &report["tool"]), ("target.", target), ("totals.", &report["totals"])];
    let parts = parts.into_iter().chain([("", rule), ("", finding), ("", &finding["messages"][0])]);
    for (prefix, part) in parts {
        for (member, value) in part.as_object().unwrap() {
            let name = format!("`{prefix}{member}`");
            // The fields of these have their own rows.
            let opened = prefix.is_empty() && ["tool", "target", "totals"].contains(&member.as_str());
            assert!(opened || documented.contains(&name), "{name} is not in reports/README.md: {value}");
        }
    }
}

#[test]
fn junit_counts_every_rule_once() {
    assert_eq!(junit_counts(&sample()), Counts { tests: 30, failures: 3, errors: 4, skipped: 0 });
    assert_eq!(junit_counts(&hostile()), Counts { tests: 32, failures: 4, errors: 5, skipped: 0 });
    let all = render(Format::Junit, &sample(), &Style { verbosity: Verbosity::Verbose, ..Style::default() });
    assert_eq!(counted(&all), Counts { tests: 39, failures: 3, errors: 4, skipped: 9 });
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

/// The elements as an XML parser counts them, which must equal the attributes of the root.
fn junit_counts(report: &RunReport) -> Counts {
    counted(&render(Format::Junit, report, &Style::default()))
}

fn counted(xml: &str) -> Counts {
    assert_eq!(xml.chars().find(|c| c.is_control() && *c != '\n'), None);
    let mut reader = Reader::from_str(xml);
    let (mut counted, mut stated) = (Counts::default(), Counts::default());
    loop {
        let element = match reader.read_event().unwrap() {
            Event::Start(element) | Event::Empty(element) => element,
            Event::Eof => break,
            _ => continue,
        };
        match element.name().as_ref() {
            b"testsuites" => {
                let number = |name| {
                    let value = element.try_get_attribute(name).unwrap().unwrap().value;
                    String::from_utf8(value.into_owned()).unwrap().parse().unwrap()
                };
                stated = Counts {
                    tests: number("tests"),
                    failures: number("failures"),
                    errors: number("errors"),
                    skipped: number("skipped"),
                };
            }
            b"testcase" => counted.tests += 1,
            b"failure" => counted.failures += 1,
            b"error" => counted.errors += 1,
            b"skipped" => counted.skipped += 1,
            _ => {}
        }
    }
    assert_eq!(counted, stated);
    counted
}

#[test]
#[ignore = "for looking at"]
fn print() {
    let width = env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(80);
    let verbosity = match env::var("VERBOSITY").as_deref() {
        Ok("quiet") => Verbosity::Quiet,
        Ok("verbose") => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let report = match env::var("RUN").as_deref() {
        Ok("clean") => clean(100),
        Ok("hostile") => hostile(),
        Ok("revisions") => in_three_revisions(),
        _ => sample(),
    };
    print!(
        "{}",
        render(
            Format::Human,
            &report,
            &Style { width, color: env::var_os("NO_COLOR").is_none(), verbosity, ..Style::default() }
        )
    );
}
