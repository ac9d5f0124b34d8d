//! One test for each trait: the text of the report, the exit code, memory, and leftovers.

use std::{env, fs::OpenOptions, io::Write};

use libtest_mimic::{Failed, Trial};

use crate::{
    http,
    run::{Met, start},
};

/// No run needs more memory, however much it receives.
const MEGABYTES: u64 = 256;
/// Small limits make a test short; the behavior is the same as with the usual limits.
const SMALL: [&str; 12] = [
    "--limit",
    "grace=0.3",
    "--limit",
    "record_messages=3000",
    "--limit",
    "memory_bytes=8000000",
    "--limit",
    "disk_bytes=8000000",
    "--limit",
    "message_bytes=2000000",
    "--limit",
    "junk_lines=1000",
];

struct Case {
    how: &'static str,
    /// Requests time out, so timeouts are short. Which other requests time out then depends on the machine, and so does
    /// the verdict.
    hangs: bool,
    codes: &'static [i32],
    says: &'static str,
}

const fn case(how: &'static str, code: &'static [i32], says: &'static str) -> Case {
    Case { how, hangs: false, codes: code, says }
}

const fn hang(how: &'static str, code: &'static [i32], says: &'static str) -> Case {
    Case { how, hangs: true, codes: code, says }
}

const STDIO: &[Case] = &[
    case("good", &[0], "passed"),
    hang("deaf", &[3], "no reply within 3 s"),
    hang("silent", &[3], "no reply within 3 s"),
    hang("drips", &[1, 3], "no reply within 3 s"),
    hang("stops", &[1, 3], "the server stopped responding"),
    case("floods-stdout", &[1], "wrote 1000 consecutive lines to stdout that are not messages"),
    case("floods-stderr", &[0], "passed"),
    hang("floods-notifications", &[1, 3], "the record of the run reached 3000 messages"),
    hang("only-notifies", &[1, 3], "the record of the run reached 3000 messages"),
    hang("asks-forever", &[1, 3], "the record of the run reached 3000 messages"),
    case("long-notifications", &[1, 3], "the record of the run reached 8000000 bytes on disk"),
    hang("hoards", &[3], "flush stdout after each message"),
    hang("indents", &[1], "1 failed"),
    case("long-line", &[3], "not read: longer than 2000000 bytes"),
    case("deep", &[3], "not read: nested deeper than 96 levels"),
    case("digits", &[3], "not read: a number out of range"),
    case("many-values", &[3], "not read: more than 250000 values"),
    case("same-keys", &[0], "passed"),
    case("not-utf8", &[1], "jsonrpc-utf8-encoding"),
    hang("nul", &[0, 1, 3], "stdio-one-message-per-line"),
    case("bom", &[1], "stdio-no-byte-order-mark"),
    case("crlf", &[0], "passed"),
    case("pauses", &[0], "passed"),
    case("stays", &[0, 1], "after stdin was closed; then"),
    hang("half", &[1, 3], "exited with status 3; on stderr: fatal: out of cheese"),
    case("dies", &[1, 3], "exited with status 3; on stderr: fatal: out of cheese"),
    case("pages", &[1], "pagination-cursor-advances"),
];

