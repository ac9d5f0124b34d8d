//! Tokens and codes that the server issued in this run. Records and suites have placeholders, which are replaced when a
//! request is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::target::{PLACEHOLDER, Token};

/// The fields of documents that later requests need.
const FIELDS: [&str; 4] = ["registration_access_token", "access_token", "refresh_token", "id_token"];
/// The same in a redirect to the client.
const PARAMETERS: [&str; 4] = ["code", "access_token", "refresh_token", "id_token"];
/// Claims that name no person.
const CLAIMS: [&str; 8] = ["iss", "aud", "exp", "iat", "nbf", "scope", "client_id", "cnf"];

#[derive(Clone, Default)]
pub struct Received(Arc<Mutex<Vec<Token>>>);

impl Received {
    fn lock(&self) -> MutexGuard<'_, Vec<Token>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The text with the tokens in place of their placeholders.
    pub fn filled(&self, text: String) -> String {
        self.replaced(text, str::to_owned)
    }

    /// The same in a form.
    pub fn filled_form(&self, form: &[u8]) -> Vec<u8> {
        let encoded = |value: &str| form_urlencoded::byte_serialize(value.as_bytes()).collect();
        match str::from_utf8(form) {
            Ok(text) if text.contains(PLACEHOLDER) => self.replaced(text.to_owned(), encoded).into_bytes(),
            _ => form.to_vec(),
        }
    }

    /// The last one first, since the placeholder of the first one is the beginning of that of the tenth.
    fn replaced(&self, text: String, written: impl Fn(&str) -> String) -> String {
        self.lock().iter().rev().fold(text, |text, token| text.replace(&token.stand_in(), &written(&token.value)))
    }

    /// Keeps a token, and returns its placeholder: always the same for the same token.
    fn keep(&self, kind: &str, value: &str) -> String {
        let mut received = self.lock();
        if let Some(known) = received.iter().find(|token| token.value == value) {
            return known.stand_in();
        }
        let token = Token { name: format!("{kind}-{}", received.len() + 1), value: value.to_owned() };
        let placeholder = token.stand_in();
        received.push(token);
        placeholder
    }

    pub fn keep_in_document(&self, document: &mut Value) {
        let fields = document.as_object_mut().into_iter().flatten();
        for (name, value) in fields.filter(|(name, _)| FIELDS.contains(&name.as_str())) {
            if let Some(token) = value.as_str().filter(|token| !token.is_empty()) {
                *value = self.keep(name, token).into();
            }
        }
    }

    /// The URL of a redirect with placeholders for its tokens and its code.
    pub fn keep_in_location(&self, location: &str) -> String {
        let pair = |pair: &str| match form_urlencoded::parse(pair.as_bytes()).next() {
            Some((name, value)) if PARAMETERS.contains(&&*name) && !value.is_empty() => {
                format!("{name}={}", self.keep(&name, &value))
            }
            _ => pair.to_owned(),
        };
        let part = |part: &str| part.split('&').map(pair).collect::<Vec<_>>().join("&");
        let (rest, fragment) = location.split_once('#').map_or((location, None), |(rest, after)| (rest, Some(after)));
        let (to, query) = rest.split_once('?').map_or((rest, None), |(to, query)| (to, Some(query)));
        let query = query.map(|query| format!("?{}", part(query))).unwrap_or_default();
        let fragment = fragment.map(|fragment| format!("#{}", part(fragment))).unwrap_or_default();
        format!("{to}{query}{fragment}")
    }

    /// What rules may know of a token: its length, and claims of a JWT.
    pub fn described(&self, placeholder: &str) -> Option<Value> {
        let received = self.lock();
        let value = &received.iter().find(|token| token.stand_in() == placeholder)?.value;
        let mut described = json!({ "length": value.chars().count() });
        let parts: Vec<&str> = value.split('.').collect();
        if let [_, payload, _] = parts.as_slice()
            && let Ok(payload) = URL_SAFE_NO_PAD.decode(payload)
            && let Ok(Value::Object(mut claims)) = serde_json::from_slice(&payload)
        {
            claims.retain(|name, _| CLAIMS.contains(&name.as_str()));
            // A list with one audience is the same as the audience.
            if let Some([only]) = claims.get("aud").and_then(Value::as_array).map(Vec::as_slice) {
                claims["aud"] = only.clone();
            }
            described["claims"] = claims.into();
        }
        Some(described)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_have_placeholders_and_requests_the_tokens() {
        let received = Received::default();
        let location = received.keep_in_location("http://127.0.0.1:1/cb?own=1&code=a%2Bb%26&state=%25#x");
        assert_eq!(location, "http://127.0.0.1:1/cb?own=1&code=mcp-conform-token-code-1&state=%25#x");
        assert_eq!(received.filled_form(b"code=mcp-conform-token-code-1&a=%zz"), b"code=a%2Bb%26&a=%zz");
        let token = format!("e30.{}.x", URL_SAFE_NO_PAD.encode(r#"{"aud":"https://a","email":"me@example.com"}"#));
        let mut document = json!({ "access_token": token, "refresh_token": "", "code": "a+b&" });
        received.keep_in_document(&mut document);
        assert_eq!(
            document,
            json!({ "access_token": "mcp-conform-token-access_token-2", "refresh_token": "", "code": "a+b&" })
        );
        let described = received.described("mcp-conform-token-access_token-2");
        assert_eq!(described, Some(json!({ "length": token.len(), "claims": { "aud": "https://a" } })));
        for nth in 3..12 {
            received.keep("code", &nth.to_string());
        }
        assert_eq!(received.filled("mcp-conform-token-code-11 mcp-conform-token-code-1".into()), "11 a+b&");
    }
}
