//! The sessions of the upstream: whether the gateway completed the handshake of each, and what a new one lacks.

use std::collections::HashMap;

use serde_json::Value;

use super::ends::Ends;

/// What is known of a handshake that began a session.
pub struct Handshake {
    /// Whether the gateway sent notifications/initialized. Unknown if it used the session for nothing else.
    pub initialized: Option<bool>,
    /// If the upstream no longer knew an earlier session: the capabilities that only that one had.
    pub lost: Option<Vec<String>>,
    /// Then also: whether the revision is another one.
    pub other_revision: Option<bool>,
}

/// The handshakes, by their HTTP exchange. `declared` has the capabilities in each, and `agreed` the revision.
pub fn handshakes(
    upstream: &[(u64, Value)],
    declared: &HashMap<u64, Value>,
    agreed: &HashMap<u64, String>,
    ends: &Ends,
) -> HashMap<u64, Handshake> {
    let sent = |item: &Value| item["http"]["headers"]["mcp-session-id"].as_str().map(str::to_owned);
    let begun = || upstream.iter().filter(|(_, item)| item["carries"] == "initialize" && item["session"].is_string());
    let found = begun().map(|(post, item)| {
        let session = item["session"].as_str().map(str::to_owned);
        let carried: Vec<&str> = upstream
            .iter()
            .filter(|(_, other)| other["link"] == item["link"] && sent(other) == session)
            .filter_map(|(_, other)| other["carries"].as_str())
            .collect();
        let is_initialized = carried.contains(&"notifications/initialized");
        let is_used = carried.iter().any(|method| !method.starts_with("notifications/") && *method != "ping");
        // A gateway may have several sessions, so the new one is for that of which least is missing.
        let before: Vec<&u64> = upstream
            .iter()
            .filter(|(at, other)| at < post && other["link"] == item["link"] && ends.has_rejected_session(*at))
            .filter_map(|(_, other)| begun().find(|(_, first)| first["session"].as_str() == sent(other).as_deref()))
            .map(|(first, _)| first)
            .collect();
        let lost = before.iter().map(|first| missing(declared.get(first), declared.get(post))).min_by_key(Vec::len);
        let other_revision = agreed
            .get(post)
            .filter(|_| !before.is_empty())
            .map(|version| before.iter().all(|first| agreed.get(first) != Some(version)));
        (*post, Handshake { initialized: is_used.then_some(is_initialized), lost, other_revision })
    });
    found.collect()
}

fn missing(first: Option<&Value>, again: Option<&Value>) -> Vec<String> {
    let first = first.and_then(Value::as_object).into_iter().flatten();
    let is_missing = |name: &&String| again.is_none_or(|again| again.get(*name).is_none());
    first.map(|(name, _)| name).filter(is_missing).cloned().collect()
}