#[cfg(target_os = "linux")]
const SCRIPTS: &[(Case, &str)] = &[
    (
        hang("closes-stdout", &[1], "closed stdout but keeps running"),
        r#"read x; echo '{"jsonrpc":"2.0","id":"discover","error":{"code":-32601,"message":"no"}}'; exec 1>&-; while read x; do :; done"#,
    ),
    (
        // The late response to `server/discover` shows that it supports the newest revision, but its next process does
        // not respond.
        hang("discovered-late", &[3], "no reply within 3 s"),
        r#"if mkdir once; then read -r x; read -r x; echo '{"jsonrpc":"2.0","id":"discover","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}'; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}'; fi; while read -r x; do :; done"#,
    ),
    (case("ignores-term", &[0, 1], "after SIGTERM; was killed"), "trap '' TERM; exec BEHAVE stays"),
    (case("escapes", &[0], "left running outside of its process group"), "setsid sleep 1000 & exec BEHAVE good"),
    (
        case("escapes-quietly", &[0], "left running outside of its process group"),
        "setsid sleep 1000 <&- >&- 2>&- & exec BEHAVE good",
    ),
    (
        hang("locks", &[0], "the server was restarted in survey (2025-06-18): the server stopped responding"),
        "mkdir lock || exit 7; trap 'rmdir lock' EXIT TERM; BEHAVE stops-once",
    ),
    (
        case("no-early-ping", &[0], "passed"),
        r#"read -r x; case $x in *'"ping"'*) exit 7;; esac; { printf '%s\n' "$x"; cat; } | BEHAVE good"#,
    ),
    (
        case("paints", &[3], "status 1; on stderr: Error: no key"),
        r"printf '\033]0;mine\007\033[2J\033[31mError:\033[0m no key\n' >&2; exit 1",
    ),
];
#[cfg(not(target_os = "linux"))]
const SCRIPTS: &[(Case, &str)] = &[];

const HTTP: &[Case] = &[
    case("good", &[1], "passed"),
    hang("silent", &[3], "no reply within 3 s"),
    hang("mute", &[3], "no reply within 3 s"),
    hang("stops", &[1, 3], "the server stopped responding"),
    case("puts-off", &[1], "the server limits the request rate"),
    case("is-busy", &[1], "the server limits the request rate"),
    case("forgets", &[1, 3], "the server ended the session"),
    case("polls", &[1], "2 failed"),
    case("leaves", &[1], "1 failed"),
    case("turns-away", &[1, 3], "the server rejected 3 requests in a row"),
    hang("drips", &[3], "no reply within 3 s"),
    hang("floods-events", &[1, 3], "the record of the run reached 3000 messages"),
    hang("floods-comments", &[3], "no reply within 3 s"),
    hang("keeps-alive", &[3], "no reply within 3 s"),
    case("splits-events", &[1], "passed"),
    case("mislabels", &[3], "send the JSON as application/json, or as an event"),
    case("demands-a-session", &[1], "its response to `initialize` had no `Mcp-Session-Id` header"),
    case("streams-for-ever", &[1, 3], "the record of the run reached 3000 messages"),
    case("huge-header", &[3], "message head is too large"),
    case("endless-headers", &[3], "message head is too large"),
    case("chunked-garbage", &[3], "the chunked encoding is broken"),
    case("short-length", &[3], "an invalid JSON-RPC message"),
    case("long-length", &[3], "closed the connection before the response was complete"),
    case("bomb", &[3], "encoded as gzip, which the client did not accept"),
    case("endless-body", &[3], "longer than 2000000 bytes, not read further"),
    case("redirects", &[3], "redirects are not followed"),
    case("continues", &[1], "passed"),
    hang("continues-forever", &[3], "no reply within 3 s"),
    case("http-1.0", &[1], "passed"),
    case("closes", &[3], "did the server crash?"),
    case("resets", &[3], "did the server crash?"),
    case("deep", &[1], "not read: nested deeper than 96 levels"),
    case("digits", &[1], "not read: a number out of range"),
    case("many-values", &[1], "not read: more than 250000 values"),
    case("long-line", &[1], "not read: longer than 2000000 bytes"),
    case("pages", &[1], "pagination-cursor-advances"),
];

const SSE: &[Case] = &[
    hang("silent", &[3], "the response is not an event stream: status 405"),
    hang("names-nothing", &[3], "no endpoint event within 1s"),
    case("names-another", &[3], "is on another server"),
];

const TLS: &[Case] = &[case("good", &[3], "is it a TLS port?"), hang("mute", &[3], "no connection in time")];

