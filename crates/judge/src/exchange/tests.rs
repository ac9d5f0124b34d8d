use super::*;
use conform_model::evidence::Transport;

/// A server that exits right after a response is noticed at the next request, which did not cause the exit.
#[test]
fn a_server_that_ends_behind_an_answer_has_no_reason_to_if_all_was_sound() {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" });
    let in_pieces = json!({ "message": call, "why": "written in 3 pieces" });
    for (sent, blamed) in [(json!({ "message": call }), true), (in_pieces, false)] {
        let link = Link { revision: Some(Revision::V2025_11_25), ..Link::new(1, Transport::Stdio) };
        let mut assembler = Assembler::new(&link);
        let mut take = |frame: u64, from: &str, kind: &str, more: &Value| {
            let mut whole = json!({ "frame": frame, "at": frame, "link": 1, "from": from, "kind": kind });
            whole.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
            assembler.take(&serde_json::from_value(whole).expect("a frame"));
        };
        let request = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
        let answered = |id: u64| json!({ "message": { "jsonrpc": "2.0", "id": id, "result": {} } });
        take(1, "client", "message", &json!({ "by": "handshake", "message": request(0, "initialize") }));
        take(2, "server", "message", &answered(0));
        take(3, "client", "message", &sent);
        take(4, "server", "message", &answered(1));
        take(5, "client", "message", &json!({ "by": PROBE, "message": request(2, "ping") }));
        take(6, "server", "note", &json!({ "text": "exited with status 1", "ended": "unasked" }));
        let killed: Vec<_> = assembler.rest().iter().map(|exchange| exchange["killed"].clone()).collect();
        assert_eq!(killed, [if blamed { json!("exited with status 1") } else { Value::Null }], "{sent}");
    }
}

