//! Matches responses to requests, for both the session and the judge.
//!
//! A response with a wrong id is still matched to the request it evidently belongs to, so that the run continues and
//! the rule on ids can report it. [`Reason`] says how certain the match is.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use super::Transport;

/// The error code for a method that the server does not support.
const METHOD_NOT_FOUND: i64 = -32601;

/// Why a response is matched to a request, most certain reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It arrived in the HTTP exchange of the request.
    SameExchange,
    /// It has the id of the request.
    SameId,
    /// The ids differ only in their JSON type: `1` and `"1"`.
    SimilarId,
    /// It has no id, and the request was input that a server may be unable to parse.
    UnreadableInput,
    /// It has no id, and only requests were sent: it belongs to the oldest open one.
    LongestWaiting,
    /// It is the only open request, and no request ever had the id. A guess that only keeps the run going.
    OnlyOne,
}

/// A request without a response so far.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its index among everything that was sent.
    pub number: u64,
    /// Absent for raw bytes and whole HTTP requests.
    pub id: Option<&'a Value>,
    /// The HTTP exchange that carries it.
    pub exchange: Option<u64>,
    /// A subscription, whose response marks its end.
    pub subscription: bool,
    /// Input that a server may be unable to parse, with the error code expected for it.
    pub unreadable: Option<i64>,
    /// Everything in its HTTP exchange belongs to it, and nothing else does.
    pub whole_exchange: bool,
}

/// What is known when a response arrives, besides the requests.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    pub transport: Transport,
    /// The HTTP exchange that carried the response.
    pub exchange: Option<u64>,
    /// The request with this id was given up.
    pub late: bool,
    /// No request ever had this id, so a guess is allowed.
    pub strange: bool,
}

/// The id of a response; null counts as none.
pub fn id_of(response: &Value) -> Option<&Value> {
    response.get("id").filter(|id| !id.is_null())
}

/// Whether it is a response. A JSON log line is also an object.
fn is_response(message: &Value) -> bool {
    ["id", "result", "error"].iter().any(|name| message.get(name).is_some())
}

fn code_of(response: &Value) -> Option<i64> {
    response.pointer("/error/code").and_then(Value::as_i64)
}

/// The request that a response belongs to, by its index in `requests`, and why.
pub fn correlate(
    response: &Value,
    requests: &[Request],
    loose: &Loose,
    circumstances: Circumstances,
) -> Option<(usize, Reason)> {
    let Circumstances { transport, exchange, late, strange } = circumstances;
    let id = id_of(response);
    let nameless = id.is_none() && is_response(response);
    let first = |wanted: &dyn Fn(&Request) -> bool, reason| Some((requests.iter().position(wanted)?, reason));
    let newest = |wanted: &dyn Fn(&Request) -> bool, reason| Some((requests.iter().rposition(wanted)?, reason));

    let carried = |request: &Request| exchange.is_some() && request.exchange == exchange;
    let same = |request: &Request| id.is_some() && request.id == id;
    let similar = |request: &Request| matches!((request.id, id), (Some(a), Some(b)) if text(a) == text(b));
    // Raw bytes with a known response id may cause other responses, too.
    let names_another =
        |request: &Request| request.unreadable.is_some() && request.id.is_some() && id.is_some() && !similar(request);
    // If earlier unreadable input has no response yet, this may be the late response to it. Then it is not matched to
    // input that has an id or expects another code.
    let waiting = requests.iter().filter(|request| request.unreadable.is_some()).count();
    let behind = loose.unreadable > waiting;
    let fits = |request: &Request| !behind || (request.id.is_none() && request.unreadable == code_of(response));
    // In an HTTP response, it is about the request of that exchange.
    let lost = nameless && loose.is_empty() && !transport.capabilities().stream_per_request;

    // Suites reuse some ids, and a request that never gets a response stays open, so the newest one matches.
    newest(&|request| carried(request) && same(request), Reason::SameExchange)
        .or_else(|| first(&|request| carried(request) && !names_another(request), Reason::SameExchange))
        .or_else(|| newest(&same, Reason::SameId))
        .or_else(|| first(&|request| !late && similar(request), Reason::SimilarId))
        .or_else(|| {
            let takes = |request: &Request| nameless && request.unreadable.is_some() && fits(request);
            first(&takes, Reason::UnreadableInput)
        })
        .or_else(|| {
            // A server that responded to a later request has lost an earlier one, or still works on it.
            let may = |request: &Request| {
                lost && request.id.is_some() && !request.subscription && request.number > loose.newest
            };
            let waiting = requests.iter().enumerate().filter(|(_, request)| may(request));
            let (index, _) = waiting.min_by_key(|(_, request)| request.number)?;
            Some((index, Reason::LongestWaiting))
        })
        .or_else(|| {
            let [only] = requests else { return None };
            let responds = id.is_some() || (lost && only.number > loose.newest);
            let free = strange && !late && !only.whole_exchange && !names_another(only);
            (responds && free).then_some((0, Reason::OnlyOne))
        })
}

