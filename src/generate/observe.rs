//! Makes one call and all observations about it: an item of `$calls`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::{
    caller::Caller,
    calls::{Call, Kind, Source},
    subject::What,
};
use crate::evidence::{End, Reply, RunContext};

/// A call is slow if it takes this many milliseconds, and this many times the usual time of the same subject.
pub const SLOW: u64 = 1_000;
const TIMES: u64 = 20;
/// Time explodes if half of a text takes this many times less. Linear growth has a factor of two, quadratic growth of
/// four.
const EXPLODES: u64 = 8;
/// Maximum number of different characters in a repetitive text.
const FEW_CHARACTERS: usize = 3;
/// How much of an error text is kept.
const SAID: usize = 20_000;

/// The times of each subject's calls so far.
#[derive(Default)]
pub struct Usual(HashMap<String, Vec<u64>>);

impl Usual {
    fn add(&mut self, name: &str, ms: u64) {
        let known = self.0.entry(name.to_owned()).or_default();
        if known.len() < 50 {
            known.push(ms);
        }
    }

    /// The median time of answered calls.
    fn ms(&self, name: &str) -> Option<u64> {
        let mut known = self.0.get(name)?.clone();
        known.sort_unstable();
        known.get(known.len() / 2).copied()
    }
}

/// Makes calls and describes their results.
pub struct Observer<'a> {
    pub caller: Caller,
    pub scene: &'a RunContext,
    pub usual: Usual,
    /// Tools whose plainest call is slow: they are not called just to observe the state.
    pub slow: HashSet<String>,
    /// The number of calls, including those that confirm or shrink.
    pub made: usize,
}

impl Observer<'_> {
    /// `None` if the arguments cannot be sent.
    pub async fn observe(&mut self, source: &Source, call: &Call) -> Option<Value> {
        let subject = &source.subject;
        self.made += 1;
        let (method, params, reply) = self.caller.call(self.scene, subject, &call.arguments).await?;
        let failed = is_failed(&reply);
        let mut item = json!({
            "what": subject.what.word(), "name": subject.name, "listed": subject.listed,
            "method": method, "params": params, "arguments": call.arguments,
            "kind": call.kind.word(), "keyword": call.keyword, "at": call.at, "odd": call.why,
            "end": reply.end, "failed": failed, "ms": reply.ms, "frames": reply.frames,
        });
        let mut with = |name: &str, value: Value| item[name] = value;
        for (name, value) in [("result", &reply.result), ("error", &reply.error)] {
            if let Some(value) = value {
                with(name, value.clone());
            }
        }
        if failed {
            with("said", json!(said(&reply)));
        }
        match reply.end {
            End::Closed if reply.frames.is_empty() => return None,
            End::Closed => {
                let why =
                    self.caller.ended().or(reply.why.clone()).unwrap_or_else(|| "the connection closed".to_owned());
                let killed = self.caller.is_process();
                self.caller.renew().await;
                with(if killed { "killed" } else { "why" }, json!(why));
            }
            End::Timeout => {
                with("why", json!(reply.why));
                let usual = self.usual.ms(&subject.name).is_some_and(|ms| ms < SLOW);
                let by_number = usual && self.is_by_number(source, call).await;
                with("usual", json!(usual));
                with("by_number", json!(by_number));
            }
            End::Result | End::Error => {
                let before = self.usual.ms(&subject.name);
                self.usual.add(&subject.name, reply.ms);
                if call.kind == Kind::Hostile && before.is_some_and(|ms| reply.ms >= SLOW && reply.ms >= ms * TIMES) {
                    let explodes = self.explodes(source, call).await;
                    with("explodes", json!(explodes));
                }
                if call.kind != Kind::Valid {
                    let responds = self.caller.responds().await;
                    with("responds", json!(responds));
                    if !responds {
                        self.caller.renew().await;
                    }
                }
            }
            _ => {}
        }
        if failed
            && call.kind == Kind::Valid
            && let Some(inside) = &call.inside
            && let Some((_, _, beside)) = self.caller.call(self.scene, subject, inside).await
        {
            self.made += 1;
            item["inside"] =
                json!({ "end": beside.end, "failed": is_failed(&beside), "value": inside.pointer(&call.at) });
        }
        Some(item)
    }

    /// Whether a call that times out is answered with small numbers: then it only asks for a lot of work.
    async fn is_by_number(&mut self, source: &Source, call: &Call) -> bool {
        let mut smaller = with_small_numbers(&call.arguments);
        // An omitted number has a default, which may be large.
        let others = source.plainest().unwrap_or_default();
        if let (Some(members), Some(others)) = (smaller.as_object_mut(), others.as_object()) {
            for (name, other) in others.iter().filter(|(_, other)| other.is_number()) {
                members.entry(name.clone()).or_insert_with(|| with_small_numbers(other));
            }
        }
        if smaller == call.arguments {
            return false;
        }
        if !source.is_like(call, &smaller) {
            // A number that has to be large may well take long.
            return true;
        }
        self.made += 1;
        let reply = self.caller.call(self.scene, &source.subject, &smaller).await;
        reply.is_some_and(|(_, _, reply)| matches!(reply.end, End::Result | End::Error))
    }

    /// Whether a slow call has a text whose time grows more than proportionally, measured twice.
    async fn explodes(&mut self, source: &Source, call: &Call) -> bool {
        let Some(text) = call.arguments.pointer(&call.at).and_then(Value::as_str) else { return false };
        let half: Vec<char> = text.chars().collect();
        // Half of any other text has another meaning: for example a name that exists in place of one that does not.
        let repeated: HashSet<&char> = half.iter().rev().skip(1).collect();
        if repeated.len() > FEW_CHARACTERS {
            return false;
        }
        // Keep the end: it often causes the backtracking.
        let half: String = half[half.len() / 2..].iter().collect();
        let mut shorter = call.arguments.clone();
        if let Some(place) = shorter.pointer_mut(&call.at) {
            *place = json!(half);
        }
        let mut times = Vec::new();
        for arguments in [&shorter, &call.arguments, &shorter] {
            self.made += 1;
            let Some((_, _, reply)) = self.caller.call(self.scene, &source.subject, arguments).await else {
                return false;
            };
            times.push(reply.ms);
        }
        times[1] >= SLOW && times[0].max(times[2]) * EXPLODES <= times[1]
    }
}

