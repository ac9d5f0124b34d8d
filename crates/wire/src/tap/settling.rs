//! Determines the revision of a conversation from its messages.

use serde_json::Value;

use conform_model::{evidence::Side, revision::Revision};

#[derive(Default)]
pub struct Settling {
    /// The id of the client's `initialize`, and the requested revision.
    requested: Option<(Value, Option<Revision>)>,
}

impl Settling {
    /// The revision that this message shows, if any. `initialize` shows the revision that the client requests, until
    /// the server responds.
    pub fn after(&mut self, from: Side, message: &Value) -> Option<Revision> {
        let version = |at: &str| message.pointer(at).and_then(Value::as_str).and_then(|text| text.parse().ok());
        match from {
            Side::Client if message["method"] == "initialize" => {
                let requested = version("/params/protocolVersion").filter(|revision: &Revision| !revision.is_modern());
                self.requested = Some((message["id"].clone(), requested));
                requested
            }
            Side::Client if self.requested.is_none() => {
                version("/params/_meta/io.modelcontextprotocol~1protocolVersion")
                    .filter(|revision: &Revision| revision.is_modern())
            }
            Side::Server => {
                let (id, requested) = self.requested.as_ref()?;
                let responds = message["id"] == *id && message.get("method").is_none();
                let agreed = version("/result/protocolVersion").filter(|revision: &Revision| !revision.is_modern());
                agreed.or(*requested).filter(|_| responds)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_handshake_says_more_than_a_probe() {
        let mut settling = Settling::default();
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let probe = json!({ "id": 1, "method": "server/discover", "params": { "_meta": meta } });
        assert_eq!(settling.after(Side::Client, &probe), Some(Revision::V2026_07_28));
        let initialize = json!({ "id": 2, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } });
        assert_eq!(settling.after(Side::Client, &initialize), Some(Revision::V2025_11_25));
        assert_eq!(settling.after(Side::Client, &probe), None);
        let other = json!({ "id": 1, "result": { "protocolVersion": "2024-11-05" } });
        assert_eq!(settling.after(Side::Server, &other), None);
        let agreed = json!({ "id": 2, "result": { "protocolVersion": "2025-06-18" } });
        assert_eq!(settling.after(Side::Server, &agreed), Some(Revision::V2025_06_18));
        let unknown = json!({ "id": 2, "result": { "protocolVersion": "1999-01-01" } });
        assert_eq!(settling.after(Side::Server, &unknown), Some(Revision::V2025_11_25));
    }
}
