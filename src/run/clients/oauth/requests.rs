//! `$requests`: each HTTP request of the client and of its user's browser.

use std::collections::HashMap;

use hyper::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use super::journal::{Kept, Passed};
use crate::reference::server::oauth::Secret;

/// Requests that were under way when a token was issued may still lack it. A guess.
const UNDER_WAY: u128 = 1000;

pub struct Context<'a> {
    pub kept: &'a Kept,
    pub secrets: &'a [Secret],
    /// The URL that the client was given.
    pub target: &'a str,
    pub world: &'a str,
    /// Whether the client is known to follow the redirects of a login itself.
    pub fetches: bool,
}

pub struct Request<'a> {
    pub passed: &'a Passed,
    /// The parameters in the query of a GET, or in the body of a form.
    pub params: Pairs,
    /// Whether the MCP server accepted its token.
    pub accepted: bool,
    pub token: Option<&'a str>,
    pub item: Value,
}

pub type Pairs = Vec<(String, String)>;

pub fn pairs(text: &[u8]) -> Pairs {
    form_urlencoded::parse(text).into_owned().collect()
}

pub fn first<'p>(pairs: &'p Pairs, name: &str) -> Option<&'p str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The first value of each name.
pub fn object(pairs: &Pairs) -> Value {
    let mut object = Map::new();
    for (name, value) in pairs {
        object.entry(name.clone()).or_insert_with(|| json!(value));
    }
    Value::Object(object)
}

/// The names that occur more than once.
pub fn repeated(pairs: &Pairs) -> Vec<&str> {
    let again = |(at, (name, _)): &(usize, &(String, String))| pairs[..*at].iter().any(|(other, _)| other == name);
    pairs.iter().enumerate().filter(again).map(|(_, (name, _))| name.as_str()).collect()
}

impl<'a> Context<'a> {
    pub fn requests(&self) -> Vec<Request<'a>> {
        let mut same: HashMap<String, usize> = HashMap::new();
        // When the MCP server first accepted a token.
        let mut accepted_at = None;
        let mut rejected: HashMap<&str, usize> = HashMap::new();
        let mut all = Vec::new();
        for passed in &self.kept.passed {
            let is_form = passed.header("content-type").starts_with("application/x-www-form-urlencoded");
            let params = match (is_form, passed.method.as_str()) {
                (true, _) => pairs(&passed.body),
                (false, "GET") => pairs(passed.query.as_bytes()),
                _ => Pairs::new(),
            };
            let given = passed.header("authorization");
            let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
            let known = self.secrets.iter().find(|secret| secret.kind == "access token" && secret.value == token);
            let token = known.map(|known| known.value.as_str());
            let accepted = passed.about == "mcp" && token.is_some() && !matches!(passed.status, 401 | 403);
            let message: Value = serde_json::from_slice(&passed.body).unwrap_or_default();
            let times = same.entry(Self::like(passed, &message)).or_default();
            *times += 1;
            let since = accepted_at.map(|at| passed.at.duration_since(at).as_millis());
            let mcp = passed.about == "mcp";
            let rejections = token.and_then(|token| rejected.get(token).copied()).unwrap_or_default();
            let headers = passed.headers.get_all(AUTHORIZATION).iter().count();
            let item = json!({
                "to": passed.to.name(),
                "about": passed.about,
                "by": if passed.by_user { "user" } else { "client" },
                "method": passed.method,
                "path": passed.path,
                "query": passed.query,
                "params": object(&params),
                "repeated": repeated(&params),
                "headers": passed.named_headers(),
                "form": is_form,
                "body": if is_form { Value::Null } else { message.clone() },
                "rpc": if mcp { message["method"].clone() } else { Value::Null },
                "status": passed.status,
                "response": passed.response,
                "scheme": scheme,
                "credential": match (given.is_empty(), token) {
                    (true, _) => "none",
                    (false, Some(_)) => "issued",
                    (false, None) => "other",
                },
                "authorizations": headers,
                "accepted": accepted,
                "after_login": since.is_some_and(|since| since > UNDER_WAY),
                "rejections": rejections,
                "secrets": self.found(passed),
                "times": times,
                "ms": ms(self.kept, passed),
                "frames": [passed.frame],
                "link": passed.link,
                "world": self.world,
            });
            if accepted {
                accepted_at.get_or_insert(passed.at);
            }
            if let (Some(token), true) = (token, passed.status == 401 && mcp) {
                *rejected.entry(token).or_default() += 1;
            }
            all.push(Request { passed, params, accepted, token, item });
        }
        all
    }

    /// What two requests have in common that are the same.
    fn like(passed: &Passed, message: &Value) -> String {
        let credential = passed.header("authorization");
        let (to, about, path) = (passed.to.name(), passed.about, &passed.path);
        if about == "mcp" {
            return format!("{to} {} {} {} {credential}", passed.method, message["method"], message["params"]["name"]);
        }
        format!("{to} {about} {} {path} {} {}", passed.method, passed.query, String::from_utf8_lossy(&passed.body))
    }

    /// The tokens, codes and secrets in a request, and where they are.
    fn found(&self, passed: &Passed) -> Vec<Value> {
        let decoded = |text: &str| {
            let plain = text.replace('+', " ");
            percent_encoding::percent_decode_str(&plain).decode_utf8_lossy().into_owned()
        };
        let body = String::from_utf8_lossy(&passed.body);
        let mut places = vec![
            ("query", passed.query.clone()),
            ("query", decoded(&passed.query)),
            ("path", passed.path.clone()),
            ("body", body.to_string()),
            ("body", decoded(&body)),
        ];
        let mut basic = String::new();
        for (name, value) in &passed.headers {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            if name == AUTHORIZATION {
                basic = super::tokens::basic(&text).unwrap_or_default();
                places.push(("authorization", text));
            } else {
                places.push(("header", text));
            }
        }
        places.extend([("authorization", basic.clone()), ("authorization", decoded(&basic))]);
        let mut found: Vec<Value> = Vec::new();
        for secret in self.secrets {
            for (place, _) in places.iter().filter(|(_, text)| text.contains(&secret.value)) {
                let one = json!({ "kind": secret.kind, "place": place, "issuer": secret.issuer.name() });
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        found
    }
}

/// Milliseconds since the start of the client.
pub fn ms(kept: &Kept, passed: &Passed) -> u64 {
    u64::try_from(passed.at.duration_since(kept.began).as_millis()).unwrap_or(u64::MAX)
}

impl Passed {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn named_headers(&self) -> Value {
        let mut named = Map::new();
        for name in self.headers.keys() {
            let all = self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            named.insert(name.to_string(), json!(all.collect::<Vec<_>>().join(", ")));
        }
        Value::Object(named)
    }
}
