//! Lists that a gateway keeps although they have changed.

use serde_json::Value;

use super::{
    matching::{Matching, Pair},
    messages::{INVALID_PARAMS, Message},
};
use conform_model::evidence::{LISTS, List, Side};

/// Of a client's request for a list of which it had received a change: whether it received the list from before, which the
/// gateway had not requested again. Since a list can change to what it was, only that shows that it is the old one.
pub fn is_outdated(matching: &Matching, pair: &Pair) -> Option<bool> {
    let sent = matching.at(pair.sent);
    let list = LISTS.iter().find(|list| !sent.behind && list.method == sent.method())?;
    let arrived = matching.at(*pair.arrived.first()?);
    let returned = items(arrived, list)?;
    let notification = format!("notifications/{}_changed", list.method);
    let changes = matching.news.iter().filter(|told| matching.at(told.sent).method() == notification);
    let (changed, known) = changes
        .filter_map(|told| {
            let mut copies = told.received.iter().map(|index| matching.at(*index));
            let copy = copies.find(|copy| copy.link == sent.link && copy.frame < sent.frame)?;
            Some((matching.at(told.sent).frame, copy.frame))
        })
        .max()?;
    let is_fetched = matching.messages.iter().any(|message| {
        let is_since = changed < message.frame && message.frame < arrived.frame;
        message.behind && message.from == Side::Server && is_since && items(message, list).is_some()
    });
    let is_old = matching
        .messages
        .iter()
        .any(|message| message.link == sent.link && message.frame < known && items(message, list) == Some(returned));
    Some(is_old && !is_fetched)
}

/// Whether the gateway responded that it does not know the prompt or template of a completion, and listed none of this name.
pub fn is_unlisted(matching: &Matching, request: &Message, response: &Message) -> bool {
    let reference = &request.message["params"]["ref"];
    let is_listed = |list: &List, key: &str| {
        let mut lists = matching.messages.iter().filter(|message| message.link == request.link);
        reference.get(key).is_some_and(|wanted| {
            lists.any(|message| {
                let mut items = items(message, list).and_then(Value::as_array).into_iter().flatten();
                items.any(|item| item[list.name] == *wanted)
            })
        })
    };
    request.method() == "completion/complete"
        && response.message["error"]["code"] == INVALID_PARAMS
        && !LISTS.iter().any(|list| is_listed(list, if list.name == "name" { "name" } else { "uri" }))
}

/// Whether it is the field of a tool that says whether it is run as a task, or the object with only this field.
pub fn is_of_tasks(path: &str) -> bool {
    path.starts_with("result.tools[") && (path.ends_with("].execution") || path.ends_with("].execution.taskSupport"))
}

fn items<'a>(response: &'a Message, list: &List) -> Option<&'a Value> {
    response.message["result"].get(list.field)
}
