//! The input requests of a task, over several responses to tasks/get. `part: kept`: a request stays until it has
//! a response. `part: unique`: a key identifies one request. `part: fresh`: a key with a response is not reused for another
//! request.

use serde_json::{Map, Value};

use crate::checks::{Check, Fault, Given, Report, messages::leaves::pointer_below};

pub const CHECK: Check =
    Check { name: "task-requests", given: &["part", "asked?", "again?", "second?", "third?"], run };

/// In chronological order.
const POLLS: [&str; 4] = ["asked", "again", "second", "third"];

/// One response to tasks/get with the task's status.
struct Poll<'a> {
    name: &'static str,
    waits: bool,
    requests: Option<&'a Map<String, Value>>,
    /// The client's responses to it.
    answers: Option<&'a Map<String, Value>>,
}

fn run(given: &Given) -> Report {
    let polls: Vec<Poll> = POLLS.into_iter().filter_map(|name| poll(name, given.value(name))).collect();
    if !polls.iter().any(|poll| poll.waits) || polls.len() < 2 {
        return Report::default();
    }
    if given.text("part") == "unique" && polls.iter().filter(|poll| poll.requests.is_some()).count() < 2 {
        return Report::default();
    }
    Report::of(match given.text("part") {
        "kept" => kept(&polls),
        "unique" => unique(&polls),
        _ => fresh(&polls),
    })
}

fn poll<'a>(name: &'static str, reply: &'a Value) -> Option<Poll<'a>> {
    let waits = reply["result"]["status"].as_str()? == "input_required";
    let requests = reply["result"]["inputRequests"].as_object().filter(|_| waits);
    Some(Poll { name, waits, requests, answers: reply["answers"].as_object() })
}

fn kept(polls: &[Poll]) -> Vec<Fault> {
    let waiting = || polls.iter().filter(|poll| poll.waits);
    let mut faults = Vec::new();
    for (earlier, later) in waiting().zip(waiting().skip(1)) {
        let there = |key: &String| later.requests.is_some_and(|requests| requests.contains_key(key));
        let lost = earlier.requests.into_iter().flatten().find(|(key, _)| !there(key));
        faults.extend(lost.map(|(key, _)| Fault {
            given: later.name,
            pointer: "/result/inputRequests".to_owned(),
            message: format!("`{key}` is missing, although it was requested before and has no response"),
            ..Fault::default()
        }));
    }
    faults
}

fn unique(polls: &[Poll]) -> Vec<Fault> {
    let mut known: Map<String, Value> = Map::new();
    let mut faults = Vec::new();
    for poll in polls {
        for (key, request) in poll.requests.into_iter().flatten() {
            let earlier = known.entry(key.clone()).or_insert_with(|| request.clone());
            if !same(earlier, request) {
                faults.push(odd(poll, key, "is the key of another request than before"));
            }
        }
    }
    faults
}

fn fresh(polls: &[Poll]) -> Vec<Fault> {
    let mut answered: Map<String, Value> = Map::new();
    let mut gone: Vec<String> = Vec::new();
    let mut faults = Vec::new();
    for poll in polls {
        let requests = || poll.requests.into_iter().flatten();
        for (key, request) in requests() {
            // The effect of a response may be delayed.
            let again = answered.get(key).is_some_and(|earlier| !same(earlier, request) || gone.contains(key));
            if again {
                faults.push(odd(poll, key, "has a response, and is the key of a new request"));
            }
        }
        gone.extend(answered.keys().filter(|key| !requests().any(|(there, _)| there == *key)).cloned());
        let answers = |key: &String| poll.answers.is_some_and(|answers| answers.contains_key(key));
        answered
            .extend(requests().filter(|(key, _)| answers(key)).map(|(key, request)| (key.clone(), request.clone())));
    }
    faults
}

fn same(one: &Value, other: &Value) -> bool {
    let params = |request: &Value| {
        let mut params = request["params"].as_object().cloned().unwrap_or_default();
        params.shift_remove("_meta");
        params
    };
    one["method"] == other["method"] && params(one) == params(other)
}

fn odd(poll: &Poll, key: &str, what: &str) -> Fault {
    Fault {
        given: poll.name,
        pointer: pointer_below("/result/inputRequests", key),
        message: format!("`{key}` {what}"),
        ..Fault::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    /// The number of findings; `None` if nothing was judged.
    fn faults(part: &str, polls: [Value; 3]) -> Option<usize> {
        let [asked, again, second] = polls;
        let given = [("asked", asked), ("again", again), ("second", second), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked > 0).then_some(report.faults.len())
    }

    fn waits(requests: &Value, answers: &Value) -> Value {
        json!({ "result": { "status": "input_required", "inputRequests": requests }, "answers": answers })
    }

    #[test]
    fn keys_stand_for_one_request_and_stay_until_it_is_answered() {
        let (one, other) = (json!({ "method": "roots/list" }), json!({ "method": "elicitation/create" }));
        let both = waits(&json!({ "a": one, "b": other }), &json!({}));
        let done = json!({ "result": { "status": "completed" } });
        assert_eq!(faults("kept", [both.clone(), both.clone(), done.clone()]), Some(0));
        assert_eq!(faults("kept", [both.clone(), waits(&json!({ "b": other }), &json!({})), done.clone()]), Some(1));
        assert_eq!(faults("unique", [both.clone(), waits(&json!({ "a": other }), &json!({})), done.clone()]), Some(1));
        assert_eq!(faults("unique", [done.clone(), done.clone(), done]), None);
    }

    #[test]
    fn an_answered_key_may_linger_but_not_come_back() {
        let one = json!({ "method": "roots/list" });
        let answered = waits(&json!({ "a": one }), &json!({ "a": {} }));
        let other = waits(&json!({ "a": { "method": "elicitation/create" } }), &json!({}));
        let working = json!({ "result": { "status": "working" } });
        assert_eq!(faults("fresh", [answered.clone(), answered.clone(), working.clone()]), Some(0));
        assert_eq!(faults("fresh", [answered.clone(), other, working.clone()]), Some(1));
        assert_eq!(faults("fresh", [answered.clone(), working, answered]), Some(1));
    }
}
