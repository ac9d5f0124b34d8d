//! Values that must not appear in any record: those of headers that the user set, and those that the configuration took
//! from the environment.
//!
//! Headers of requests are omitted by name. A server may repeat the values anywhere, so they are also replaced in
//! everything that is received, including their forms in JSON, URLs and Base64. Short values are kept, and so are plain
//! words in headers whose name does not indicate a secret: replacing `1` or `resources` everywhere would falsify the
//! record.

use std::{mem::take, sync::Arc};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::target::{PLACEHOLDER, is_secret};
use conform_model::evidence::SHOWN_INSTEAD;

const SHORTEST: usize = 8;
/// Minimum length of a secret's beginning that is recognized at the end of truncated text.
const FEWEST: usize = 4;
const NEVER_SECRET: [&str; 8] =
    ["accept", "content-", "user-agent", "origin", "referer", "host", "mcp-protocol-version", "traceparent"];
/// Longer values with letters and digits are taken as a secret, whatever the name.
const RANDOM: usize = 16;
/// Characters that are percent-encoded: by RFC 3986, in a path, and by cautious encoders.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const ENCODED: [&AsciiSet; 3] = [RESERVED, &RESERVED.remove(b'/'), NON_ALPHANUMERIC];

#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Hidden>>);

struct Hidden {
    search: AhoCorasick,
    forms: Vec<String>,
    /// The replacement of each form.
    instead: Vec<String>,
}

