//! Servers that cannot be tested: exit code 3, and a message with the attempt, the result and the fix.

use crate::{
    assert_shown, ran,
    server::{Reference, web_site},
    typed,
};

fn told(args: &[&str], message: &str) {
    let ran = ran(args);
    assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{args:?}");
    assert_shown(&ran.stderr, message);
}

#[test]
fn a_program_that_is_not_there() {
    told(
        &["run", "--stdio", "/no/such/server --quiet"],
        "error: the server could not be tested
  tried: to start /no/such/server
  cause: no such file
   help: check the path; is the program built?",
    );
}

/// It responds to everything except the handshake, so the handshake is the cause.
#[cfg(unix)]
#[test]
fn a_server_that_the_handshake_ends() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Unknown method"}}"#;
    let server = format!("while read -r line; do case $line in *initialize*) exit 7;; esac; echo '{answer}'; done");
    let line = shlex::try_join(["sh", "-c", &server]).unwrap();
    for revision in ["auto", "2025-06-18"] {
        let ran = ran(["run", "--stdio", &line, "--revision", revision, "--filter", "lifecycle-initialize-*"]);
        assert_eq!(ran.code, 1, "{revision}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("FAIL  lifecycle-initialize-answered"), "{revision}: {}", ran.stdout);
        let why = "the server exited during `initialize`: exited with status 7";
        let shown: Vec<_> = ran.stdout.split_whitespace().collect();
        assert!(shown.join(" ").contains(why), "{revision}: {}", ran.stdout);
    }
    let gone = shlex::try_join(["sh", "-c", "read -r line; exit 7"]).unwrap();
    assert_eq!(ran(["run", "--stdio", &gone, "--revision", "2025-06-18"]).code, 3);
}

#[test]
fn a_port_where_nobody_listens() {
    told(
        &["run", "--http", "http://127.0.0.1:1/mcp"],
        "error: the server could not be tested
  tried: http://127.0.0.1:1/mcp
  cause: connection refused
   help: is the server running, and does it listen on that port?",
    );
    told(
        &["run", "--sse", "http://127.0.0.1:1/sse"],
        "error: the server could not be tested
  tried: to open the event stream of http://127.0.0.1:1/sse
  cause: connection refused
   help: is the server running, and does it listen on that port?",
    );
}

#[test]
fn a_web_server_without_mcp() {
    let site = web_site();
    let url = format!("{site}/mcp");
    told(
        &["run", "--http", &url],
        &format!(
            "error: the server could not be tested
  tried: {url}
  cause: HTTP 404 with an invalid JSON-RPC message: text/html is neither application/json nor \
             text/event-stream
   help: check the path of the URL (often /mcp); use --sse URL for the older HTTP+SSE transport"
        ),
    );
    told(
        &["run", "--sse", &url],
        &format!(
            "error: the server could not be tested
  tried: to open the event stream of {url}
  cause: the response is not an event stream: status 404, text/html
   help: is this an HTTP+SSE server? Use --http for Streamable HTTP"
        ),
    );
}

/// The wrong transport is a mistake in the command line, not a fault of the server.
#[test]
fn an_endpoint_of_the_other_transport() {
    let server = Reference::start();
    for (option, url, help) in [("--sse", &server.http, "--http"), ("--http", &server.sse, "--sse")] {
        let ran = ran(["run", option, url]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{option}: {}", ran.stderr);
        assert!(ran.stderr.contains(help), "{option}: {}", ran.stderr);
    }
}

#[test]
fn each_report_says_why_there_is_nothing_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let formats = ["json", "junit", "sarif", "tap", "markdown", "html", "human"];
    let reports = formats.map(|format| format!("--report={format}={}", file(format)));
    let untested = ["run", "--stdio", "/no/such/server", "--report", "github"].map(str::to_owned);
    let told = ran(untested.iter().chain(&reports));
    assert_eq!(told.code, 3);
    let why = "The server could not be tested: no such file; tried: to start /no/such/server; help: check the path";
    assert!(told.stdout.starts_with(&format!("::error title=mcp-conform::{why}")), "{}", told.stdout);
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    for format in formats {
        assert!(read(format).contains("no such file"), "{format}: {}", read(format));
    }
    assert!(read("tap").contains("\nBail out! The server could not be tested: "), "{}", read("tap"));
    assert!(read("junit").contains("<error message=\"The server could not be tested: "), "{}", read("junit"));

    // It cannot be merged as a part.
    let merged = ran(["report", "merge", &file("json")]);
    assert_eq!(merged.code, 2);
    assert!(merged.stderr.contains("has no results: no such file"), "{}", merged.stderr);

    let refused = ran(["run", "--reference", "--filter", "no-such-rule", &reports[1]]);
    assert_eq!(refused.code, 2);
    assert!(read("junit").contains("the filter `no-such-rule` matches no suite"), "{}", read("junit"));
}

