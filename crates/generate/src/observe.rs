//! Makes one call and all observations about it: an item of `$calls`.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    beside,
    caller::Caller,
    calls::{Call, Kind, Source},
    item::{Inside, Item, Observations, is_failed},
    ledger::Ledger,
    subject::{Subject, What},
    values::numbers::{nearer, quarter, small},
};
use conform_model::evidence::{End, Reply, RunContext};

/// A call is slow if it takes this many milliseconds, and this many times the usual time of the same subject.
pub const SLOW: u64 = 1_000;
const TIMES: u64 = 20;
/// The minimum timeout for a tool of which other calls hung. A guess.
const SOON: Duration = Duration::from_millis(1_500);
/// Half of a text takes so many times less where time explodes: twice for what grows with the length, four times with
/// its square.
const EXPLODES: u64 = 8;
/// Maximum number of different characters in a repetitive text.
const FEW_CHARACTERS: usize = 3;
/// The code of an internal error.
const INTERNAL: i64 = -32_603;
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

    /// The median time of calls that were responded to.
    pub fn ms(&self, name: &str) -> Option<u64> {
        let mut known = self.0.get(name)?.clone();
        known.sort_unstable();
        known.get(known.len() / 2).copied()
    }
}

/// Makes calls and describes their results.
pub struct Observer<'a> {
    pub caller: Caller,
    pub context: &'a RunContext,
    pub usual: Usual,
    /// Tools whose plainest call is slow: they are not called just to observe the state.
    pub slow: HashSet<String>,
    /// How the completion of an empty value ended, by subject.
    pub empty_completions: HashMap<String, Option<End>>,
    /// The number of calls, including those that confirm or shrink.
    pub made: usize,
    /// Whether to check after every call that the server still responds.
    pub careful: bool,
    /// The directories of the server's programs, unless they run there.
    pub programs: HashSet<String>,
    pub ledger: Ledger,
}