impl Secrets {
    pub fn of(values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().filter(|text| text.len() >= SHORTEST);
        let (forms, instead): (Vec<_>, Vec<_>) = values.flat_map(|value| forms(&value)).unzip();
        // A server may convert hosts and names of headers to lower case.
        let mut search = AhoCorasick::builder();
        search.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest);
        let search = search.build(&forms).ok().filter(|_| !forms.is_empty());
        Self(search.map(|search| Arc::new(Hidden { search, forms, instead })))
    }

    pub fn hide(&self, text: String) -> String {
        match &self.0 {
            Some(hidden) if hidden.search.is_match(&text) => hidden.search.replace_all(&text, &hidden.instead),
            _ => text,
        }
    }

    /// For text whose end was truncated, possibly inside a secret.
    pub fn hide_cut(&self, text: String) -> String {
        let mut text = self.hide(text);
        let forms = self.0.iter().flat_map(|hidden| &hidden.forms);
        let ends = |form: &String| {
            (FEWEST..form.len()).rev().find(|&length| text.as_bytes().ends_with(&form.as_bytes()[..length]))
        };
        if let Some(length) = forms.filter_map(ends).max() {
            text.truncate(text.len() - length);
            text += SHOWN_INSTEAD;
        }
        text
    }

    pub fn hide_in(&self, value: &mut Value) {
        let Some(hidden) = &self.0 else { return };
        match value {
            Value::String(text) => *text = self.hide(take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(members) => {
                if members.keys().any(|name| hidden.search.is_match(name)) {
                    *members = take(members).into_iter().map(|(name, value)| (self.hide(name), value)).collect();
                }
                members.values_mut().for_each(|member| self.hide_in(member));
            }
            Value::Number(number) => {
                let digits = number.to_string();
                if hidden.search.is_match(&digits) {
                    *value = Value::from(self.hide(digits));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// The values of headers, the words of values such as `Bearer TOKEN` and `name=value`, and the password of `Basic`.
pub fn in_headers<'a>(headers: impl IntoIterator<Item = &'a (String, String)>) -> Vec<String> {
    let may_be_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        !NEVER_SECRET.iter().any(|known| name.starts_with(known))
    };
    let mut values = Vec::new();
    for (name, value) in headers.into_iter().filter(|(name, _)| may_be_secret(name)) {
        let mut words = vec![value.trim()];
        for word in value.split([' ', ';', ',']) {
            words.push(word);
            words.extend(word.split_once('=').map(|(_, value)| value.trim_matches('"')));
        }
        words.retain(|word| is_secret(name) || looks_random(word));
        values.extend(words.into_iter().map(str::to_owned));
        if let Some((scheme, credentials)) = value.trim().split_once(' ')
            && scheme.eq_ignore_ascii_case("basic")
            && let Some(pair) = STANDARD.decode(credentials.trim()).ok().and_then(|pair| String::from_utf8(pair).ok())
        {
            values.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            values.push(pair);
        }
    }
    values
}

fn looks_random(word: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    word.len() >= RANDOM && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !word.contains(' ')
}

/// The encodings of a secret, each with a replacement that is valid in the same place.
fn forms(secret: &str) -> Vec<(String, String)> {
    let json = Value::from(secret).to_string();
    let mut forms = vec![
        (secret.to_owned(), SHOWN_INSTEAD.to_owned()),
        (json[1..json.len() - 1].to_owned(), SHOWN_INSTEAD.to_owned()),
    ];
    for set in ENCODED {
        let encoded = |text| utf8_percent_encode(text, set).to_string();
        forms.push((encoded(secret), encoded(SHOWN_INSTEAD)));
    }
    // In longer Base64 it may begin at any of three positions of a group; the characters next to it are omitted.
    for before in 0..3 {
        let bytes = [&[0; 2][..before], secret.as_bytes()].concat();
        let its_own = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let form = engine.encode(&bytes)[its_own.clone()].to_owned();
            let instead = "GivenByTheUser".chars().cycle().take(form.len()).collect();
            forms.push((form, instead));
        }
    }
    forms
}

/// Removes the values of tokens and passwords from a document.
pub fn leave_out_credentials(document: &mut Value) {
    const NAMES: [&str; 5] =
        ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"];
    let is_kept = |value: &Value| value.as_str().is_none_or(|text| text.starts_with(PLACEHOLDER));
    if let Value::Object(members) = document {
        for (_, value) in members.iter_mut().filter(|(name, value)| NAMES.contains(&name.as_str()) && !is_kept(value)) {
            *value = Value::from("(left out)");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn header(name: &str, value: &str) -> Secrets {
        Secrets::of(in_headers(&[(name.to_owned(), value.to_owned())]))
    }

    fn secrets() -> Secrets {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Secrets::of(in_headers(&[
            header("Authorization", "Bearer abcdefgh12"),
            header("Accept", "application/json"),
            header("X-Level", "1"),
        ]))
    }

    #[test]
    fn hides_a_token_wherever_it_is_repeated() {
        assert_eq!(secrets().hide("bad token abcdefgh12!".into()), "bad token (given by the user)!");
        assert_eq!(secrets().hide("Bearer abcdefgh12".into()), "(given by the user)");
        assert_eq!(secrets().hide("x-ABCDEFGH12".into()), "x-(given by the user)");
        let mut value = json!({"a": ["abcdefgh12", 1], "abcdefgh12": true});
        secrets().hide_in(&mut value);
        assert_eq!(value, json!({"a": ["(given by the user)", 1], "(given by the user)": true}));
        let mut digits = json!([1_234_567_890, 1_234]);
        header("X-Passcode", "1234567890").hide_in(&mut digits);
        assert_eq!(digits, json!(["(given by the user)", 1_234]));
    }

    #[test]
    fn hides_it_however_it_is_written() {
        let secrets = header("X-Key", r#"a"b/c+d=e?f"#);
        assert_eq!(secrets.hide(r#"{"x":"a\"b/c+d=e?f"}"#.into()), r#"{"x":"(given by the user)"}"#);
        let url = "http://h/?x=a%22b%2Fc%2Bd%3De%3Ff&y";
        assert_eq!(secrets.hide(url.into()), "http://h/?x=%28given%20by%20the%20user%29&y");
        for before in ["", "k", "ke", "key"] {
            let text = format!("{before}a\"b/c+d=e?f tells it");
            for hidden in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)].map(|text| secrets.hide(text)) {
                assert!(hidden.contains("GivenByTheUser"), "{text}: {hidden}");
                let still_base64 =
                    STANDARD_NO_PAD.decode(hidden.trim_end_matches('=').replace('-', "+").replace('_', "/"));
                assert!(still_base64.is_ok(), "{hidden}");
            }
        }
    }

    #[test]
    fn hides_the_values_in_cookies_and_the_password_of_basic() {
        let hidden = header("Cookie", "theme=dark; session=abcdefgh12").hide("no session abcdefgh12, dark".into());
        assert_eq!(hidden, "no session (given by the user), dark");
        let basic = header("Authorization", &format!("Basic {}", STANDARD.encode("me:abcdefgh12")));
        assert_eq!(basic.hide("wrong: abcdefgh12".into()), "wrong: (given by the user)");
    }

    #[test]
    fn hides_what_was_cut_off() {
        assert_eq!(secrets().hide_cut("bad token abcdef".into()), "bad token (given by the user)");
        assert_eq!(secrets().hide_cut("bad token abcdefgh12".into()), "bad token (given by the user)");
        assert_eq!(secrets().hide_cut("a bad abc".into()), "a bad abc");
    }

    #[test]
    fn what_is_handed_out_is_left_out() {
        let mut document = json!({ "access_token": "abcdefgh12", "expires_in": 60 });
        leave_out_credentials(&mut document);
        assert_eq!(document, json!({ "access_token": "(left out)", "expires_in": 60 }));
    }

    #[test]
    fn leaves_alone_what_is_no_secret() {
        assert_eq!(secrets().hide("1 application/json Bearer".into()), "1 application/json Bearer");
        let plain = header("X-MCP-Toolsets", "resources, completions");
        assert_eq!(plain.hide("resources/list".into()), "resources/list");
        let random = header("X-Tenant", "acme abcdefgh12345678");
        assert_eq!(random.hide("acme abcdefgh12345678".into()), "acme (given by the user)");
    }
}
