//! Mistakes of the user: exit code 2, a message with the fix, and no request is sent.

use crate::{assert_shown, ran, typed};

/// The error message for a command line.
fn refused(line: &str, message: &str) {
    let ran = typed(line);
    assert_eq!(ran.code, 2, "{line}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{line}");
    assert_shown(&ran.stderr, message);
}

#[test]
fn a_run_needs_a_server() {
    refused(
        "run",
        "error: no server to test
  help: pass a command (--stdio './server --flag', or `-- ./server --flag`) or a URL (--http URL); \
         `mcp-conform run --reference` shows an example",
    );
}

/// Likely first attempts of a new user, and the help for them.
#[test]
fn commands_where_none_are_looked_for() {
    let dashes = "mcp-conform run -- COMMAND";
    for (line, tip) in [
        ("run python server.py", dashes),
        ("server.py", dashes),
        ("run ./server.py", "`mcp-conform run -- ./server.py`"),
        ("run http://127.0.0.1:3000/mcp", "did you mean --http http://127.0.0.1:3000/mcp?"),
    ] {
        let ran = typed(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.contains(tip), "{line}: {}", ran.stderr);
    }
    let shell = ran(["run", "--stdio", "TOKEN=x ./server"]);
    assert_eq!(shell.code, 3);
    assert!(shell.stderr.contains("set variables with --env"), "{}", shell.stderr);
}

#[test]
fn options_that_do_not_exist() {
    let ran = typed("run --reference --strickt");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: unexpected argument '--strickt' found"), "{}", ran.stderr);
    assert!(ran.stderr.contains("'--strict'"), "{}", ran.stderr);
}

#[test]
fn two_targets() {
    let ran = typed("run --reference --http http://127.0.0.1:3000/mcp");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}

#[test]
fn names_that_nothing_has() {
    refused(
        "run --reference --filter resources-read-contents-urii",
        "error: the filter `resources-read-contents-urii` matches no suite, rule or level
  help: did you mean resources-read-contents-uri? `mcp-conform list rules` lists all",
    );
    refused(
        "run --reference --filter 12345",
        "error: the filter `12345` matches no suite, rule or level
  help: `mcp-conform list rules` lists all",
    );
    let level = typed("run --reference --filter MUST --filter resources.list");
    assert_eq!(level.code, 0, "{}", level.stderr);
    refused(
        "run --reference --fault list-item-without-nam",
        "error: the reference server has no fault `list-item-without-nam`
  help: did you mean list-item-without-name? `mcp-conform list faults` lists all",
    );
    refused(
        "run --reference --revision 2025-12-25",
        "error: unknown protocol revision `2025-12-25`; known: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, \
         2026-07-28, auto, all",
    );
}

/// The run would pass as if the reference server had no fault.
#[test]
fn faults_that_cannot_show() {
    for revision in ["", " --revision auto", " --revision 2026-07-28"] {
        refused(
            &format!("run --reference --fault task-lives-again{revision}"),
            "error: the fault task-lives-again does not show in revision 2026-07-28
  help: add --revision 2025-11-25",
        );
    }
    refused(
        "run --reference --fault auth-session-ids-counted",
        "error: the fault auth-session-ids-counted shows only over Streamable HTTP, and --reference uses stdio
  help: `mcp-conform serve --http 127.0.0.1:8000 --fault auth-session-ids-counted`, then `mcp-conform run --http \
         http://127.0.0.1:8000/mcp --revision 2025-11-25`",
    );
    refused(
        "run --reference --fault auth-missing-token-403",
        "error: the fault auth-missing-token-403 shows only over Streamable HTTP, on a server that \
         requires authorization, and --reference uses stdio
  help: `mcp-conform serve --http 127.0.0.1:8000 --protected --fault auth-missing-token-403`, then `mcp-conform run \
         --http http://127.0.0.1:8000/mcp`",
    );
    refused(
        "run --reference --fault dialect-announces-updated",
        "error: the fault dialect-announces-updated shows only on a server that follows dialect-versioned
  help: `mcp-conform run --proposal dialect-versioned --revision 2025-11-25 -- mcp-conform serve --proposal dialect-versioned --fault \
         dialect-announces-updated`",
    );
    let all =
        typed("run --reference --fault task-lives-again --revision all --filter tasks.core --filter tasks.core.looks");
    assert!(all.stdout.contains("\nFAIL  tasks-valid-transitions"), "{}{}", all.stdout, all.stderr);
}