/// An open request is not blamed for a crash that an earlier malformed message may have caused.
#[test]
fn a_request_is_not_blamed_for_what_a_notification_before_it_may_have_done() {
    let request = |id: u64| json!({ "from": "client", "message": { "jsonrpc": "2.0", "id": id, "method": "ping" } });
    let answered = |id: u64| json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": id, "result": {} } });
    let odd = || json!({ "from": "client", "message": { "jsonrpc": "2.0", "method": "notifications/cancelled" } });
    let init = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize" });
    let ended = json!({ "from": "server", "kind": "note", "text": "exited with status 1", "ended": "unasked" });
    let killed = |course: Vec<Value>| {
        let start = [json!({ "from": "client", "message": init }), answered(0)];
        let frames: Vec<_> = start.into_iter().chain(course).chain([ended.clone()]).collect();
        assembled(&frames).1.iter().map(|exchange| exchange["killed"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(killed(vec![odd(), request(1)]), [Value::Null]);
    assert_eq!(killed(vec![request(1), odd()]), [Value::Null]);
    assert_eq!(killed(vec![odd(), request(1), answered(1), request(2)]), ["exited with status 1"]);
}

/// The items for the frames of one stdio connection.
fn assembled(frames: &[Value]) -> (Vec<Passed>, Vec<Value>) {
    let link = Link { revision: Some(Revision::V2025_06_18), ..Link::new(1, Transport::Stdio) };
    let mut assembler = Assembler::new(&link);
    let passed = frames.iter().enumerate().map(|(index, frame)| {
        let mut whole = json!({ "frame": index, "at": index, "link": 1, "kind": "message" });
        whole.as_object_mut().expect("members").extend(frame.as_object().expect("members").clone());
        assembler.take(&serde_json::from_value(whole).expect("a frame"))
    });
    (passed.collect(), assembler.rest())
}

#[test]
fn an_answer_to_what_is_no_request_of_json_rpc_2_is_none_to_the_notification_before_it() {
    for (sent, answered) in [
        (
            json!({ "jsonrpc": "1.0", "id": "old", "method": "ping" }),
            json!({ "id": null, "error": { "code": -32600 } }),
        ),
        (json!({ "jsonrpc": "1.0", "id": "old", "method": "ping" }), json!({ "id": "old", "result": {} })),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), json!({ "id": 0, "result": {} })),
        (json!({ "method": "notifications/x" }), json!({ "id": null, "error": { "code": -32600 } })),
        (json!({ "method": "notifications/cancelled" }), json!({ "error": { "code": -32600 } })),
    ] {
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let (passed, _) = assembled(&[
            json!({ "from": "client", "message": initialized }),
            json!({ "from": "client", "message": sent }),
            json!({ "from": "server", "message": answered }),
        ]);
        assert_eq!(passed[2].messages[0].answers, Some("unreadable input"), "{answered}");
    }
}

#[test]
fn an_unknown_method_without_an_id_is_that_of_the_notification_and_not_of_unreadable_input() {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for (code, answers) in [(-32601, "nothing"), (-32700, "unreadable input")] {
        let (passed, _) = assembled(&[
            json!({ "from": "client", "message": {} }),
            json!({ "from": "client", "message": request }),
            json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": 1, "result": {} } }),
            json!({ "from": "client", "message": { "jsonrpc": "2.0", "method": "notifications/unknown" } }),
            json!({ "from": "server", "message": { "jsonrpc": "2.0", "error": { "code": code } } }),
        ]);
        assert_eq!(passed[4].messages[0].answers, Some(answers), "{code}");
    }
}

#[test]
fn what_was_given_up_before_a_run_was_cut_short_stays_unanswered() {
    let request = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    let (_, rest) = assembled(&[
        json!({ "from": "client", "message": { "jsonrpc": "2.0", "id": 0, "method": "initialize" } }),
        json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": 0, "result": {} } }),
        json!({ "from": "client", "at": 1_000_000, "message": request(1) }),
        json!({ "from": "client", "at": 9_000_000, "message": request(2) }),
        json!({ "from": "client", "at": 12_000_000, "kind": "cut-short", "message": { "patience_ms": 10_000 } }),
    ]);
    let expected: Vec<_> = rest.iter().map(|exchange| exchange["expects_reply"].clone()).collect();
    assert_eq!(expected, [true, false]);
}

/// A request that got only little time because others had timed out may belong to a server that is about to exit.
#[test]
fn a_brief_wait_on_a_connection_that_was_given_up_proves_nothing() {
    let (_, rest) = assembled(&[
        json!({ "from": "client", "message": { "jsonrpc": "2.0", "id": 0, "method": "initialize" } }),
        json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": 0, "result": {} } }),
        json!({ "from": "client", "at": 1_000_000, "message": { "jsonrpc": "2.0", "id": 1, "method": "tools/list" } }),
        json!({ "from": "client", "at": 2_600_000, "kind": "cut-short", "message": { "patience_ms": 5_000 } }),
        json!({ "from": "client", "at": 4_900_000, "kind": "note", "text": "was ended by SIGTERM", "ended": "terminated" }),
    ]);
    assert_eq!(rest[0]["expects_reply"], false);
}

#[test]
fn what_a_suite_asks_again_was_not_left_unanswered() {
    let request = |id: u64, by: &str| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
        json!({ "from": "client", "by": by, "message": message })
    };
    let (_, rest) = assembled(&[
        json!({ "from": "client", "message": { "jsonrpc": "2.0", "id": 0, "method": "initialize" } }),
        json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": 0, "result": {} } }),
        request(1, "again"),
        request(2, "other"),
        json!({ "from": "client", "by": "again", "kind": "cut-short" }),
        request(3, "again"),
    ]);
    let expected: Vec<_> = rest.iter().map(|exchange| exchange["expects_reply"].clone()).collect();
    assert_eq!(expected, [false, true, true]);
}

#[test]
fn a_note_on_an_exchange_is_a_loss_only_where_it_ends_there() {
    for (note, expected) in [
        (json!({ "post": 5, "text": "the server added: Accepted" }), true),
        (json!({ "post": 5, "text": "the response broke off", "ended": "broken" }), false),
        (json!({ "text": "the event stream ended" }), false),
    ] {
        let link = Link { revision: Some(Revision::V2025_03_26), ..Link::new(1, Transport::Sse) };
        let mut assembler = Assembler::new(&link);
        let mut take = |frame: u64, from: &str, kind: &str, more: &Value| {
            let mut whole = json!({ "frame": frame, "at": frame, "link": 1, "from": from, "kind": kind });
            whole.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
            assembler.take(&serde_json::from_value(whole).expect("a frame"))
        };
        let request = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
        take(1, "client", "message", &json!({ "post": 4, "message": request(0, "initialize") }));
        take(2, "client", "message", &json!({ "post": 5, "message": request(1, "ping") }));
        take(3, "server", "note", &note);
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        let passed = take(4, "server", "message", &json!({ "post": 1, "message": answer }));
        assert_eq!(passed.exchanges[0]["expects_reply"], expected, "{note}");
    }
}

