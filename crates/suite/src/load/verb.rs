//! The verbs of steps and their arguments.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::lint::Lint;
use crate::{
    decode::{self, Decode, Pairs, Typed},
    file,
    format::Format,
    model::{
        Await, Call, HttpCall, List, Notify, Overlap, Pause, Payload, Send, StepConnection, Template, Verb, Walk,
        WalkLimits,
    },
    views::{self, ValueType},
};
use conform_model::evidence::LISTS;
use conform_source::{
    diagnostic::suggestion,
    yaml::{At, Tree, Yaml},
};

/// Every verb with its arguments.
const VERBS: [(&str, &[&str]); 10] = [
    (
        "call",
        &[
            "with",
            "id",
            "deviates",
            "despite",
            "control",
            "connection",
            "then",
            "cancel-after",
            "until",
            "poll-for",
            "respond",
        ],
    ),
    ("list", &["with", "take", "pages", "connection"]),
    ("walk", &["from", "node", "with", "take", "key", "limits"]),
    ("notify", &["with", "deviates", "control"]),
    ("await", &["since", "matching", "within", "none-within"]),
    ("pause", &["or-request"]),
    ("send", &["reply-to", "pieces", "deviates", "control"]),
    (
        "http",
        &[
            "headers",
            "body",
            "jsonrpc",
            "deviates",
            "despite",
            "control",
            "query",
            "url",
            "drop-after",
            "form",
            "login",
        ],
    ),
    ("change", &[]),
    ("overlap", &["with", "others"]),
];

const CANCELLED: &str = "notifications/cancelled";
const PAGES: usize = 100;
const AWAIT_SECONDS: f64 = 5.0;
const SECONDS_AT_MOST: f64 = 600.0;