pub fn all() -> Vec<Trial> {
    let me = env::current_exe().expect("a program knows where it is").display().to_string();
    let behave = move |how: &str| vec!["--".to_owned(), me.clone(), "behave".to_owned(), how.to_owned()];
    let stdio = STDIO.iter().map(|case| {
        let server = behave(case.how);
        trial("stdio", case, move || server)
    });
    let scripts = SCRIPTS.iter().map(|(case, script)| {
        let script = script.replace("BEHAVE", &behave("")[1..3].join(" "));
        trial("stdio", case, move || ["--", "sh", "-c", &script].map(str::to_owned).into())
    });
    let served = [("http", HTTP), ("sse", SSE), ("https", TLS)].into_iter().flat_map(|(transport, cases)| {
        cases.iter().map(move |case| {
            trial(transport, case, move || {
                let server = http::start(case.how, &http::start("good", "").address);
                let flag = if transport == "sse" { "--sse" } else { "--http" };
                let scheme = if transport == "https" { "https" } else { "http" };
                vec![flag.to_owned(), format!("{scheme}://{}/mcp", server.address)]
            })
        })
    });
    let small = stdio.chain(scripts).collect::<Vec<_>>();
    let patient = Trial::test("http::puts-off changes no verdict", || {
        let [good, puts_off] = ["good", "puts-off"].map(|how| {
            let server = http::start(how, "");
            let met = start(&["--http", &format!("http://{}/mcp", server.address)]).meet();
            let verdicts = |line: &&str| line.contains(" passed · ") && line.contains(" failed · ");
            let verdicts =
                met.said.lines().find(verdicts).map(|line| line.rsplit_once(" · ").expect("a time").0.to_owned());
            verdicts.ok_or(met.said)
        });
        let good = good?;
        if puts_off? == good { Ok(()) } else { Err(format!("the good server: {good}").into()) }
    });
    small.into_iter().chain(served).chain([patient]).collect()
}

fn trial(transport: &'static str, case: &'static Case, target: impl FnOnce() -> Vec<String> + Send + 'static) -> Trial {
    Trial::test(format!("{transport}::{}", case.how), move || {
        let target = target();
        let usual = env::var("MCP_CONFORM_TABLE").is_ok_and(|path| path.ends_with("usual"));
        let small: &[&str] = if usual { &[] } else { &SMALL };
        let hasty: &[&str] = if case.hangs && !usual { &["--timeout", "1"] } else { &[] };
        let arguments: Vec<&str> =
            small.iter().chain(hasty).copied().chain(target.iter().map(String::as_str)).collect();
        let met = start(&arguments).meet();
        tabulate(transport, case, &met);
        judge(case, &met)
    })
}

fn judge(case: &Case, met: &Met) -> Result<(), Failed> {
    // The report is wrapped.
    let said = met.said.split_whitespace().collect::<Vec<_>>().join(" ");
    let wrong = match () {
        () if !met.code.is_some_and(|code| case.codes.contains(&code)) => {
            format!("exit code {:?}, not one of {:?}", met.code, case.codes)
        }
        () if !said.contains(case.says) => format!("it does not say {:?}", case.says),
        () if said.contains("panicked") => "it panicked".to_owned(),
        () if met.peak_mb > MEGABYTES => format!("it took {} MB", met.peak_mb),
        () if met.said.contains('\u{1b}') => "it passes on what terminals act on".to_owned(),
        () if met.judged_otherwise.is_some() => {
            format!("its transcript is judged otherwise: {}", met.judged_otherwise.as_deref().unwrap_or_default())
        }
        () if !met.left.is_empty() => format!("it left {:?}", met.left),
        () => return Ok(()),
    };
    Err(format!("{wrong}\n{}", met.said).into())
}

/// Writes a line with the measurements.
fn tabulate(transport: &str, case: &Case, met: &Met) {
    let Ok(path) = env::var("MCP_CONFORM_TABLE") else { return };
    let mut table = OpenOptions::new().create(true).append(true).open(path).expect("a table");
    let code = met.code.map_or("none".to_owned(), |code| code.to_string());
    let (how, says, left) = (case.how, case.says, met.left.len());
    let line = format!(
        "| {how} | {transport} | {says} | {code} | {:.1} | {:.1} | {} | {left} |\n",
        met.seconds, met.cpu_seconds, met.peak_mb
    );
    table.write_all(line.as_bytes()).expect("a line");
}
