//! Tools that send requests to the client first. Each is a function of the client's responses so far. It returns its
//! outcome, or the next requests.

use serde_json::{Map, Value, json};

use crate::{
    content::{
        arguments::{Arguments, string},
        forms::{self, Answer},
        tools::{Outcome, Tool, Trouble, text},
    },
    context::Context,
    fail::Fail,
};
use conform_model::revision::Revision;

/// Maximum number of rounds in which the model may use tools.
const MOST_TURNS: usize = 4;

const NOTHING: fn() -> (Value, &'static [&'static str]) = || (json!({}), &[]);

pub static ASKING: [Tool; 8] = [
    Tool {
        since: Revision::V2025_06_18,
        call: introduce,
        ..tool("introduce", "Introduce", "Requests the name of the user and the roots of the client.")
    },
    Tool {
        since: Revision::V2025_11_25,
        call: visit,
        ..tool("visit", "Visit", "Sends the user to a page and waits until the user has been there.")
    },
    Tool {
        since: Revision::V2025_11_25,
        call: connect,
        ..tool("connect", "Connect", "Needs a page to be visited before it is called.")
    },
    Tool {
        since: Revision::V2025_11_25,
        read_only: false,
        call: redeem,
        ..tool("redeem", "Redeem", "Redeems the coupon that the user names.")
    },
    Tool { call: summarize, ..tool("summarize", "Summarize", "Has the client's model sum up a text.") },
    Tool {
        since: Revision::V2025_11_25,
        call: research,
        ..tool("research", "Research", "Has the client's model look up words until it knows what they mean.")
    },
    Tool { call: places, ..tool("places", "Places", "Counts the places where the client works.") },
    Tool {
        input: || (json!({ "path": { "type": "string" } }), &["path"]),
        call: peek,
        ..tool("peek", "Peek", "Looks at a file inside of the places where the client works.")
    },
];

const fn tool(name: &'static str, title: &'static str, description: &'static str) -> Tool {
    Tool {
        name,
        title,
        description,
        read_only: true,
        since: Revision::V2024_11_05,
        input: NOTHING,
        output: None,
        call: places,
    }
}

fn introduce(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    need(context, &json!({ "elicitation": { "form": {} } }))?;
    let mut asks = Map::new();
    let form = forms::person(context.revision);
    if !context.answers.contains_key("person") {
        asks.insert("person".into(), json!({ "method": "elicitation/create", "params": form }));
    }
    let wants_roots = context.capabilities.get("roots").is_some() && !context.content.slips.roots_kept;
    if wants_roots && !context.answers.contains_key("places") {
        asks.insert("places".into(), json!({ "method": "roots/list" }));
    }
    if !asks.is_empty() {
        return Ok(Outcome::Ask(asks.into()));
    }
    match forms::answer(&context.answers["person"], &form["requestedSchema"]) {
        Answer::Given(content) => said(&format!("This is {}.", content["name"].as_str().unwrap_or_default())),
        Answer::Withheld => said("No name was given."),
        Answer::Unfit(why) => unfit(context, &why),
    }
}

fn visit(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    need(context, &json!({ "elicitation": { "url": {} } }))?;
    let request = context.id.to_string();
    let Some(answer) = context.answers.get("page").cloned() else {
        let params = page(context);
        return Ok(Outcome::Ask(json!({ "page": { "method": "elicitation/create", "params": params } })));
    };
    match answer["action"].as_str() {
        Some("accept") => {
            if let Some(id) = context.session.visits.remove(&request) {
                context.notify("notifications/elicitation/complete", &json!({ "elicitationId": id }));
            }
            said("The page was visited.")
        }
        Some("decline" | "cancel") => said("The page was not visited."),
        _ => unfit(context, "`action` is not accept, decline or cancel."),
    }
}

/// Up to 2025-11-25 an error can list the URL elicitations that are required first.
fn connect(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    if context.revision.is_modern() {
        return said("connected");
    }
    need(context, &json!({ "elicitation": { "url": {} } }))?;
    Err(Trouble::Refused(Fail::visit(&page(context))))
}

fn page(context: &mut Context) -> Value {
    context.content.visits += 1;
    let url = format!("https://example.com/connect?step={}", context.content.visits);
    let mut params = json!({ "mode": "url", "message": "Please visit this page.", "url": url });
    if !context.revision.is_modern() {
        let id = format!("visit-{}", context.content.visits);
        params["elicitationId"] = json!(id);
        context.session.visits.insert(context.id.to_string(), id);
    }
    params
}

fn redeem(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    need(context, &json!({ "elicitation": { "form": {} } }))?;
    let schema = json!({ "type": "object", "properties": { "coupon": { "type": "string" } }, "required": ["coupon"] });
    let Some(given) = context.answers.get("coupon") else {
        let mut requests = Map::new();
        // The mode is optional.
        let params = json!({ "message": "Which coupon?", "requestedSchema": schema });
        requests.insert("coupon".into(), json!({ "method": "elicitation/create", "params": params }));
        let ticket = context.content.visits + 1;
        context.content.visits = ticket;
        context.answers.insert("ticket".into(), json!({ "number": ticket }));
        return Ok(Outcome::Ask(requests.into()));
    };
    let ticket = context.answers.get("ticket").map(Value::to_string);
    match forms::answer(given, &schema) {
        Answer::Given(_)
            if ticket.is_some_and(|ticket| !context.content.spent.insert(ticket))
                && !context.content.slips.redeems_twice =>
        {
            Err(Trouble::Refused(Fail::params("This was redeemed before.")))
        }
        Answer::Given(_) => said("The coupon is redeemed."),
        Answer::Withheld => said("No coupon was redeemed."),
        Answer::Unfit(why) => unfit(context, &why),
    }
}

