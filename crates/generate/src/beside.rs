//! Further calls that show what the result of one call means.

use serde_json::{Value, json};

use super::calls::{Call, Source};

/// Distances from a bound. A tool that looks up numbers knows only a few, so it rejects some of these.
const STEPS: [i64; 4] = [2, 5, 20, 100];
/// What programming languages print for a missing value, or for one that is not a number.
const UNFILLED: [&str; 3] = ["undefined", AN_OBJECT, "NaN"];
pub const AN_OBJECT: &str = "[object Object]";

/// The same arguments with values inside the bound, the nearest first.
pub fn inside(source: &Source, call: &Call) -> Vec<Value> {
    let Some(nearest) = &call.inside else { return Vec::new() };
    let mut all = vec![nearest.clone()];
    let whole = |arguments: &Value| arguments.pointer(&call.at).and_then(Value::as_i64);
    let (Some(bound), Some(beside)) = (whole(&call.arguments), whole(nearest)) else { return all };
    for step in STEPS {
        let mut further = nearest.clone();
        let Some(place) = further.pointer_mut(&call.at) else { break };
        *place = json!(bound.saturating_add((beside - bound).signum().saturating_mul(step)));
        if source.is_like(call, &further) {
            all.push(further);
        }
    }
    all
}

/// Whether these arguments lack a field that the full ones have.
pub fn has_less(arguments: &Value, full: &Value) -> bool {
    let members = full.as_object().into_iter().flatten();
    members.into_iter().any(|(name, value)| !value.is_null() && arguments.get(name).is_none_or(Value::is_null))
}

/// The first such word in the texts of a result.
pub fn unfilled(result: &Value) -> Option<&'static str> {
    let blocks = result["content"].as_array().into_iter().flatten();
    let messages = result["messages"].as_array().into_iter().flatten().map(|message| &message["content"]);
    let contents = result["contents"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.chain(messages).chain(contents).filter_map(|block| block["text"].as_str()).collect();
    UNFILLED.into_iter().find(|word| texts.iter().any(|text| has_word(text, word)))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_what_is_missing_stands_alone() {
        let said = |text: &str| unfilled(&json!({ "content": [{ "type": "text", "text": text }] }));
        assert_eq!(said("about the role undefined."), Some("undefined"));
        assert_eq!(said("[object Object]"), Some("[object Object]"));
        assert_eq!([said("undefinedness"), said("NaNo"), said("an_undefined")], [None; 3]);
        let prompt = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "NaN years" } }] });
        assert_eq!(unfilled(&prompt), Some("NaN"));
    }

    #[test]
    fn less_is_a_member_that_is_absent_or_null() {
        let full = json!({ "a": 1, "b": "x", "c": null });
        assert!(has_less(&json!({ "a": 1 }), &full) && has_less(&json!({ "a": null, "b": "y" }), &full));
        assert!(!has_less(&json!({ "a": 2, "b": "" }), &full));
    }
}
