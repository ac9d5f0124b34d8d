//! The reference server, with arbitrary input.

use std::sync::{Arc, Mutex};

use hyper::{Request, body::Bytes};
use serde_json::Value;

use mcp_conform::{
    reference::server::{
        Options, PROPOSALS, Transport,
        dispatch::Server,
        http::{
            guard::Guard,
            hub::{Hub, Shared},
            route::serve,
        },
        session::Session,
    },
    revision::Revision,
};

/// The first byte selects the revisions of the server.
fn options(first: u8) -> Options {
    let revisions = match usize::from(first & 7) {
        all if all >= Revision::ALL.len() => Revision::ALL.to_vec(),
        one => vec![Revision::ALL[one]],
    };
    let proposals = PROPOSALS.map(str::to_owned).to_vec();
    Options { revisions, proposals, protected: first & 8 > 0, fault: None, ..Options::default() }
}

/// Lines on stdin: whatever they are, all output is JSON, one value per line.
pub fn server(bytes: &[u8]) {
    let Some((&first, lines)) = bytes.split_first() else { return };
    let mut server = Server::new(options(first)).expect("options that exist");
    let mut session = Session::new(Transport::Stdio);
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let turn = server.receive(&mut session, line);
        assert!(turn.crash.is_none(), "without a fault");
        let told = server.announce(&session, &turn.changes);
        for out in told.iter().chain(&turn.out).chain(&turn.settled).chain(&turn.later) {
            assert!(!out.bytes.contains(&b'\n'));
            serde_json::from_slice::<Value>(&out.bytes).expect("JSON");
        }
    }
    server.close(&mut session);
}

/// HTTP requests, separated by a line `%%`: each is a request line, headers, an empty line and a body.
pub fn requests(bytes: &[u8]) {
    let Some((&first, requests)) = bytes.split_first() else { return };
    let options = options(first);
    let guard = options.protected.then(Guard::default);
    let hub: Shared = Arc::new(Mutex::new(Hub::new(Server::new(options).expect("options that exist"), guard)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _entered = runtime.enter();
    let mut session = None;
    for request in String::from_utf8_lossy(requests).split("\n%%\n") {
        let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
        let mut lines = head.lines();
        let (method, path) = lines.next().and_then(|line| line.split_once(' ')).unwrap_or(("POST", "/mcp"));
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            request = match &session {
                Some(id) if value == "SESSION" => request.header(name, id),
                _ => request.header(name, value),
            };
        }
        let Ok(request) = request.body(()) else { continue };
        let (head, ()) = request.into_parts();
        let reply = serve(&hub, &head, &Bytes::from(body.to_owned()), &[]);
        session = reply.headers().get("mcp-session-id").cloned().or(session);
    }
}
