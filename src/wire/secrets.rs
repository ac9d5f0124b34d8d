//! Values that must not be seen in any record: those of headers that the user gave, and those that the
//! configuration took from the environment.
//!
//! In the head of a request they are left out by name. A server may repeat them anywhere, so they are looked for in what
//! comes back as well; short values and headers that never hold a secret are spared, as hiding `1` or `application/json`
//! everywhere would falsify the record.

use std::sync::Arc;

use serde_json::Value;

pub const SHOWN_INSTEAD: &str = "(given by the user)";
const SHORTEST: usize = 8;
const NEVER_SECRET: [&str; 8] =
    ["accept", "content-", "user-agent", "origin", "referer", "host", "mcp-protocol-version", "traceparent"];

#[derive(Clone, Debug, Default)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// The values themselves, and the words of values such as `Bearer TOKEN`.
    pub fn of<'a>(headers: impl IntoIterator<Item = &'a (String, String)>) -> Self {
        let mut hidden: Vec<String> = headers
            .into_iter()
            .filter(|(name, _)| {
                let name = name.to_ascii_lowercase();
                !NEVER_SECRET.iter().any(|known| name.starts_with(known))
            })
            .flat_map(|(_, value)| {
                let words = value.split([' ', ';', ',']).map(str::to_owned);
                std::iter::once(value.trim().to_owned()).chain(words)
            })
            .filter(|text| text.len() >= SHORTEST)
            .collect();
        hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        hidden.dedup();
        Self(hidden.into())
    }

    /// Values that are known to be secret, whatever their name.
    pub fn known(values: &[String]) -> Self {
        let mut hidden: Vec<String> = values.iter().filter(|text| text.len() >= SHORTEST).cloned().collect();
        hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self(hidden.into())
    }

    /// These and further values that are known to be secret.
    pub fn and<'a>(&self, values: impl IntoIterator<Item = &'a String>) -> Self {
        let further = values.into_iter().filter(|text| text.len() >= SHORTEST).cloned();
        let mut hidden: Vec<String> = self.0.iter().cloned().chain(further).collect();
        hidden.sort_by_key(|text| std::cmp::Reverse(text.len()));
        hidden.dedup();
        Self(hidden.into())
    }

    pub fn hide(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), SHOWN_INSTEAD) } else { text }
        })
    }

    pub fn hide_in(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::String(text) => *text = self.hide(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(members) => {
                if members.keys().any(|name| self.0.iter().any(|secret| name.contains(secret.as_str()))) {
                    *members =
                        std::mem::take(members).into_iter().map(|(name, value)| (self.hide(name), value)).collect();
                }
                members.values_mut().for_each(|member| self.hide_in(member));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Takes the values out of a document that hands out tokens or passwords.
pub fn leave_out_credentials(document: &mut Value) {
    const NAMES: [&str; 5] =
        ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"];
    if let Value::Object(members) = document {
        for (_, value) in members.iter_mut().filter(|(name, value)| NAMES.contains(&name.as_str()) && value.is_string())
        {
            *value = Value::from("(left out)");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Secrets::of(&[
            header("Authorization", "Bearer abcdefgh12"),
            header("Accept", "application/json"),
            header("X-Level", "1"),
        ])
    }

    #[test]
    fn hides_a_token_wherever_it_is_repeated() {
        assert_eq!(secrets().hide("bad token abcdefgh12!".into()), "bad token (given by the user)!");
        assert_eq!(secrets().hide("Bearer abcdefgh12".into()), "(given by the user)");
        let mut value = json!({"a": ["abcdefgh12", 1], "abcdefgh12": true});
        secrets().hide_in(&mut value);
        assert_eq!(value, json!({"a": ["(given by the user)", 1], "(given by the user)": true}));
    }

    #[test]
    fn what_is_handed_out_is_left_out() {
        let mut document = json!({ "access_token": "abcdefgh12", "expires_in": 60 });
        leave_out_credentials(&mut document);
        assert_eq!(document, json!({ "access_token": "(left out)", "expires_in": 60 }));
        assert_eq!(secrets().and(&["another-secret".to_owned()]).hide("another-secret".into()), "(given by the user)");
    }

    #[test]
    fn leaves_alone_what_is_no_secret() {
        assert_eq!(secrets().hide("1 application/json Bearer".into()), "1 application/json Bearer");
    }
}