fn summarize(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    need(context, &json!({ "sampling": {} }))?;
    let Some(answer) = context.answers.get("summary") else {
        let params = json!({
            "messages": [{ "role": "user", "content": text("Sum up: the world is made up.") }],
            "systemPrompt": "Be brief.",
            "includeContext": "none",
            "maxTokens": 100,
            "temperature": 0.2,
            "modelPreferences": { "hints": [{ "name": "small" }], "costPriority": 0.9, "intelligencePriority": 0.1 },
        });
        return Ok(Outcome::Ask(json!({ "summary": { "method": "sampling/createMessage", "params": params } })));
    };
    match answer["content"]["text"].as_str().filter(|_| answer["content"]["type"] == "text") {
        Some(summary) => said(summary),
        None => unfit(context, "The model gave no text."),
    }
}

fn research(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    need(context, &json!({ "sampling": { "tools": {} } }))?;
    let mut messages = vec![json!({ "role": "user", "content": text("What do these words mean?") })];
    let turns = if context.content.slips.endless { usize::MAX } else { MOST_TURNS };
    for turn in 0..=turns {
        let key = format!("turn-{turn}");
        let Some(answer) = context.answers.get(&key) else {
            let params = json!({
                "messages": messages,
                "maxTokens": 200,
                "tools": [forms::lookup()],
                "toolChoice": { "mode": "auto" },
            });
            return Ok(Outcome::Ask(json!({ key: { "method": "sampling/createMessage", "params": params } })));
        };
        let content = answer["content"].clone();
        let blocks = content.as_array().cloned().unwrap_or_else(|| vec![content.clone()]);
        if let Some(words) = blocks.iter().find_map(|block| block["text"].as_str()) {
            return said(words);
        }
        let uses: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "tool_use").collect();
        if uses.is_empty() {
            return unfit(context, "The model gave neither text nor a use of a tool.");
        }
        if context.content.slips.endless {
            messages.truncate(1);
        }
        let results: Vec<Value> = uses.into_iter().map(forms::looked_up).collect();
        messages.push(json!({ "role": "assistant", "content": blocks }));
        messages.push(json!({ "role": "user", "content": results }));
    }
    said("The model found no end.")
}

fn places(context: &mut Context, _: &Arguments) -> Result<Outcome, Trouble> {
    match roots(context)? {
        Ok(roots) => said(&format!("{} places", roots.len())),
        Err(asks) => Ok(asks),
    }
}

fn peek(context: &mut Context, arguments: &Arguments) -> Result<Outcome, Trouble> {
    let path = string(arguments, "path")?.to_owned();
    match roots(context)? {
        // A path that contains `..` is rejected without reading any file.
        Ok(roots) => {
            let inside =
                |root: &String| format!("file://{path}/").starts_with(&format!("{}/", root.trim_end_matches('/')));
            let climbs = path.contains("..") && !context.content.slips.roots_climbed;
            let outside = climbs || !roots.iter().any(inside);
            if outside && !context.content.slips.roots_ignored {
                return Err(Trouble::Failed("This is outside of the places where the client works.".to_owned()));
            }
            said("There is nothing in it.")
        }
        Err(asks) => Ok(asks),
    }
}

/// The roots, or the request for them.
fn roots(context: &mut Context) -> Result<Result<Vec<String>, Outcome>, Trouble> {
    need(context, &json!({ "roots": {} }))?;
    if let Some(known) = context.session.roots.clone().filter(|_| context.content.slips.roots_kept) {
        return Ok(Ok(known));
    }
    let Some(answer) = context.answers.get("roots") else {
        return Ok(Err(Outcome::Ask(json!({ "roots": { "method": "roots/list" } }))));
    };
    let Some(roots) = answer["roots"].as_array() else { return unfit(context, "The response has no roots.").map(Err) };
    let roots: Vec<String> = roots.iter().filter_map(|root| root["uri"].as_str()).map(str::to_owned).collect();
    if context.content.slips.asks_twice && !context.answers.contains_key("again") {
        return Ok(Err(Outcome::Ask(json!({ "again": { "method": "roots/list" } }))));
    }
    context.session.roots = Some(roots.clone());
    Ok(Ok(roots))
}

/// Fails if the client did not declare the capability.
fn need(context: &Context, capability: &Value) -> Result<(), Trouble> {
    let declares = |(name, modes): (&String, &Value)| {
        let declared = context.capabilities.get(name)?.as_object()?;
        let form = modes.get("form").is_some() && !declared.contains_key("url");
        let old = !context.features().capability_details;
        let all = modes.as_object()?.keys().all(|mode| declared.contains_key(mode));
        (all || form || old).then_some(())
    };
    if context.content.slips.asks_anyway
        || capability.as_object().into_iter().flatten().all(|needed| declares(needed).is_some())
    {
        return Ok(());
    }
    if context.revision.is_modern() {
        return Err(Trouble::Refused(Fail::capability(capability)));
    }
    Err(Trouble::Failed("The client does not support what this tool needs.".to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "it is the outcome of a tool")]
fn said(words: &str) -> Result<Outcome, Trouble> {
    Ok(Outcome::Content(vec![text(words)]))
}

/// Reports a malformed response as the error of the client's own request.
fn unfit(context: &Context, why: &str) -> Result<Outcome, Trouble> {
    if context.revision.is_modern() {
        return Err(Trouble::Refused(Fail::params(why)));
    }
    Err(Trouble::Failed(why.to_owned()))
}
