//! Values that mean nothing to a client: cursors and request states. A gateway may give its clients values of its own, and has
//! to send the upstream the value that belongs to them.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    differences::Difference,
    matching::{Index, Matching},
    messages::Message,
};

/// The field of a result, and the parameter that returns it.
const KINDS: [(&str, &str); 2] = [("nextCursor", "cursor"), ("requestState", "requestState")];

/// The values of the upstream, by the parameter and the value that a client received instead.
pub struct Opaque(HashMap<(&'static str, String), Value>);

impl Opaque {
    pub fn of(matching: &Matching) -> Self {
        let value = |index: Index, field: &str| matching.at(index).message["result"].get(field).cloned();
        let pairs = matching.calls.iter().flat_map(|pair| {
            KINDS.into_iter().filter_map(move |(field, parameter)| {
                let (given, own) = (value(*pair.arrived.first()?, field)?, value(pair.returned?, field)?);
                Some(((parameter, given.to_string()), own))
            })
        });
        Self(pairs.collect())
    }

    /// Replaces the differences of these parameters. The gateway need not know a value that it gave no client.
    pub fn correct(&self, found: &mut Vec<Difference>, sent: &Message, received: &Message) {
        for (_, parameter) in KINDS {
            found.retain(|difference| difference.part != parameter);
            let value = |message: &Message| message.message["params"].get(parameter).cloned();
            let Some(given) = value(sent) else { continue };
            let Some(own) = self.0.get(&(parameter, given.to_string())) else { continue };
            let other = value(received);
            if other.as_ref() != Some(own) {
                found.push(Difference {
                    what: "changed",
                    part: parameter.to_owned(),
                    path: format!("params.{parameter}"),
                    pointer: format!("/params/{parameter}"),
                    sent: Some(own.clone()),
                    received: Some(other.unwrap_or_default()),
                });
            }
        }
    }

    /// Whether a result has such a value of the gateway's own.
    pub fn is_replaced(difference: &Difference) -> bool {
        difference.what == "changed" && KINDS.iter().any(|(field, _)| difference.part == *field)
    }
}
