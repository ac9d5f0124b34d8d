//! Where a redirect leads, with the parameters that an authorization response has.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// `to` is the URL without query and fragment; `query` and `fragment` have their parameters, decoded once. A parameter that
/// is repeated has a list.
pub fn parse(location: &str) -> Value {
    let (rest, fragment) = location.split_once('#').unwrap_or((location, ""));
    let (to, query) = rest.split_once('?').unwrap_or((rest, ""));
    json!({ "to": to, "query": parameters(query), "fragment": parameters(fragment) })
}

fn parameters(text: &str) -> Value {
    let mut parameters = Map::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()).map(|(name, value)| (name, Cow::into_owned(value))) {
        match parameters.get_mut(name.as_ref()) {
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = json!([first, value]),
            None => _ = parameters.insert(name.into_owned(), value.into()),
        }
    }
    parameters.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_once() {
        let read = parse("http://127.0.0.1:1/cb?own=1&code=a%2Bb+c&code=2#state=%2525");
        assert_eq!(
            read,
            json!({ "to": "http://127.0.0.1:1/cb", "query": { "own": "1", "code": ["a+b c", "2"] }, "fragment": { "state": "%25" } })
        );
        assert_eq!(parse("/login"), json!({ "to": "/login", "query": {}, "fragment": {} }));
    }
}