impl Observer<'_> {
    /// The timeout of a call after another one of the same subject hung.
    pub fn soon(&self, name: &str) -> Duration {
        SOON.max(Duration::from_millis(self.usual.ms(name).unwrap_or_default() * TIMES))
    }

    /// `None` where the arguments make no request.
    pub async fn observe(&mut self, source: &Source, call: &Call) -> Option<Item> {
        let subject = &source.subject;
        self.made += 1;
        let (method, params, reply) = self.caller.call(self.context, subject, &call.arguments).await?;
        if reply.end == End::Closed && reply.frames.is_empty() {
            return None;
        }
        let mut item = Item::new(subject, call, (method, params, &reply));
        if item.failed {
            let said = said(&reply);
            item.seen.discloses = Some(self.programs.iter().any(|program| said.contains(program)));
            item.seen.expects_pattern = Some(expects_pattern(&subject.listed));
            item.seen.said = Some(said);
        }
        match reply.end {
            End::Closed => self.see_exit(&mut item.seen, reply.why.clone()).await,
            End::Timeout => {
                let usual = self.usual.ms(&subject.name).is_some_and(|ms| ms < SLOW);
                item.seen.why.clone_from(&reply.why);
                item.seen.by_number = Some(usual && self.responds_to_small_numbers(source, call).await);
                item.seen.usual = Some(usual);
            }
            End::Result | End::Error => self.see_after(&mut item, source, call).await,
            _ => {}
        }
        if subject.what == What::Completion && reply.end == End::Error {
            item.seen.empty_value = self.empty_completion(subject).await;
        }
        if item.failed && call.kind == Kind::Valid && call.inside.is_some() {
            item.seen.inside = self.inside(source, call).await;
        }
        self.ledger.add(call, &item);
        if item.failed
            && self.ledger.wants(call)
            && let Some(base) = &call.base
            && let Some(reply) = self.reply(subject, base).await
            && reply.end == End::Result
            && !is_failed(&reply)
        {
            self.ledger.reject(call, &item.name);
        }
        if item.seen.tolerated == Some(true) && item.succeeded() {
            item.seen.rejected_elsewhere = Some(self.ledger.is_rejected_elsewhere(call, &item.name));
        }
        if item.failed && self.ledger.accepts(&item.name) && self.ledger.is_comparable(call, &item.name) {
            item.seen.like_invalid = self.is_like_invalid(source, call, &item).await;
        }
        if call.kind == Kind::Hostile && item.error.as_ref().is_some_and(|error| error["code"] == INTERNAL) {
            item.seen.plain_succeeds = Some(self.plain_succeeds(source).await);
        }
        if item.succeeded() {
            item.seen.expects_failure = Some(expects_failure(&subject.listed));
        }
        if call.kind != Kind::Invalid && item.succeeded() {
            item.seen.unfilled = Some(self.is_unfilled(source, call, &reply).await);
        }
        Some(item)
    }

    /// Whether the call with plain arguments succeeds.
    async fn plain_succeeds(&mut self, source: &Source) -> bool {
        let Some(plain) = source.plainest() else { return false };
        let reply = self.reply(&source.subject, &plain).await;
        reply.is_some_and(|reply| reply.end == End::Result && !is_failed(&reply))
    }

    /// Whether a valid call is rejected as one with an invalid value at the same place is: with the same words, while a
    /// plain value is accepted there. `None` if that cannot be compared.
    async fn is_like_invalid(&mut self, source: &Source, call: &Call, item: &Item) -> Option<bool> {
        let beside = call.beside.as_ref().filter(|_| call.kind == Kind::Valid)?;
        let own = worded(item.seen.said.as_deref()?, call.arguments.pointer(&call.at)?);
        let mut is_accepted = false;
        for value in &beside.plain {
            let reply = self.reply(&source.subject, &call.with(value)?).await?;
            is_accepted = reply.end == End::Result && !is_failed(&reply);
            if is_accepted {
                break;
            }
        }
        if own.is_empty() || !is_accepted {
            return None;
        }
        for value in &beside.invalid {
            let reply = self.reply(&source.subject, &call.with(value)?).await?;
            if is_failed(&reply) && worded(&said(&reply), value) == own {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The reply to a call that shows what another one means.
    pub async fn reply(&mut self, subject: &Subject, arguments: &Value) -> Option<Reply> {
        self.made += 1;
        let (_, _, reply) = self.caller.call(self.context, subject, arguments).await?;
        Some(reply)
    }

    /// How the connection ended during the call.
    async fn see_exit(&mut self, seen: &mut Observations, why: Option<String>) {
        let why = self.caller.ended().or(why).unwrap_or_else(|| "the connection closed".to_owned());
        let killed = self.caller.is_process();
        self.caller.renew().await;
        *(if killed { &mut seen.killed } else { &mut seen.why }) = Some(why);
    }

    /// After a response: whether its time explodes, and whether the server still responds.
    async fn see_after(&mut self, item: &mut Item, source: &Source, call: &Call) {
        let before = self.usual.ms(&item.name);
        self.usual.add(&item.name, item.ms);
        if call.kind == Kind::Hostile && before.is_some_and(|ms| item.ms >= SLOW && item.ms >= ms * TIMES) {
            item.seen.explodes = Some(self.explodes(source, call).await);
        }
        if call.kind == Kind::Valid && !self.careful {
            return;
        }
        let responds = self.caller.responds().await;
        match self.caller.ended().filter(|_| !responds && self.caller.is_process()) {
            Some(why) => item.seen.killed = Some(why),
            None => item.seen.responds = Some(responds),
        }
        if !responds {
            self.caller.renew().await;
        }
    }

    /// How the completion of an empty value ends.
    async fn empty_completion(&mut self, subject: &Subject) -> Option<End> {
        if let Some(known) = self.empty_completions.get(&subject.name) {
            return *known;
        }
        let end = self.reply(subject, &json!({ "value": "" })).await.map(|reply| reply.end);
        self.empty_completions.insert(subject.name.clone(), end);
        end
    }

    /// The result of the call with values inside the bound: the first that is rejected, or the nearest one.
    async fn inside(&mut self, source: &Source, call: &Call) -> Option<Inside> {
        let mut seen: Option<Inside> = None;
        for inside in beside::inside(source, call) {
            let Some(reply) = self.reply(&source.subject, &inside).await else { break };
            let failed = is_failed(&reply);
            let rejected = failed || reply.end != End::Result;
            if seen.is_none() || rejected {
                seen = Some(Inside { end: reply.end, failed, value: inside.pointer(&call.at).cloned() });
            }
            if rejected {
                break;
            }
        }
        seen
    }

    /// Whether the result has a word for a missing value, and the result of the call with all arguments has not.
    async fn is_unfilled(&mut self, source: &Source, call: &Call, reply: &Reply) -> bool {
        let Some(word) = reply.result.as_ref().and_then(beside::unfilled) else { return false };
        let Some(full) = source.plainest() else { return false };
        // `[object Object]` is wrong for any arguments. The others can be right: text that is not a number is NaN.
        if word != beside::AN_OBJECT && !beside::has_less(&call.arguments, &full) {
            return false;
        }
        if call.arguments.to_string().contains(word) {
            return false;
        }
        let Some(full) = self.reply(&source.subject, &full).await else { return false };
        full.end == End::Result && !is_failed(&full) && full.result.as_ref().and_then(beside::unfilled).is_none()
    }

    /// Whether a call without a response gets one if its numbers are small: then it only has much to do. If it is quick
    /// with slightly smaller numbers, or with a quarter, the size of the numbers is not the cause.
    async fn responds_to_small_numbers(&mut self, source: &Source, call: &Call) -> bool {
        for almost in [nearer(&call.arguments), quarter(&call.arguments)] {
            if almost == call.arguments || !source.is_like(call, &almost) {
                continue;
            }
            let reply = self.reply(&source.subject, &almost).await;
            if reply.is_some_and(|reply| matches!(reply.end, End::Result | End::Error) && reply.ms < SLOW) {
                return false;
            }
        }
        let mut smaller = small(&call.arguments);
        // An omitted number has a default, which may be large.
        let others = source.plainest().unwrap_or_default();
        if let (Some(members), Some(others)) = (smaller.as_object_mut(), others.as_object()) {
            for (name, other) in others.iter().filter(|(_, other)| other.is_number()) {
                members.entry(name.clone()).or_insert_with(|| small(other));
            }
        }
        if smaller == call.arguments {
            return false;
        }
        if !source.is_like(call, &smaller) {
            // If the schema requires a large number, the call may take long.
            return true;
        }
        let reply = self.reply(&source.subject, &smaller).await;
        reply.is_some_and(|reply| matches!(reply.end, End::Result | End::Error))
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
            let Some(reply) = self.reply(&source.subject, arguments).await else { return false };
            times.push(reply.ms);
        }
        times[1] >= SLOW && times[0].max(times[2]) * EXPLODES <= times[1]
    }
}

/// Whether what the server lists mentions patterns, so that text with a syntax of its own is expected.
fn expects_pattern(listed: &Value) -> bool {
    let text = listed.to_string().to_ascii_lowercase();
    ["regex", "regular expression", "pattern", "glob"].iter().any(|word| text.contains(word))
}

/// Whether what the server lists mentions failures: what the tool returns may be the failure of something else.
fn expects_failure(listed: &Value) -> bool {
    let text = listed.to_string().to_ascii_lowercase();
    ["error", "log", "fail", "issue", "diagnos", "exception"].iter().any(|word| text.contains(word))
}

/// A message without the value that it is about.
fn worded(said: &str, value: &Value) -> String {
    let mut text = said.replace(&value.to_string(), "…");
    if let Some(own) = value.as_str().filter(|own| own.chars().count() > 1) {
        text = text.replace(own, "…");
    }
    text
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