/// An id as written by a server that confuses types.
fn text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

/// What was sent besides requests, and can cause a response without a request.
#[derive(Clone, Debug, Default)]
pub struct Loose {
    /// Number of unreadable inputs that may still get an error without id.
    pub unreadable: usize,
    /// The ids that can be found in such input.
    ids: HashSet<String>,
    /// Frames with arrays that got no response to any element yet: a server may reject an array as a whole.
    arrays: VecDeque<u64>,
    /// Notifications, each with its index among everything sent and its frame. Removed when a later request gets a
    /// response.
    notifications: VecDeque<(u64, u64)>,
    /// The last of the requests with a response, by its index among everything sent.
    newest: u64,
}

/// What a response belongs to, if not to an open request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Other {
    UnreadableInput,
    /// The array in this frame, rejected as a whole.
    Array(u64),
    /// The notification in this frame, which must not get a response.
    Notification(u64),
    Nothing,
}

impl Loose {
    fn is_empty(&self) -> bool {
        self.unreadable == 0 && self.arrays.is_empty() && self.notifications.is_empty()
    }

    pub fn sent_unreadable(&mut self, id: Option<&Value>) {
        self.unreadable += 1;
        self.ids.extend(id.map(Value::to_string));
    }

    pub fn sent_array(&mut self, frame: u64) {
        self.arrays.push_back(frame);
    }

    pub fn sent_notification(&mut self, number: u64, frame: u64) {
        self.notifications.push_back((number, frame));
    }

    /// The request with this number and frame got its response: nothing sent before it gets one any more.
    pub fn responded(&mut self, number: u64, frame: u64) {
        self.notifications.retain(|(sent, _)| *sent > number);
        self.newest = self.newest.max(number);
        self.arrays.retain(|array| *array != frame);
    }

    /// What a response without a request responds to. That is then removed.
    pub fn take(&mut self, response: &Value) -> Other {
        if !is_response(response) {
            return Other::Nothing;
        }
        if let Some(id) = id_of(response) {
            // Some languages parse an id of null as the number 0 or as an empty string.
            let misread = |ids: &mut HashSet<String>| (*id == 0 || *id == "") && ids.remove("null");
            let read = self.ids.remove(&id.to_string()) || misread(&mut self.ids);
            return if read { Other::UnreadableInput } else { Other::Nothing };
        }
        // Unreadable input has no method that could be unknown.
        let about_notification = !self.notifications.is_empty() && code_of(response) == Some(METHOD_NOT_FOUND);
        if self.unreadable > 0 && !about_notification {
            self.unreadable -= 1;
            return Other::UnreadableInput;
        }
        if !about_notification && let Some(array) = self.arrays.pop_front() {
            self.notifications.retain(|(_, frame)| *frame != array);
            return Other::Array(array);
        }
        self.notifications.pop_front().map_or(Other::Nothing, |(_, frame)| Other::Notification(frame))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(number: u64, id: Option<&Value>, exchange: Option<u64>) -> Request<'_> {
        Request { number, id, exchange, subscription: false, unreadable: None, whole_exchange: false }
    }

    const PLAIN: Circumstances =
        Circumstances { transport: Transport::Stdio, exchange: None, late: false, strange: false };