#[test]
fn a_mistake_in_what_is_to_be_written_leaves_former_reports_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.json");
    std::fs::write(&path, "old").unwrap();
    let old = format!("--report=json={}", path.display());
    assert_eq!(ran(["run", "--reference", &old, "--report", "yunit"]).code, 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn a_server_of_another_revision() {
    let server = format!("{} serve --revision 2024-11-05", crate::PROGRAM);
    let ran = ran(["run", "--stdio", &server, "--revision", "2025-06-18"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("error: the server does not support revision 2025-06-18\n  cause: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("2024-11-05"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("or use `--revision all`\n"), "{}", ran.stderr);
    let any = typed(&format!("run --filter base.lifecycle -- {server}"));
    assert_eq!(any.code, 0, "{}{}", any.stdout, any.stderr);
}

#[cfg(unix)]
mod programs {
    use super::{ran, told};

    fn shell(script: &str, came: &str, help: &str) {
        let tried = format!("sh -c '{script}'");
        told(
            &["run", "--timeout", "1", "--", "sh", "-c", script],
            &format!("error: the server could not be tested\n  tried: {tried}\n  cause: {came}\n   help: {help}"),
        );
    }

    const ALIVE: &str = "run the command by hand; it must keep running and read requests from stdin. Is it built, are its dependencies \
        installed where this command looks for them (the `python` of a virtualenv), are its variables set (--env)?";

    #[test]
    fn that_die_at_once() {
        shell("exit 3", "exited with status 3", ALIVE);
        shell("echo no config >&2; exit 1", "exited with status 1; on stderr: no config", ALIVE);
        let usage = "echo \"usage: notes DIR\" >&2; echo \"  DIR  where notes are\" >&2; exit 2";
        shell(usage, "exited with status 2; on stderr: usage: notes DIR | DIR  where notes are", ALIVE);
    }

    #[test]
    fn that_say_nothing() {
        shell(
            "while read line; do :; done",
            "no response: no reply within 3 s",
            "the server must reply to `initialize` on stdout, one JSON message per line; to give it more time, use \
             --timeout (now 1 s, and 3 times that for a start)",
        );
    }

    #[test]
    fn that_send_their_input_back() {
        for command in ["cat", "sh -c 'while read -r line; do echo \"got $line\"; done'"] {
            let ran = ran(["run", "--timeout", "1", "--stdio", command]);
            assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{command}: {}", ran.stderr);
            assert!(ran.stderr.contains("this command sends its input back"), "{command}: {}", ran.stderr);
        }
    }

    /// The output can be judged although no handshake succeeded: the report shows the line and how to fix it.
    #[test]
    fn that_print_a_banner_instead_of_messages() {
        let ran = ran(["run", "--timeout", "1", "--", "sh", "-c", "echo Server v1 ready; while read line; do :; done"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{}", ran.stdout);
        let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in [
            "FAIL stdio-stdout-only-mcp",
            "server Server v1 ready",
            "on stdout it wrote `Server v1 ready`, which is not a JSON-RPC message",
            "write logs and banners to stderr",
        ] {
            assert!(told.contains(text), "{text} is missing:\n{}", ran.stdout);
        }
    }

    /// Its usage, because an argument is missing: no server was there to be judged.
    #[test]
    fn that_print_their_usage_to_stdout() {
        let ran = ran(["run", "--timeout", "1", "--", "sh", "-c", "echo 'Usage: notes DIR'; exit 1"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
        let cause =
            "cause: exited with status 1; on stdout it wrote `Usage: notes DIR`, which is not a JSON-RPC message";
        assert!(ran.stderr.contains(cause), "{}", ran.stderr);
    }

    /// The handshakes of all legacy revisions are one request: the third one is not waited for.
    #[test]
    fn that_are_silent_in_every_revision() {
        let server = "echo started >>\"$0\"; while read -r line; do :; done";
        let starts = tempfile::NamedTempFile::new().unwrap();
        let file = starts.path().to_str().unwrap();
        let ran = ran(["run", "--timeout", "0.2", "--revision", "all", "--", "sh", "-c", server, file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
        // Two of these, and one of the newest revision.
        assert_eq!(std::fs::read_to_string(starts.path()).unwrap().lines().count(), 3);
    }
}
