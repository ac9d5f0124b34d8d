//! Whether one session discloses data of another: a unique text is sent in one session, and searched in the responses
//! to other calls in a second one.

use serde_json::{Value, json};

use super::{
    caller::Caller,
    calls::{Call, Kind, Source},
    item::Item,
    observe::Observer,
    subject::What,
    values::schema::{Root, kinds, places},
};
use conform_model::evidence::End;

/// Maximum number of tested tools.
const TRIED: usize = 12;

/// Calls read-only tools, and reports whether another session shows what they sent.
pub async fn mixed(
    observer: &mut Observer<'_>,
    sources: &[Source],
    over: impl Fn() -> bool,
) -> Vec<(Item, Call, usize)> {
    let mut found = Vec::new();
    let mut beside = observer.caller.beside();
    let read_only = |source: &&Source| {
        // Changes by other tools may be meant for all sessions.
        source.subject.what == What::Tool && source.subject.has_hint("readOnlyHint")
    };
    let tried: Vec<usize> = sources
        .iter()
        .enumerate()
        .filter(|(_, source)| read_only(source))
        .map(|(index, _)| index)
        .take(TRIED)
        .collect();
    for index in tried {
        if over() || beside.gone.is_some() {
            break;
        }
        let source = &sources[index];
        let Some(plain) = source.plainest() else { continue };
        let mut seen = 0;
        let mut last = None;
        for text in ["mcpconformfirst", "mcpconformsecond"] {
            let Some(call) = with_text(source, &plain, text) else { break };
            let Some(item) = observer.observe(source, &call).await.filter(|item| item.end == End::Result) else {
                break;
            };
            last = Some((item, call));
            if !shows(observer, &mut beside, source, &plain, text).await {
                break;
            }
            seen += 1;
        }
        if let Some((mut item, call)) = last {
            item.seen.seen_elsewhere = Some(seen == 2);
            found.push((item, call, index));
        }
    }
    beside.close().await;
    found
}

/// The call with the text as one of its arguments.
pub fn with_text(source: &Source, plain: &Value, text: &str) -> Option<Call> {
    let schema = &source.subject.schema;
    let is_free = |pointer: &str| plain.pointer(pointer).is_some_and(Value::is_string);
    let texts = places(Root(schema), schema, plain, 20)
        .into_iter()
        .filter(|(pointer, _, flat)| is_free(pointer) && kinds(flat).iter().any(|kind| kind == "string"));
    texts.into_iter().find_map(|(pointer, ..)| {
        let mut arguments = plain.clone();
        *arguments.pointer_mut(&pointer)? = json!(text);
        source.of(arguments, false).filter(|call| call.kind == Kind::Valid)
    })
}

/// Whether the other session shows the text, in the same tool or in a resource.
async fn shows(observer: &Observer<'_>, beside: &mut Caller, source: &Source, plain: &Value, text: &str) -> bool {
    let Some((_, _, reply)) = beside.call(observer.context, &source.subject, plain).await else { return false };
    let said = json!([reply.result, reply.error]).to_string();
    said.contains(text)
}