/// Whether the server reports that the call failed.
pub fn is_failed(reply: &Reply) -> bool {
    reply.end == End::Error || reply.result.as_ref().is_some_and(|result| result["isError"] == true)
}

/// All texts of a failure.
fn said(reply: &Reply) -> String {
    let mut texts = Vec::new();
    if let Some(error) = &reply.error {
        texts.extend(error["message"].as_str().map(str::to_owned));
        if let Some(data) = error.get("data") {
            texts.push(data.as_str().map_or_else(|| data.to_string(), str::to_owned));
        }
    }
    let content = reply.result.iter().flat_map(|result| result["content"].as_array().into_iter().flatten());
    texts.extend(content.filter_map(|block| block["text"].as_str()).map(str::to_owned));
    let mut text = texts.join("\n");
    if let Some((end, _)) = text.char_indices().nth(SAID) {
        text.truncate(end);
    }
    text
}

fn with_small_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|number| number.abs() > 1.0) => json!(1),
        Value::Array(items) => items.iter().map(with_small_numbers).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), with_small_numbers(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Keeps values of results under their field names: they may be arguments of other calls.
pub fn harvest(pool: &mut super::valid::Pool, item: &Value) {
    if item["what"] != What::Tool.word() || item["failed"] == true {
        return;
    }
    let result = &item["result"];
    collect(pool, &result["structuredContent"], 6);
    for block in result["content"].as_array().into_iter().flatten() {
        if let Some(text) = block["text"].as_str().filter(|text| text.starts_with(['{', '['])) {
            collect(pool, &serde_json::from_str(text).unwrap_or_default(), 6);
        }
        for uri in [&block["uri"], &block["resource"]["uri"]] {
            keep(pool, "uri", uri);
        }
    }
}

pub fn collect(pool: &mut super::valid::Pool, value: &Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                keep(pool, name, value);
                collect(pool, value, depth);
            }
        }
        Value::Array(items) => items.iter().take(10).for_each(|item| collect(pool, item, depth)),
        _ => {}
    }
}

fn keep(pool: &mut super::valid::Pool, name: &str, value: &Value) {
    let short = |text: &str| !text.is_empty() && text.len() <= 200;
    if value.is_i64() || value.as_str().is_some_and(short) {
        let known = pool.entry(name.to_ascii_lowercase()).or_default();
        if known.len() < 20 && !known.contains(value) {
            known.push(value.clone());
        }
    }
}
