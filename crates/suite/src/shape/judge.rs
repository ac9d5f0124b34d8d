//! Validates a value against a shape.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::{book::Book, compile, message};
use crate::format::Format;
use conform_model::revision::Revision;

/// At most this many violations of one value are reported.
pub const MOST: usize = 20;

/// For values with more nodes, only the first violation is reported: to list them all, the validator keeps all in
/// memory.
const LARGE: usize = 50_000;

/// One location where a value violates its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer in the value. For a missing field, the location where it should be.
    pub pointer: String,
    /// Continues a sentence that starts with the location: `is missing`, `is the string "12", expected an integer`.
    pub message: String,
}

/// All violations, up to `MOST`. The name is a shape or, for a whole message, a method.
pub fn violations(name: &str, revision: Revision, value: &Value) -> Vec<Violation> {
    let Some(validator) = validator(name, revision) else {
        let message = format!("not judged: {revision} has no `{name}`");
        return vec![Violation { pointer: String::new(), message }];
    };
    if validator.is_valid(value) {
        return Vec::new();
    }
    let mut budget = LARGE;
    if fits(value, &mut budget) {
        validator.iter_errors(value).take(MOST).map(|error| message::violation(&error)).collect()
    } else {
        validator.validate(value).err().iter().map(message::violation).collect()
    }
}

/// The JSON Schema (2020-12) that a shape or method compiles to.
pub fn schema(name: &str, revision: Revision) -> Option<Value> {
    compile::schema(Book::built_in(), name, revision)
}

/// Whether the value has at most `left` nodes.
fn fits(value: &Value, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
        && match value {
            Value::Array(items) => items.iter().all(|item| fits(item, left)),
            Value::Object(members) => members.values().all(|member| fits(member, left)),
            _ => true,
        }
}

/// Compiled on first use, then cached.
fn validator(name: &str, revision: Revision) -> Option<Arc<Validator>> {
    type Kept = HashMap<(String, Revision), Option<Arc<Validator>>>;
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.entry((name.to_owned(), revision)).or_insert_with(|| compiled(Book::built_in(), name, revision)).clone()
}

