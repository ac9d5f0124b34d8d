//! Faults that are not about one message.

use crate::{
    evidence::Transport,
    relay::{Fault, fault::HTTP},
};

const STREAMABLE: &[Transport] = &[Transport::Http];

pub static WHOLE: &[Fault] = &[
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
];
