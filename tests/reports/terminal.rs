//! The report for people: its width, its colours and what it leaves out.

use crate::*;

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