#[test]
fn reports_that_cannot_be_written() {
    refused(
        "run --reference --report junit --report json",
        "error: only `human` and `github` can share stdout; give the others a path: --report FORMAT=PATH",
    );
    refused(
        "run --reference --report yunit",
        "error: unknown report format `yunit`
  help: the formats are human, html, json, junit, tap, sarif, markdown, github, badge",
    );
    refused(
        "run --reference --report markdown=",
        "error: --report markdown= has no path
  help: is the variable set? `-` writes to stdout",
    );
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.xml").display().to_string();
    refused(
        &format!("run --reference --report junit={path} --report json={path}"),
        &format!(
            "error: two reports are written to `{path}`
  help: use a different path for each: --report FORMAT=PATH"
        ),
    );
    let ran = typed("run --reference --report json=/no/such/directory/report.json");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: failed to write `/no/such/directory/report.json`: "), "{}", ran.stderr);
}

/// An option without an effect is rejected.
#[test]
fn options_that_mean_nothing_to_the_server() {
    refused(
        "run --http http://127.0.0.1:1/mcp --env A=b",
        "error: --env is only for a server that is started by a command
  help: set the variable where the server is started",
    );
    refused(
        "run --stdio server --header A:b",
        "error: --header is only for a server over HTTP
  help: set variables of a command with --env NAME=VALUE",
    );
    for line in ["run --stdio server --fault x", "run --fault x -- server", "run --fault x"] {
        refused(
            line,
            "error: --fault and --variation are only for the reference server
  help: add --reference to test the reference server",
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("a.toml");
    std::fs::write(&config, "[targets.a]\nhttp = \"http://127.0.0.1:1/mcp\"\n").unwrap();
    let ran = typed(&format!("run a --config {} --cwd /tmp", config.display()));
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--cwd is only for a server that is started by a command"), "{}", ran.stderr);
}

#[test]
fn values_of_another_form() {
    refused("run --stdio server --env TOKEN", "error: --env takes NAME=VALUE; the name or `=` is missing");
    refused(
        "run --http http://127.0.0.1:3000/mcp --header Authorization",
        "error: --header takes 'NAME: VALUE'; the name or `:` is missing",
    );
    refused(
        "run --http localhost/mcp",
        "error: `localhost/mcp` is not an http or https URL
  help: did you mean http://localhost/mcp?",
    );
    refused(
        "run --http http://",
        "error: `http://` is not an http or https URL
  help: use a URL such as http://127.0.0.1:3000/mcp",
    );
    let long = typed("run --reference --timeout long");
    assert_eq!(long.code, 2);
    assert!(long.stderr.contains("'--timeout <TIME>': expected a number of seconds (10 or 0.5)"), "{}", long.stderr);
    refused("run --reference --timeout 0", "error: --timeout takes a number of seconds above 0, not 0");
    refused(
        "run --stdio 'server",
        "error: `'server` cannot be split into a command and its arguments
  help: close every quote, or pass the command after `--`",
    );
}

#[cfg(unix)]
#[test]
fn a_mistake_in_a_suite_is_told_before_the_server_is_started() {
    let directory = tempfile::tempdir().unwrap();
    let (started, suite) = (directory.path().join("started"), directory.path().join("mine.yaml"));
    std::fs::write(
        &suite,
        "suite: mine
about: An example.
rules:
  - id: mine-named
    must: name itself
    source: our house rules
    expect: { $server.inffo.name: { matchs: a } }
",
    )
    .unwrap();
    let command = format!("touch {}; cat", started.display());
    let ran = ran(["run", "--suite", &suite.display().to_string(), "--", "sh", "-c", &command]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("mine.yaml:7:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`matchs`"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("error: 1 mistake in the suites; nothing was sent to the server\n"), "{}", ran.stderr);
    assert!(!started.exists(), "the server was started");
}
