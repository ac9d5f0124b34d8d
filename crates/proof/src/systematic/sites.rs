//! Where a program can be wrong: each kind of message that it sends, and each field in it.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use mcp_conform::evidence::{Evidence, Frame, Kind, Side, conversation::Conversation};

/// Fields whose content belongs to the author of the program, not to the protocol.
const CONTENT: [&str; 8] =
    ["arguments", "structuredContent", "experimental", "properties", "metadata", "extensions", "default", "$defs"];
/// Objects with names that the author chooses. Their values are all alike.
const NAMED: [&str; 3] = ["inputRequests", "inputResponses", "requestedSchema/properties"];
/// Fields that are the same in every message.
const COMMON: [&str; 2] = ["/jsonrpc", "/_meta/"];

/// A kind of message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKind {
    pub method: String,
    pub part: &'static str,
}

/// A message that was sent, with the request that it responds to.
pub struct Sent {
    pub message: Value,
    pub request: Option<Value>,
}

/// What a faultless program sent, by its kind.
pub type Traffic = BTreeMap<MessageKind, Vec<Sent>>;

/// All messages of one side, in order, and each of several alike once.
pub fn traffic(evidence: &Evidence, side: Side) -> Traffic {
    let mut traffic = Traffic::new();
    let mut conversation = Conversation::default();
    let frames: Vec<Arc<Frame>> = evidence.frames().collect();
    let by_number: BTreeMap<u64, &Arc<Frame>> = frames.iter().map(|frame| (frame.frame, frame)).collect();
    for frame in &frames {
        let said = conversation.take(frame);
        let [one] = said.messages.as_slice() else { continue };
        if frame.from != side || said.is_batch() {
            continue;
        }
        let request = said.request().and_then(|asked| by_number.get(&asked.place.frame)?.message.clone());
        let method = request.as_ref().map_or(one.message.method, |request| request["method"].as_str().unwrap_or(""));
        let part = match one.message.kind {
            Kind::Request => "request",
            Kind::Notification => "notification",
            Kind::Result => "result",
            Kind::Error => "error",
            Kind::Other => continue,
        };
        if !method.is_empty() && !method.contains(['*', '=']) {
            let sent = traffic.entry(MessageKind { method: method.to_owned(), part }).or_default();
            if !sent.iter().any(|known| is_alike(&known.message, one.message.whole)) {
                sent.push(Sent { message: one.message.whole.clone(), request });
            }
        }
    }
    traffic
}

/// Whether they differ only in their ids.
fn is_alike(one: &Value, other: &Value) -> bool {
    ["result", "error", "method", "params"].iter().all(|part| one.get(part) == other.get(part))
}

/// The paths of all fields in these messages, in the language of faults. `met` are the common fields that an earlier kind
/// of message had.
pub fn paths(sent: &[Sent], met: &mut Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sent in sent {
        descend(&sent.message, "", &mut |path| {
            if !all.iter().any(|known| known == path) {
                all.push(path.to_owned());
            }
        });
    }
    all.retain(|path| {
        let is_common = COMMON.iter().any(|common| path.contains(common));
        let is_first = !is_common || !met.contains(path);
        met.extend(is_common.then(|| path.clone()));
        is_first
    });
    all
}

fn descend(value: &Value, path: &str, met: &mut dyn FnMut(&str)) {
    let content = |path: &str| CONTENT.iter().any(|name| path.ends_with(&format!("/{name}")));
    let named = NAMED.iter().any(|name| path.ends_with(&format!("/{name}")));
    if content(path) && !named {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().filter(|(name, _)| *name != "id" || !path.is_empty()) {
                let token = if named { "*".to_owned() } else { name.replace('~', "~0").replace('/', "~1") };
                if named || !token.contains(['*', '=']) {
                    let deeper = format!("{path}/{token}");
                    met(&deeper);
                    descend(field, &deeper, met);
                }
            }
        }
        Value::Array(items) => {
            let deeper = format!("{path}/*");
            for item in items {
                met(&deeper);
                descend(item, &deeper, met);
            }
        }
        _ => {}
    }
}
