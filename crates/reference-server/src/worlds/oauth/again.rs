//! Worlds in which a client with actions has to log in again, or to refresh its token.

use std::time::Duration;

use super::world;
use crate::{
    faults::Behaviour,
    oauth::{Accepts, Calls, PLAIN, Protects, Refresh, Settings},
};

pub static SECOND_LOGINS: &[Behaviour] = &[
    world("oauth-midway", "only calls need a token", &Settings { protects: Protects::Calls, ..PLAIN }),
    world("oauth-step-up", "calls need another scope", &Settings { calls: Calls::Scope("mcp:write"), ..PLAIN }),
    world(
        "oauth-step-up-never",
        "calls need another scope, and no token has it",
        &Settings { calls: Calls::Never("mcp:write"), ..PLAIN },
    ),
    world("oauth-forbidden", "calls are forbidden", &Settings { calls: Calls::Forbidden, ..PLAIN }),
    world(
        "oauth-revoked",
        "the first token is revoked after some requests, and cannot be refreshed",
        &Settings { accepts: Accepts::Until(3), refresh: Refresh::None, ..PLAIN },
    ),
    world("oauth-early", "tokens end long before they should", &Settings { lasts: Duration::from_secs(2), ..PLAIN }),
    world(
        "oauth-keeps",
        "tokens end early, and a refresh returns no other refresh token",
        &Settings { lasts: Duration::from_secs(2), refresh: Refresh::Keeps, ..PLAIN },
    ),
    world(
        "oauth-refresh-dead",
        "tokens end early, and every refresh is rejected",
        &Settings { lasts: Duration::from_secs(2), refresh: Refresh::Dead, ..PLAIN },
    ),
    world(
        "oauth-refresh-slow",
        "tokens end early, and the token endpoint takes its time",
        &Settings { lasts: Duration::from_secs(2), slow: Duration::from_millis(500), ..PLAIN },
    ),
];
