//! A suite for a failed call, for the user's own suite files.

use serde_json::{Value, json};

/// The suite with the call, and what the rule expects, in the language of suites.
pub fn suite(rule: &str, title: &str, source: &str, item: &Value) -> Option<String> {
    let short = rule.strip_prefix("generated-").unwrap_or(rule);
    let with = escaped(&item["params"]);
    let method = item["method"].as_str()?;
    let judged = match short {
        "invalid-rejected" => {
            let odd = json!(item["odd"]);
            format!("check: carried-out\n    given: {{ reply: $reply, although: {odd} }}")
        }
        "valid-accepted" | "bound-accepted" => {
            "expect:\n      $reply.end: { equals: result }\n      $reply.result.isError: { if-present: { equals: false } }".to_owned()
        }
        "output-schema" => {
            format!("check: output-schema\n    given: {{ params: {{ name: {} }}, result: $reply.result, tools: $survey.tools.items }}", item["params"]["name"])
        }
        "result-shape" => format!("check: result-shape\n    given: {{ method: {method}, result: $reply.result }}"),
        // What only a comparison of several calls shows is no rule about one.
        "read-only" | "idempotent" | "sessions" | "time-grows" | "concurrent" | "template-decoded" | "no-unfilled" => {
            return None;
        }
        _ => "expect:\n      $reply.end: { one-of: [result, error] }".to_owned(),
    };
    Some(format!(
        "suite: examples.{short}\nabout: A call that failed once.\n\ngather:\n  - call: {method}\n    with: {with}\n    save: reply\n\n\
         rules:\n  - id: example-{short}\n    {} {}\n    source: {}\n    {judged}\n",
        "must:",
        json!(title_of(title)),
        json!(source)
    ))
}

/// The rule is a MUST in the user's own suite, because the server should pass it.
fn title_of(title: &str) -> String {
    let stated = title.replacen("SHOULD", "MUST", 1);
    if stated.contains("MUST") { stated } else { "The server MUST handle this call".to_owned() }
}

/// The value as JSON, which YAML can read. A text that begins like a reference is escaped.
fn escaped(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with('$') => json!(format!("${text}")),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), escaped(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
