//! Removes credentials from recorded HTTP exchanges.

use hyper::{HeaderMap, Uri};
use serde_json::Value;

use super::Tap;
use crate::{
    leave_out_credentials,
    target::{is_secret, shown_url},
};
use conform_model::evidence::SHOWN_INSTEAD;

/// The beginning of a URL, which a request does not have.
const BASE: &str = "http://host";
/// Headers whose name looks secret but whose value is not: they say what a client has to do.
const CHALLENGES: [&str; 2] = ["www-authenticate", "proxy-authenticate"];
/// How many characters are shown of a document that is not JSON.
const CHARACTERS: usize = 200;

impl Tap {
    pub(super) fn shown_headers(&self, map: &HeaderMap) -> Vec<(String, String)> {
        let shown = |name: &str, value: String| {
            if self.hides_credentials && is_credential(name) { hidden(&value) } else { self.secrets.hide(value) }
        };
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        map.iter().map(|(name, value)| (name.to_string(), shown(name.as_str(), text(value.as_bytes())))).collect()
    }

    pub(super) fn shown_url(&self, url: &Uri) -> String {
        let url = self.secrets.hide(url.to_string());
        if !self.hides_credentials || !url.contains('?') {
            return url;
        }
        if !url.starts_with('/') {
            return shown_url(&url);
        }
        let whole = shown_url(&format!("{BASE}{url}"));
        whole.strip_prefix(BASE).unwrap_or(&whole).to_owned()
    }

    /// The document without the tokens of a token endpoint.
    pub(super) fn shown_document(&self, document: Option<Value>) -> Option<Value> {
        let mut document = document?;
        self.secrets.hide_in(&mut document);
        if self.hides_credentials {
            leave_out_credentials(&mut document);
        }
        Some(document)
    }

    pub(super) fn shown_text(&self, bytes: &[u8]) -> String {
        self.secrets.hide_cut(String::from_utf8_lossy(bytes).chars().take(CHARACTERS).collect())
    }
}

/// Whether the value of a header is removed because of its name.
pub fn is_credential(name: &str) -> bool {
    is_secret(name) && !CHALLENGES.contains(&name)
}

/// The scheme of credentials is kept, because rules are about it.
fn hidden(value: &str) -> String {
    match value.split_once(' ') {
        Some((scheme, rest)) if !rest.trim().is_empty() && scheme.chars().all(|c| c.is_ascii_alphabetic()) => {
            format!("{scheme} {SHOWN_INSTEAD}")
        }
        _ => SHOWN_INSTEAD.to_owned(),
    }
}