impl Lint<'_> {
    /// Builds the verb of a step, whose names are in scope.
    pub fn verb(&mut self, typed: file::Step) -> Option<Verb> {
        let verb = self.just_one(&typed.typed, &VERBS.map(|(verb, _)| verb))?;
        self.refuse_arguments_of_others(&typed, verb);
        if self.alone && verb != "call" {
            let why = format!("`{verb}` needs a shared connection, but `connection: per-call` uses one per call");
            self.problems.add(typed.typed.place(verb), why);
        }
        match verb {
            "call" => self.call(typed).map(Verb::Call),
            "list" => self.list(typed).map(Verb::List),
            "walk" => self.walk(typed).map(Verb::Walk),
            "notify" => self.notify(typed),
            "pause" => self.pause(&typed).map(Verb::Pause),
            "await" => self.r#await(typed).map(Verb::Await),
            "send" => self.send(typed).map(Verb::Send),
            "change" => self.path(&typed.change?).map(Verb::Change),
            "overlap" => self.overlap(typed).map(Verb::Overlap),
            _ => self.http(typed).map(Verb::Http),
        }
    }

    fn refuse_arguments_of_others(&mut self, typed: &file::Step, verb: &str) {
        for key in &typed.typed.keys {
            let names_it = |(_, arguments): &&(&str, &[&str])| arguments.contains(&&*key.value);
            let mut takers = VERBS.iter().filter(names_it).peekable();
            if takers.peek().is_some() && !takers.any(|(taker, _)| *taker == verb) {
                self.problems.add(key.at, format!("unknown argument `{}` of `{verb}`", key.value));
            }
        }
    }

    fn call(&mut self, typed: file::Step) -> Option<Call> {
        let method = self.text(&typed.call?);
        let with = typed.with.and_then(|with| self.template(&with));
        let id = typed.id.and_then(|id| self.template(&id));
        self.check_seconds(&typed.typed, "cancel-after", typed.cancel_after);
        self.check_seconds(&typed.typed, "poll-for", typed.poll_for);
        self.refuse_connection(&typed.typed, typed.connection, StepConnection::Second);
        if typed.until.is_none() && typed.poll_for.is_some() {
            self.problems.add(typed.typed.place("poll-for"), "`poll-for` goes with `until`");
        }
        if typed.until.is_some() && typed.cancel_after.is_some() {
            self.problems.add(typed.typed.place("cancel-after"), "with `until` it is `poll-for`");
        }
        let alone = self.alone || typed.connection == Some(StepConnection::New);
        if id.is_some() && typed.until.is_some() {
            self.problems.add(typed.typed.place("until"), "with `until`, `id` is set automatically");
        }
        let outer = self.names.len();
        self.names.push("reply".to_owned());
        self.shapes.push(("reply".to_owned(), ValueType::One(&views::REPLY)));
        let until = self.clauses(typed.until);
        self.names.truncate(outer);
        if let Some(then) = typed.then.as_ref().filter(|_| !alone) {
            self.problems.add(then.at, "`then` needs `connection: new`");
        }
        let then = typed.then.map(|then| then.value);
        if let (Some(Template::Literal(of)), Some(id)) = (&method, &id)
            && of == "subscriptions/listen"
        {
            self.subscriptions.push(id.clone());
        }
        let seconds = typed.cancel_after.or(typed.poll_for);
        Some(Call { method: method?, with, id, alone, then, seconds, until, respond: typed.respond })
    }

    fn list(&mut self, typed: file::Step) -> Option<List> {
        let method = typed.list?;
        self.one_known(&method, "method", &self.known.methods);
        let known = LISTS.iter().map(|list| (list.method, list.field)).chain([("tasks/list", "tasks")]);
        let usual = known.into_iter().find(|(list, _)| *list == method.value).map(|(_, field)| field.to_owned());
        let take = typed.take.map(|take| take.value).or(usual);
        let take = self.needs(&typed.typed, "take", take);
        let with = typed.with.and_then(|with| self.template(&with));
        let pages = typed.pages.unwrap_or(PAGES);
        self.refuse_connection(&typed.typed, typed.connection, StepConnection::New);
        let second = typed.connection == Some(StepConnection::Second);
        Some(List { method: method.value, with, take: take?, pages, second, by_page: true })
    }

    fn walk(&mut self, typed: file::Step) -> Option<Walk> {
        let method = typed.walk?;
        self.one_known(&method, "method", &self.known.methods);
        let from = self.needs(&typed.typed, "from", typed.from).and_then(|from| self.template(&from));
        let node = self.needs(&typed.typed, "node", typed.node);
        let with = self.needs(&typed.typed, "with", typed.with).and_then(|with| self.template(&with));
        let take = self.needs(&typed.typed, "take", typed.take);
        let key = self.needs(&typed.typed, "key", typed.key);
        let limits = self.needs(&typed.typed, "limits", typed.limits).and_then(|limits| self.limits(&limits));
        Some(Walk {
            method: method.value,
            from: from?,
            node: node?.value,
            with: with?,
            take: take?.value,
            key: key?.value,
            limits: limits?,
        })
    }

    fn overlap(&mut self, typed: file::Step) -> Option<Overlap> {
        let method = self.text(&typed.overlap?);
        let with = typed.with.and_then(|with| self.template(&with));
        let others = self.needs(&typed.typed, "others", typed.others).and_then(|others| self.template(&others));
        Some(Overlap { method: method?, with, others: others? })
    }

    fn limits(&mut self, typed: &file::Limits) -> Option<WalkLimits> {
        let nodes = self.needs(&typed.typed, "nodes", typed.nodes);
        let depth = self.needs(&typed.typed, "depth", typed.depth);
        let pages = self.needs(&typed.typed, "pages", typed.pages);
        let seconds = self.needs(&typed.typed, "seconds", typed.seconds);
        let (seconds, settable) = (u64::try_from(seconds?).ok()?, typed.settable.unwrap_or(false));
        Some(WalkLimits { nodes: nodes?, depth: depth?, pages: pages?, seconds, settable })
    }

    fn notify(&mut self, typed: file::Step) -> Option<Verb> {
        let method = typed.notify?.value;
        let with = typed.with.and_then(|with| self.template(&with));
        let id = with.as_ref().filter(|_| method == CANCELLED).and_then(|with| with.member("requestId"));
        // The id of a request that opens a subscription. Other requests are cancelled by a plain `notify`.
        let subscription = id.filter(|id| self.subscriptions.contains(id));
        if let Some(save) = typed.save.as_ref().filter(|_| subscription.is_none()) {
            let help =
                format!("`{CANCELLED}` with the `requestId` of a `subscriptions/listen` of this suite saves that");
            self.problems.add_with(save.at, "a notification has no response to save", help);
        }
        Some(subscription.map_or(Verb::Notify(Notify { method, with }), Verb::Cancel))
    }

    fn pause(&mut self, typed: &file::Step) -> Option<Pause> {
        if let Some(save) = &typed.save {
            self.problems.add(save.at, "a pause has nothing to save");
        }
        self.check_seconds(&typed.typed, "pause", typed.pause);
        Some(Pause { seconds: typed.pause?, or_request: typed.or_request.unwrap_or(false) })
    }

    fn refuse_connection(&mut self, owner: &Typed, typed: Option<StepConnection>, other: StepConnection) {
        if typed == Some(other) {
            let help = "`new` is for `call`, `second` is for `list`".to_owned();
            self.problems.add_with(owner.place("connection"), "this is the connection of another verb", help);
        }
    }

    fn r#await(&mut self, typed: file::Step) -> Option<Await> {
        let method = typed.r#await?;
        self.one_known(&method, "method", &self.known.methods);
        if let Some(since) = &typed.since
            && !self.names.contains(&since.value)
        {
            let message = format!("no earlier step saves `{}`", since.value);
            let help = suggestion(&since.value, self.names.iter().map(String::as_str));
            self.problems.add_with(since.at, message, help);
        }
        let outer = self.names.len();
        self.names.push("message".to_owned());
        self.shapes.push(("message".to_owned(), ValueType::Anything));
        let matching = self.clauses(typed.matching);
        self.names.truncate(outer);
        self.check_seconds(&typed.typed, "within", typed.within);
        self.check_seconds(&typed.typed, "none-within", typed.none_within);
        let seconds = typed.none_within.or(typed.within).unwrap_or(AWAIT_SECONDS);
        if typed.none_within.is_some() && typed.within.is_some() {
            self.problems.add(typed.typed.place("none-within"), "`none-within` replaces `within`");
        }
        let since = typed.since.map(|since| since.value);
        Some(Await { method: method.value, since, matching, seconds, none_within: typed.none_within.is_some() })
    }

    fn check_seconds(&mut self, owner: &Typed, key: &str, seconds: Option<f64>) {
        if seconds.is_some_and(|seconds| !(0.0..=SECONDS_AT_MOST).contains(&seconds)) {
            self.problems.add(owner.place(key), format!("`{key}` must be between 0 and {SECONDS_AT_MOST} seconds"));
        }
    }

    fn send(&mut self, typed: file::Step) -> Option<Send> {
        let payload = self.payload(&typed.send?);
        let reply_to = typed.reply_to.and_then(|id| self.template(&id));
        Some(Send { payload: payload?, reply_to, pieces: typed.pieces.unwrap_or(1).max(1) })
    }

    fn payload(&mut self, tree: &Tree) -> Option<Payload> {
        let members = match &tree.value {
            Yaml::String(_) => return self.template(tree).map(Payload::Text),
            Yaml::Map(members) => members.as_slice(),
            _ => &[],
        };
        match members {
            [(key, json)] if key.value == "json" => self.template(json).map(Payload::Json),
            [(key, message)] if key.value == "jsonrpc" => self.template(message).map(Payload::Message),
            [(key, messages)] if key.value == "lines" => self.template(messages).map(Payload::Lines),
            [(key, bytes)] if key.value == "base64" => {
                let bytes = At::<String>::decode(bytes, self.problems)?;
                let decoded = STANDARD.decode(&bytes.value).ok();
                if decoded.is_none() {
                    self.problems.add(bytes.at, format!("expected {}", Format::Base64.words()));
                }
                decoded.map(Payload::Bytes)
            }
            _ => decode::wrong(
                tree,
                "text, `{ jsonrpc: ... }`, `{ lines: ... }`, `{ json: ... }` or `{ base64: ... }`",
                self.problems,
            ),
        }
    }

    fn http(&mut self, typed: file::Step) -> Option<HttpCall> {
        let method = typed.http?;
        if !Format::Token.fits(&method.value) {
            self.problems.add(method.at, "expected an HTTP method such as `POST`");
        }
        let mut headers = Vec::new();
        for (name, value) in typed.headers.map(|headers| headers.0).into_iter().flatten() {
            let text = name.value.trim_start_matches('$');
            if !Format::Token.fits(text) {
                self.problems.add(name.at, "invalid header name");
            }
            headers.extend(self.text(&name).zip(self.template(&value)));
        }
        if let (Some(_), Some(_)) = (&typed.body, &typed.jsonrpc) {
            self.problems.add(typed.typed.place("jsonrpc"), "`jsonrpc` replaces `body`");
        }
        let body = typed.body.and_then(|body| self.template(&body));
        let message = typed.jsonrpc.and_then(|message| self.template(&message));
        if let (Some(_), Some(_)) = (&typed.form, body.as_ref().or(message.as_ref())) {
            self.problems.add(typed.typed.place("form"), "`form` replaces `body`");
        }
        let (query, form) = (self.parameters(typed.query), self.parameters(typed.form));
        let url = typed.url.and_then(|url| self.template(&url));
        self.check_seconds(&typed.typed, "drop-after", typed.drop_after);
        let (login, seconds) = (typed.login, typed.drop_after);
        Some(HttpCall { method: method.value, headers, body, message, form, login, query, url, seconds })
    }

    fn parameters(&mut self, pairs: Option<Pairs<Tree>>) -> Vec<(String, Template)> {
        let pairs = pairs.map(|pairs| pairs.0).into_iter().flatten();
        pairs.filter_map(|(name, value)| Some((name.value, self.template(&value)?))).collect()
    }
}