/// Without a session id, each request of the client is independent.
#[test]
fn an_id_comes_twice_only_within_a_session() {
    for (header, repeated) in [("mcp-session-id", true), ("accept", false)] {
        let link = Link { revision: Some(Revision::V2025_11_25), ..Link::new(1, Transport::Http) };
        let mut assembler = Assembler::new(&link);
        let mut take = |frame: u64, post: u64, from: &str, kind: &str, more: &Value| {
            let mut whole = json!({ "frame": frame, "at": frame, "link": 1, "post": post, "from": from, "kind": kind });
            whole.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
            assembler.take(&serde_json::from_value(whole).expect("a frame"))
        };
        let head = json!({ "http": { "method": "POST", "headers": [[header, "any"]] } });
        let asked = json!({ "message": { "jsonrpc": "2.0", "id": 0, "method": "elicitation/create" } });
        let told: Vec<_> = (1..=2)
            .map(|post| {
                take(post * 2, post, "client", "http-request", &head);
                take(post * 2 + 1, post, "server", "message", &asked).messages[0].id_repeated
            })
            .collect();
        assert_eq!(told, [Some(false), Some(repeated)], "{header}");
    }
}

#[test]
fn an_error_without_an_id_is_about_the_notification_sent_after_a_request_that_was_answered_first() {
    let request = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "one" } });
    let (passed, rest) = assembled(&[
        json!({ "from": "client", "kind": "junk", "text": format!("{}\n{cancelled}", request("one")) }),
        json!({ "from": "client", "message": request("two") }),
        json!({ "from": "server", "message": { "id": "one", "result": {} } }),
        json!({ "from": "server", "message": { "error": { "code": -32601, "message": "unknown notification" } } }),
        json!({ "from": "server", "message": { "id": "two", "result": {} } }),
    ]);
    assert!(passed[3].exchanges.is_empty() && passed[3].messages.is_empty(), "`two` has no response yet");
    assert_eq!(passed[4].messages[0].answers, Some("request"));
    assert_eq!(passed[4].messages[1].answers, Some("nothing"));
    assert_eq!(passed[4].messages[1].origin.to, Some(0), "the frame with the notification");
    assert!(rest.is_empty());
}

#[test]
fn an_array_may_be_refused_as_a_whole_by_an_error_without_an_id() {
    let request = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let refusal = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "no arrays" } });
    let (passed, _) = assembled(&[
        json!({ "from": "client", "message": [request("one"), notification, request("two")] }),
        json!({ "from": "server", "message": refusal }),
        json!({ "from": "server", "message": refusal }),
    ]);
    assert_eq!(passed[1].messages[0].answers, Some("unreadable input"));
    assert_eq!(passed[2].messages[0].answers, Some("nothing"), "one array, one refusal");
}

/// Over stdio, a response without an id may belong to a request that has no response yet.
#[test]
fn a_response_without_id_answers_a_notification_where_every_request_has_its_own() {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/unknown" });
    let nameless = json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "Method not found" } });
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let course = [("client", &request), ("client", &notification), ("server", &nameless), ("server", &response)];
    for (course, answers) in [(&course[..], "nothing"), (&course[..3], "unclear"), (&course[1..3], "nothing")] {
        let link = Link { revision: Some(Revision::V2025_06_18), ..Link::new(1, Transport::Stdio) };
        let mut assembler = Assembler::new(&link);
        let mut messages = Vec::new();
        for (index, (from, message)) in course.iter().enumerate() {
            let frame =
                json!({ "frame": index, "at": index, "link": 1, "kind": "message", "from": from, "message": message });
            messages.extend(assembler.take(&serde_json::from_value(frame).expect("a frame")).messages);
        }
        messages.extend(assembler.unclear());
        let of_error: Vec<_> =
            messages.iter().filter(|item| item.kind == Kind::Error).map(|item| item.answers).collect();
        assert_eq!(of_error, [Some(answers)]);
    }
}

/// A server may reject such an id, and then need not repeat it.
#[test]
fn a_request_whose_id_is_no_text_or_integer_is_not_judged_by_its_error() {
    for id in [json!(1.5), json!(true), json!([1]), json!({})] {
        let (passed, rest) = assembled(&[
            json!({ "from": "client", "message": { "jsonrpc": "2.0", "id": id, "method": "ping" } }),
            json!({ "from": "server", "message": { "jsonrpc": "2.0", "id": null, "error": { "code": -32600 } } }),
        ]);
        assert!(passed.iter().all(|passed| passed.exchanges.is_empty()) && rest.is_empty(), "{id}");
    }
}