fn compiled(book: &Book, name: &str, revision: Revision) -> Option<Arc<Validator>> {
    let schema = compile::schema(book, name, revision)?;
    let mut options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    for format in [Format::Uri, Format::UriTemplate] {
        options = options.with_format(format.name(), move |text: &str| format.fits(text));
    }
    let validator = options.build(&schema).unwrap_or_else(|error| unreachable!("a test compiles every shape: {error}"));
    Some(Arc::new(validator))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shape;

    fn told(name: &str, revision: Revision, value: &Value) -> Vec<String> {
        violations(name, revision, value).into_iter().map(|v| format!("{} {}", v.pointer, v.message)).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn violations_point_to_the_place_and_say_what_is_wrong() {
        let list = json!({ "resources": [
            { "uri": "file:///a", "name": "a", "size": 1.0, "more": true },
            { "uri": "a b", "size": "12", "annotations": { "audience": ["nobody"], "priority": 2 } },
        ], "nextCursor": null });
        assert_eq!(
            told("ListResourcesResult", Revision::V2025_06_18, &list),
            [
                "/resources/1/name is missing",
                "/resources/1/uri is the string \"a b\", expected an absolute URI (RFC 3986)",
                "/resources/1/size is the string \"12\", expected an integer",
                "/resources/1/annotations/audience/0 is the string \"nobody\", expected one of \"user\", \"assistant\"",
                "/resources/1/annotations/priority is the number 2, expected at most 1",
                "/nextCursor is null, expected a string",
            ]
        );
    }

    #[test]
    fn a_union_tells_of_the_member_that_was_meant() {
        let result = |block: Value| json!({ "content": [block] });
        let told = |block: Value| told("CallToolAnswer", Revision::V2025_06_18, &result(block));
        assert_eq!(told(json!({ "type": "image", "data": "AA==" })), ["/content/0/mimeType is missing"]);
        assert_eq!(
            told(json!({ "type": "video" })),
            ["/content/0/type is the string \"video\", expected one of \"text\", \"image\", \"audio\", \
              \"resource_link\", \"resource\""]
        );
        assert_eq!(told(json!({ "text": "hi" })), ["/content/0/type is missing"]);
        assert_eq!(told(json!("hi")), ["/content/0 is the string \"hi\", expected an object"]);
        let embedded = |contents: Value| told(json!({ "type": "resource", "resource": contents }));
        assert_eq!(embedded(json!({ "uri": "a:b" })), ["/content/0/resource has none of `text`, `blob`"]);
        assert_eq!(
            embedded(json!({ "uri": "a:b", "text": 1 })),
            ["/content/0/resource/text is the number 1, expected a string"]
        );
    }

    #[test]
    fn alternatives_are_told_apart_by_type() {
        let message = |content: Value| json!({ "role": "user", "content": content });
        let told = |content: Value| told("SamplingMessage", Revision::V2025_11_25, &message(content));
        assert_eq!(told(json!([{ "type": "text", "text": "hi" }])), NONE);
        assert_eq!(told(json!({ "type": "text" })), ["/content/text is missing"]);
        assert_eq!(told(json!("hi")), ["/content is the string \"hi\", expected an array or an object"]);
        let refused = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32600, "message": "no" } });
        let told = |id: Value| self::told("JSONRPCErrorResponse", Revision::V2025_11_25, &refused(id));
        assert_eq!((told(json!("a")), told(json!(null))), (vec![], vec![]));
        assert_eq!(told(json!([])), ["/id is the array [], expected null or an integer or a string"]);
    }

    #[test]
    fn complete_results_are_judged_alone() {
        let now = Revision::V2026_07_28;
        let read = |result: Value| told("ReadResourceAnswer", now, &result);
        assert_eq!(read(json!({ "resultType": "input_required", "requestState": "x" })), NONE);
        assert_eq!(
            read(json!({ "resultType": "complete", "contents": [] })),
            ["/ttlMs is missing", "/cacheScope is missing"]
        );
        assert_eq!(read(json!({ "contents": [], "ttlMs": 0, "cacheScope": "public" })), ["/resultType is missing"]);
        let asked = json!({ "resultType": "input_required", "ttlMs": 0, "cacheScope": "public", "tools": [] });
        assert_eq!(
            told("ListToolsResult", now, &asked),
            ["/resultType is the string \"input_required\", expected \"complete\""]
        );
        assert_eq!(told("CallToolAnswer", now, &json!({ "resultType": "task" })).len(), 5);
    }

    #[test]
    fn whole_messages_are_judged_by_their_method() {
        let revision = Revision::V2025_06_18;
        assert_eq!(shape::notification_shape("notifications/message", revision), Some("notifications/message"));
        assert_eq!(shape::request_shape("notifications/message", revision), None);
        assert_eq!(shape::request_shape("sampling/createMessage", Revision::V2026_07_28), None);
        assert_eq!(shape::result_shape("tools/call", revision), Some("CallToolAnswer"));
        assert_eq!(shape::sender("roots/list", revision), Some(shape::Sender::Server));
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "loud" } });
        assert_eq!(
            told("notifications/message", revision, &log),
            [
                "/params/data is missing",
                "/params/level is the string \"loud\", expected one of \"debug\", \"info\", \"notice\", \"warning\", \
                 \"error\", \"critical\", \"alert\", \"emergency\"",
            ]
        );
    }

    #[test]
    fn what_a_revision_does_not_have_is_not_passed() {
        assert_eq!(told("Icon", Revision::V2025_06_18, &json!({})), [" not judged: 2025-06-18 has no `Icon`"]);
    }

    #[test]
    fn violations_are_bounded() {
        let items = |count: usize| json!({ "resources": vec![json!(1); count] });
        assert_eq!(violations("ListResourcesResult", Revision::V2025_06_18, &items(100)).len(), MOST);
        assert_eq!(violations("ListResourcesResult", Revision::V2025_06_18, &items(LARGE)).len(), 1);
    }
}