    #[test]
    fn the_surest_reason_decides() {
        let [one, two, text_two] = [json!(1), json!(2), json!("2")];
        let requests = [request(1, Some(&one), Some(7)), request(2, Some(&two), Some(8))];
        let of = |response: Value, circumstances| correlate(&response, &requests, &Loose::default(), circumstances);
        let carried = Circumstances { transport: Transport::Http, exchange: Some(7), ..PLAIN };
        for (response, circumstances, expected) in [
            (json!({ "id": two, "result": {} }), carried, Some((0, Reason::SameExchange))),
            (json!({ "id": two, "result": {} }), PLAIN, Some((1, Reason::SameId))),
            (json!({ "id": text_two, "result": {} }), PLAIN, Some((1, Reason::SimilarId))),
            (json!({ "id": text_two, "result": {} }), Circumstances { late: true, ..PLAIN }, None),
            (json!({ "id": null, "error": {} }), PLAIN, Some((0, Reason::LongestWaiting))),
            (json!({ "error": {} }), Circumstances { transport: Transport::Http, ..PLAIN }, None),
            (json!({ "level": "info" }), PLAIN, None),
            (json!({ "id": 9, "result": {} }), Circumstances { strange: true, ..PLAIN }, None),
        ] {
            assert_eq!(of(response.clone(), circumstances), expected, "{response}");
        }
    }

    #[test]
    fn an_error_without_id_is_not_about_a_request_that_was_passed_by() {
        let id = json!(50);
        let requests = [request(5, Some(&id), None)];
        let error = json!({ "id": null, "error": { "code": -32700 } });
        let circumstances = Circumstances { strange: true, ..PLAIN };
        let mut loose = Loose::default();
        assert_eq!(correlate(&error, &requests, &loose, circumstances), Some((0, Reason::LongestWaiting)));
        loose.responded(6, 6);
        assert_eq!(correlate(&error, &requests, &loose, circumstances), None);
        // Nor about one of another HTTP exchange.
        let other = Circumstances { transport: Transport::Http, exchange: Some(9), ..circumstances };
        assert_eq!(correlate(&error, &requests, &Loose::default(), other), None);
    }

    #[test]
    fn the_newest_request_with_an_id_gets_the_response() {
        let id = json!(1);
        let requests = [request(1, Some(&id), None), request(2, Some(&id), None)];
        let response = json!({ "id": 1, "result": {} });
        assert_eq!(correlate(&response, &requests, &Loose::default(), PLAIN), Some((1, Reason::SameId)));
    }

    #[test]
    fn an_id_that_no_request_had_is_that_of_the_only_request() {
        let id = json!(1);
        let requests = [request(1, Some(&id), None)];
        let response = json!({ "id": "garbled", "result": {} });
        let of = |requests: &[Request], strange| {
            correlate(&response, requests, &Loose::default(), Circumstances { strange, ..PLAIN })
        };
        assert_eq!(of(&requests, true), Some((0, Reason::OnlyOne)));
        assert_eq!(of(&requests, false), None);
        assert_eq!(of(&[Request { whole_exchange: true, ..requests[0] }], true), None);
    }

    #[test]
    fn an_error_without_id_may_be_about_input_that_is_no_request() {
        let id = json!(1);
        let plain = request(1, Some(&id), None);
        let raw = Request { unreadable: Some(-32700), ..request(2, None, None) };
        let parse_error = json!({ "id": null, "error": { "code": -32700 } });
        let mut loose = Loose::default();
        loose.sent_unreadable(None);
        assert_eq!(correlate(&parse_error, &[plain, raw], &loose, PLAIN), Some((1, Reason::UnreadableInput)));
        assert_eq!(correlate(&parse_error, &[plain], &loose, PLAIN), None);
        loose.sent_unreadable(None);
        let another_code = json!({ "error": { "code": -32600 } });
        assert_eq!(correlate(&another_code, &[plain, raw], &loose, PLAIN), None, "it may be about the one before");
    }

    #[test]
    fn what_belongs_to_no_request_is_taken_once() {
        let error = |code: i64| json!({ "error": { "code": code } });
        let mut loose = Loose::default();
        loose.sent_unreadable(Some(&Value::Null));
        loose.sent_array(3);
        loose.sent_notification(4, 5);
        assert_eq!(loose.take(&error(METHOD_NOT_FOUND)), Other::Notification(5));
        assert_eq!(loose.take(&json!({ "id": 0, "result": {} })), Other::UnreadableInput);
        assert_eq!(loose.take(&error(-32700)), Other::UnreadableInput);
        assert_eq!(loose.take(&error(-32700)), Other::Array(3));
        assert_eq!(loose.take(&error(-32700)), Other::Nothing);
        assert_eq!(loose.take(&json!({ "level": "info" })), Other::Nothing);
    }
}
