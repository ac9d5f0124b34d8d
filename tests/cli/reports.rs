//! Commands for reports and rules after a run.

use crate::{ran, typed};

#[test]
fn a_report_is_rendered_joined_and_compared() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (good, bad, part) = (file("good.json"), file("bad.json"), file("part.json"));
    let run = |options: &[&str], path: &str| {
        let to = format!("json={path}");
        ran(["run", "--reference", "--report", &to].iter().chain(options).copied()).code
    };
    assert_eq!(run(&["--filter", "resources.list"], &good), 0);
    assert_eq!(run(&["--filter", "base.ping", "--revision", "2025-11-25"], &part), 0);
    assert_eq!(run(&["--filter", "resources.list", "--fault", "list-item-without-name"], &bad), 1);

    let rendered = ran(["report", "render", &bad, "--report", "tap"]);
    assert_eq!(rendered.code, 1);
    assert!(rendered.stdout.contains("\nnot ok "), "{}", rendered.stdout);

    let dash = ran(["report", "render", &bad, "--report", "tap=-"]);
    assert_eq!(dash.stdout, rendered.stdout);

    let compared = ran(["report", "diff", &good, &bad]);
    assert_eq!(compared.code, 1);
    assert!(
        compared.stdout.starts_with("worse\n  fail           resources-list-item-name  was pass\n"),
        "{}",
        compared.stdout
    );
    assert_eq!(ran(["report", "diff", &bad, &good]).code, 0);
    let incomparable = ran(["report", "diff", &good, &part]);
    assert_eq!(incomparable.code, 2, "{}", incomparable.stdout);
    assert!(incomparable.stderr.contains("different revisions: 2026-07-28 and 2025-11-25"), "{}", incomparable.stderr);

    let merged = ran(["report", "merge", &good, &part, "--verbose"]);
    assert_eq!(merged.code, 0, "{}", merged.stderr);
    for rule in ["resources-list-item-name", "base.ping"] {
        assert!(merged.stdout.contains(rule), "{}", merged.stdout);
    }
    let others = ran(["report", "merge", &good, &bad]);
    assert_eq!(others.code, 2);
    assert!(others.stderr.contains("only parts of one run can be merged"), "{}", others.stderr);
}

#[test]
fn a_rule_is_explained_with_what_breaks_it() {
    let told = typed("explain resources-read-uri-required-code").stdout;
    for part in [
        "The server SHOULD return -32602 for a read without a string `uri`",
        "How it is tested:\n\n  - id: resources-read-uri-required-code\n",
        "https://modelcontextprotocol.io/specification/2026-07-28/schema#invalidparamserror",
        "`error.code` is -32002, expected -32602",
        "Correct messages:\n\n  client  ",
        "\"error\":{\"code\":-32602,",
    ] {
        assert!(told.contains(part), "{part} is missing:\n{told}");
    }
    let looped = typed("explain jsonrpc-method-not-found-code").stdout;
    let step = "Requests:\n\n  - ";
    assert!(looped.contains(step) && looped.contains("    save: unknown\n"), "{looped}");
    let suite = typed("explain base.errors");
    assert_eq!(suite.code, 0);
    assert!(suite.stdout.starts_with("base.errors is a suite\n"), "{}", suite.stdout);
    assert!(suite.stdout.contains("\njsonrpc-method-not-found-code\n  "), "{}", suite.stdout);
    assert!(typed("explain pagination-complete").stdout.contains("not tested only the server knows the complete list"));
    let missed = typed("explain resources-read-uri-required-cod");
    assert_eq!(missed.code, 2);
    assert!(missed.stderr.contains("did you mean resources-read-uri-required-code?"), "{}", missed.stderr);
}
