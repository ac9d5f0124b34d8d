//! A server that is far away: whatever goes there takes its time, so it is asked for several suites at once.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{report, server::Reference};

/// On the way there, for each piece of a request.
const DELAY: Duration = Duration::from_millis(30);

/// Pipes to the server, beside each other.
type Pipes = Arc<Mutex<Vec<TcpStream>>>;

/// The URL of the server from far away; where something fatal is on its way, all connections end.
fn far(server: &str, fatal: Option<&'static str>) -> String {
    let address = server.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let pipes = Pipes::default();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(there) = TcpStream::connect(&address) else { return };
            let both = || Some((near.try_clone().ok()?, there.try_clone().ok()?));
            let (Some(forth), Some((back_to, back_from))) = (both(), both()) else { return };
            pipes.lock().unwrap().push(near);
            let pipes = Arc::clone(&pipes);
            thread::spawn(move || {
                carry(forth.0, forth.1, |piece| {
                    thread::sleep(DELAY);
                    let ends = fatal.is_some_and(|fatal| String::from_utf8_lossy(piece).contains(fatal));
                    for pipe in pipes.lock().unwrap().drain(..).filter(|_| ends) {
                        let _ = pipe.shutdown(Shutdown::Both);
                    }
                    !ends
                });
            });
            thread::spawn(move || carry(back_from, back_to, |_| true));
        }
    });
    url
}

/// Until one side has had enough, or a piece is not to go on.
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

/// The status of each rule of some suites of each kind of connection, and what was found.
fn verdicts(url: &str) -> BTreeMap<String, (String, String)> {
    const SUITES: [&str; 7] = [
        "resources.list",
        "resources.read",
        "resources.refusals",
        "base.ids",
        "base.errors",
        "base.first",
        "tools.list",
    ];
    let filters: String = SUITES.iter().map(|suite| format!(" --filter {suite}")).collect();
    let (report, _) = report(&format!("run --http {url}{filters}"));
    let rules = report["rules"].as_array().expect("rules").iter();
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    rules.map(|rule| (text(&rule["id"]), (text(&rule["status"]), rule["findings"].to_string()))).collect()
}

#[test]
fn a_server_that_is_far_away_is_judged_like_one_nearby() {
    let server = Reference::start();
    let near = verdicts(&server.http);
    assert!(near.len() > 50 && near.values().all(|(status, _)| status != "fail"), "{near:?}");
    assert_eq!(verdicts(&far(&server.http, None)), near);
}

/// What other suites were asking at that moment is asked again.
#[test]
fn the_request_alone_is_blamed_under_which_a_shared_server_ends() {
    let server = Reference::start();
    let near = verdicts(&server.http);
    let ended = verdicts(&far(&server.http, Some("mcp-conform/does-not-exist")));
    let other: Vec<_> = ended.iter().filter(|(rule, told)| near[*rule] != **told).collect();
    let [(rule, (status, findings))] = other.as_slice() else { panic!("one rule: {other:?}") };
    assert_eq!((rule.as_str(), status.as_str()), ("jsonrpc-survives-requests", "fail"));
    let others = ["tools/", "resources/", "prompts/", "ping", "logging/"];
    assert!(others.iter().all(|other| !findings.contains(other)), "{findings}");
}
