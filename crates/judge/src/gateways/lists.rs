//! Lists that a gateway keeps although they have changed.

use serde_json::Value;

use super::{
    matching::{Matching, Pair},
    messages::Message,
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

fn items<'a>(response: &'a Message, list: &List) -> Option<&'a Value> {
    response.message["result"].get(list.field)
}
