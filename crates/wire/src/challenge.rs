//! The challenges in `WWW-Authenticate`: one or several, each a scheme with parameters (RFC 9110).

use serde_json::{Map, Value, json};

/// Each challenge as an object: `scheme` in lower case, and the parameters under their names in lower case. `scopes`
/// lists the values in `scope`.
pub fn parse(header: &str) -> Vec<Value> {
    let mut challenges: Vec<Map<String, Value>> = Vec::new();
    for part in parts(header) {
        let (scheme, rest) = match part.split_once([' ', '\t']) {
            // A parameter may have spaces around `=`.
            Some((word, rest)) if !word.contains('=') && !rest.trim_start().starts_with('=') => {
                (Some(word), rest.trim_start())
            }
            None if !part.contains('=') => (Some(part), ""),
            _ => (None, part),
        };
        if let Some(scheme) = scheme {
            challenges.push(Map::from_iter([("scheme".to_owned(), json!(scheme.to_ascii_lowercase()))]));
        }
        if let (Some((name, value)), Some(challenge)) = (rest.split_once('='), challenges.last_mut()) {
            let name = name.trim().to_ascii_lowercase();
            let value = unquoted(value.trim());
            if name == "scope" {
                challenge.insert("scopes".to_owned(), value.split_ascii_whitespace().collect());
            }
            challenge.entry(name).or_insert_with(|| json!(value));
        }
    }
    challenges.into_iter().map(Value::Object).collect()
}

/// Splits at commas outside of quotes.
fn parts(header: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    let at_comma = move |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return c == ',' && !quoted,
        }
        false
    };
    header.split(at_comma).map(str::trim).filter(|part| !part.is_empty())
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let (mut text, mut escaped) = (String::new(), false);
    for c in inner.chars() {
        match c {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => break,
            c => {
                text.push(c);
                escaped = false;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_challenges_as_servers_write_them() {
        let bearer =
            r#"Bearer realm="a, b", error="invalid_token",scope="x y" , resource_metadata = "https://h/p?q=1""#;
        let expected = json!([{
            "scheme": "bearer", "realm": "a, b", "error": "invalid_token", "scopes": ["x", "y"], "scope": "x y",
            "resource_metadata": "https://h/p?q=1",
        }]);
        assert_eq!(json!(parse(bearer)), expected);
        assert_eq!(json!(parse("Bearer")), json!([{ "scheme": "bearer" }]));
        let both = parse(r#"Basic realm="x\"y", DPoP algs="ES256", Bearer, Negotiate abc=="#);
        let schemes: Vec<_> = both.iter().map(|challenge| challenge["scheme"].as_str().unwrap_or_default()).collect();
        assert_eq!(schemes, ["basic", "dpop", "bearer", "negotiate"]);
        assert_eq!(both[0]["realm"], "x\"y");
        assert!(parse("").is_empty());
    }
}
