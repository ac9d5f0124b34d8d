//! A remote server: every request takes time, so several suites send requests concurrently.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{report, server::Reference};

const FAR: Way = Way { delay: Duration::from_millis(30), fatal: None, for_good: false };

/// Concurrent connections to the server.
type Pipes = Arc<Mutex<Vec<TcpStream>>>;

/// The connection to a server.
#[derive(Clone, Copy, Default)]
struct Way {
    /// The delay of each piece of a request.
    delay: Duration,
    /// When this text passes, all connections are closed, ...
    fatal: Option<&'static str>,
    /// ... and stay closed, if so.
    for_good: bool,
}

/// The URL of the server at the other end.
fn url_by(way: Way, server: &str) -> String {
    let address = server.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let pipes = Pipes::default();
    let gone = Arc::new(AtomicBool::new(false));
    thread::spawn(move || {
        for near in listener.incoming().flatten().take_while(|_| !gone.load(Relaxed)) {
            let Ok(there) = TcpStream::connect(&address) else { return };
            let both = || Some((near.try_clone().ok()?, there.try_clone().ok()?));
            let (Some(forth), Some((back_to, back_from))) = (both(), both()) else { return };
            pipes.lock().unwrap().push(near);
            let (pipes, gone) = (Arc::clone(&pipes), Arc::clone(&gone));
            thread::spawn(move || {
                carry(forth.0, forth.1, |piece| {
                    thread::sleep(way.delay);
                    let ends = way.fatal.is_some_and(|fatal| String::from_utf8_lossy(piece).contains(fatal));
                    gone.fetch_or(ends && way.for_good, Relaxed);
                    if ends {
                        pipes.lock().unwrap().drain(..).for_each(|pipe| drop(pipe.shutdown(Shutdown::Both)));
                    }
                    !ends
                });
            });
            thread::spawn(move || carry(back_from, back_to, |_| true));
        }
    });
    url
}

/// Forwards until one side closes, or a piece must not pass.
fn carry(mut from: TcpStream, mut to: TcpStream, goes_on: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !goes_on(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// The status of each rule of these suites, and its findings.
fn verdicts(url: &str, suites: &[&str]) -> BTreeMap<String, (String, String)> {
    let filters: String = suites.iter().map(|suite| format!(" --filter {suite}")).collect();
    let (report, _) = report(&format!("run --http {url}{filters}"));
    let rules = report["rules"].as_array().expect("rules").iter();
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    rules.map(|rule| (text(&rule["id"]), (text(&rule["status"]), rule["findings"].to_string()))).collect()
}

/// Suites with each kind of connection.
const SUITES: [&str; 7] =
    ["resources.list", "resources.read", "resources.refusals", "base.ids", "base.errors", "base.first", "tools.list"];

/// Suites that send requests concurrently to a nearby server.
const WAITING: [&str; 5] = ["base.ids", "client.answers", "tools.calls", "tools.results", "utilities.logging"];

#[test]
fn a_server_that_is_far_away_is_judged_like_one_nearby() {
    let server = Reference::start();
    let near = verdicts(&server.http, &SUITES);
    assert!(near.len() > 50 && near.values().all(|(status, _)| status != "fail"), "{near:?}");
    assert_eq!(verdicts(&url_by(FAR, &server.http), &SUITES), near);
}

/// Requests that other suites sent at that moment are repeated.
#[test]
fn the_request_alone_is_blamed_under_which_a_shared_server_ends() {
    let server = Reference::start();
    let nearby = Way::default();
    for (way, suites, fatal, method) in [
        (FAR, &SUITES[..], "mcp-conform/does-not-exist", "does-not-exist"),
        (nearby, &WAITING[..], "\"progressToken\":0", "tools/call"),
    ] {
        let near = verdicts(&server.http, suites);
        let ended = verdicts(&url_by(Way { fatal: Some(fatal), ..way }, &server.http), suites);
        // Rules about only that request have nothing to judge.
        let is_judged = |(status, _): &(String, String)| status != "not-exercised";
        let other: Vec<_> =
            ended.iter().filter(|(rule, at_end)| near[*rule] != **at_end && is_judged(at_end)).collect();
        let [(rule, (status, findings))] = other.as_slice() else { panic!("one rule: {other:?}") };
        assert_eq!((rule.as_str(), status.as_str()), ("jsonrpc-survives-requests", "fail"));
        assert!(findings.contains(method), "{findings}");
        let others = ["tools/", "resources/", "prompts/", "ping", "logging/"];
        assert!(others.iter().all(|other| method.starts_with(other) || !findings.contains(other)), "{findings}");
    }
}

/// If several requests were open, none of them can be blamed.
#[test]
fn a_server_that_does_not_come_back_is_told_by_what_it_was_asked_last() {
    let server = Reference::start();
    let way = Way { fatal: Some("\"progressToken\":0"), for_good: true, ..Way::default() };
    let filters: String = WAITING.iter().map(|suite| format!(" --filter {suite}")).collect();
    let (report, _) = report(&format!("run --http {}{filters}", url_by(way, &server.http)));
    let rules = report["rules"].as_array().expect("rules");
    let gone = "the server could not be reached again: connection refused";
    let is_gone =
        |rule: &Value| rule["suite"] == "tools.results" && rule["status"] == "broken" && rule["reason"] == gone;
    assert!(rules.iter().any(is_gone), "{report}");
    for failed in rules.iter().filter(|rule| rule["status"] == "fail") {
        let findings = failed["findings"].as_array().expect("findings");
        let alone = |finding: &Value| !finding.to_string().contains("or one of");
        assert_eq!(failed["id"], "jsonrpc-survives-requests");
        assert!(findings.len() == 1 || !findings.iter().any(alone), "{failed}");
    }
}
