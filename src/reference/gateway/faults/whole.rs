//! Faults that concern more than one message.

use serde_json::json;

use crate::reference::gateway::{
    Fault,
    fault::{Action, ById, HTTP, STREAMABLE},
};

/// The id of every call.
const ID: i64 = 1_000_000;

pub static WHOLE: &[Fault] = &[
    Fault {
        up: Some(|memory, message| {
            if message["method"] == "tools/call" {
                memory.kept.push(message["id"].clone());
                memory.open.insert(ID.to_string(), message.clone());
                message["id"] = json!(ID);
            }
            Action::Pass
        }),
        result: Some(|memory, message, _| {
            if message["id"] == ID
                && let Some(id) = memory.kept.pop()
            {
                message["id"] = id;
            }
            Action::Pass
        }),
        // Concurrent calls are mixed up.
        also: &["*"],
        ..Fault::new("ids-shared", "all calls have the same id for the upstream")
    },
    Fault {
        leaks_credentials: true,
        fronts: HTTP,
        backs: HTTP,
        ..Fault::new("credentials-forwarded", "credentials of clients are sent to the upstream")
    },
    Fault {
        lacks_version: true,
        backs: STREAMABLE,
        ..Fault::new("version-header-missing", "requests to the upstream have no MCP-Protocol-Version")
    },
    Fault {
        keeps_session: true,
        backs: STREAMABLE,
        ..Fault::new("session-kept", "the session of the upstream is not ended when the client leaves")
    },
    Fault {
        keeps_by_id: Some(ById::Last),
        fronts: HTTP,
        // Progress is lost with the stream of its request, which ends with a response.
        also: &["gateway-responses-passed", "gateway-progress-*"],
        ..Fault::new("responses-by-id", "a response goes to the client that last used its id")
    },
    Fault {
        keeps_by_id: Some(ById::InTurn),
        fronts: HTTP,
        also: &["gateway-progress-*"],
        ..Fault::new("responses-in-turn", "responses with the same id go to clients in the order of their requests")
    },
];
