//! The sample run of `reports/` in every format, and the reports of a clean and of a hostile server.
//!
//! `MCP_CONFORM_BLESS=1` renders the samples again. To look at one run in a terminal:
//! `COLUMNS=100 VERBOSITY=verbose cargo test --test reports -- --ignored --nocapture --exact print`.

mod fixtures;

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
fn colour_changes_nothing_but_colour() {
    let colored = render(Format::Human, &sample(), &Style { color: true, ..Style::default() });
    assert!(colored.contains("\u{1b}[1;31mFAIL"));
    let stripped = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(&colored, "").into_owned();
    assert_eq!(stripped, human(&sample(), 80, Verbosity::Normal));
}

#[test]
fn links_are_opened_by_the_terminal_or_stand_whole() {
    let linked = render(Format::Human, &sample(), &Style { links: true, ..Style::default() });
    let start = "\u{1b}]8;;https://modelcontextprotocol.io/specification/";
    assert!(linked.contains(start) && linked.contains("\u{1b}]8;;\u{1b}\\\n"), "{linked}");
    let link = regex::Regex::new("\u{1b}\\]8;;[^\u{1b}]*\u{1b}\\\\").unwrap();
    let stripped = link.replace_all(&linked, "").into_owned();
    assert!(!stripped.contains('\u{1b}'), "{stripped}");
    let long = stripped.lines().find(|line| line.len() > 80 && line.starts_with("  source"));
    assert!(long.is_none(), "{long:?}");
    // Without links a URL that is too long for the line of its label has one of its own, unless it fits on none.
    let shown = human(&sample(), 60, Verbosity::Normal);
    let whole = regex::Regex::new(r"(?m)^  source(\n  |  )https://\S+$").unwrap();
    assert!(whole.is_match(&shown), "{shown}");
    assert!(!shown.lines().any(|line| line.starts_with("https://")), "{shown}");
}

#[test]
fn lines_keep_to_the_width() {
    for report in [sample(), hostile()] {
        for (width, verbosity) in [(60, Verbosity::Normal), (80, Verbosity::Normal), (120, Verbosity::Verbose)] {
            let long: Vec<_> = human(&report, width, verbosity)
                .lines()
                .filter(|line| unicode_width::UnicodeWidthStr::width(*line) > width)
                // Text for copying is not wrapped.
                .filter(|line| {
                    !["source", "https://", "rerun", "by hand", "--"]
                        .iter()
                        .any(|word| line.trim_start().starts_with(word))
                })
                .map(str::to_owned)
                .collect();
            assert!(long.is_empty(), "{width}: {long:#?}");
        }
    }
}

#[test]
fn a_clean_run_fits_on_a_screen() {
    let text = human(&clean(100), 80, Verbosity::Normal);
    assert!(text.lines().count() <= 12, "{text}");
    assert!(text.contains("95 passed"), "{text}");
    assert!(text.contains("exit 0"), "{text}");
    assert!(!text.contains("rule-1"), "passes are not listed:\n{text}");
}

#[test]
fn verbose_names_every_rule() {
    let report = sample();
    let text = human(&report, 100, Verbosity::Verbose);
    for rule in &report.rules {
        assert!(text.contains(&rule.id), "{} is missing", rule.id);
    }
}

#[test]
fn quiet_names_failures_and_totals() {
    let text = human(&sample(), 80, Verbosity::Quiet);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(&lines[..3], ["FAIL  resources-read-uri", "FAIL  stdio-only-messages", "FAIL  resources-list-stable"]);
    assert_eq!(lines.last(), Some(&"exit 1  The server does not conform: 3 rules fail."));
}

#[test]
fn a_warning_fails_where_the_run_is_strict() {
    let strict = RunReport { strict: true, ..sample() };
    let text = human(&strict, 80, Verbosity::Normal);
    assert!(text.contains("FAIL  resources-read-missing\n  The server SHOULD return"), "{text}");
    assert!(text.contains("exit 1  The server does not conform: 5 rules fail, 2 of them SHOULD (strict)."), "{text}");
    assert!(!text.contains("WARN"), "{text}");
    assert_eq!(junit_counts(&strict), Counts { tests: 30, failures: 5, errors: 4, skipped: 0 });
}

#[test]
fn the_same_finding_in_several_revisions_is_told_once() {
    let report = in_three_revisions();
    let text = human(&report, 100, Verbosity::Normal);
    assert_eq!(text.matches("FAIL  resources-read-uri  in").count(), 1, "{text}");
    assert!(text.contains("FAIL  resources-read-uri  in 2025-03-26 to 2025-11-25"), "{text}");
    assert!(
        text.contains("exit 1  The server does not conform: 3 rules fail, counted once for all revisions."),
        "{text}"
    );
    let xml = render(Format::Junit, &report, &Style::default());
    assert!(xml.contains(r#"<testsuite name="resources (2025-06-18)""#), "{xml}");
    assert!(xml.contains(r#"name="resources-read-uri" classname="resources (2025-06-18)""#), "{xml}");
}

#[test]
fn junit_counts_every_rule_once() {
    assert_eq!(junit_counts(&sample()), Counts { tests: 30, failures: 3, errors: 4, skipped: 0 });
    assert_eq!(junit_counts(&hostile()), Counts { tests: 32, failures: 4, errors: 5, skipped: 0 });
    let all = render(Format::Junit, &sample(), &Style { verbosity: Verbosity::Verbose, ..Style::default() });
    assert_eq!(counted(&all), Counts { tests: 39, failures: 3, errors: 4, skipped: 9 });
}

#[test]
fn text_of_a_server_cannot_act_on_a_terminal() {
    for verbosity in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
        let text = human(&hostile(), 80, verbosity);
        let acting = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(acting, None, "{text}");
    }
    let text = human(&hostile(), 80, Verbosity::Normal);
    for shown in [r"\u001b[2J", r"\u0000", r"\u202e", "🦀", "שלום", r"\nFAIL  forged"] {
        assert!(text.contains(shown), "{shown} is missing:\n{text}");
    }
    assert!(!text.contains("\nFAIL  forged"), "{text}");
}

#[test]
fn long_values_are_cut_to_where_they_differ() {
    let text = human(&hostile(), 80, Verbosity::Normal);
    assert!(text.contains("x<EXPECTED>y") && text.contains("x<RECEIVED>y"), "{text}");
    assert!(text.len() < 16_000, "{}", text.len());
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
