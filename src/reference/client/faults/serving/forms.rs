//! Faults in the results of elicitation.

use serde_json::{Value, json};

use super::edits::{FORMS, MODES, content, error, in_reply, in_retry, without_capability};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::Heard,
        tools::remove,
    },
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        since: FORMS,
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "elicitation")),
        ..Behaviour::legacy("elicitation-not-declared", "elicitation is served and not declared", EVERYWHERE)
    },
    replies!("elicitation-id-has-to-be-uuid", "an elicitation id that is not a UUID is rejected", "mode url odd id", |request, responses| {
        responses[0] = error(request, -32600);
    }, since: MODES),
    replies!("elicitation-mode-required", "an elicitation without a mode is rejected", "mode missing", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: MODES),
    Behaviour {
        since: MODES,
        reply: Some(|_, _, request, responses| {
            if request["params"]["mode"] == "url" && responses[0].get("error").is_some() {
                responses[0] = message::result(&request["id"], &json!({ "action": "accept" }));
            }
        }),
        hear: Some(|_, scene, heard| {
            if scene.modern
                && scene.own["elicitation"].get("url").is_none()
                && let Some(asked) = heard.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut)
            {
                for request in asked.values_mut().filter(|request| request["params"]["mode"] == "url") {
                    request["params"] =
                        json!({ "message": "", "requestedSchema": { "type": "object", "properties": {} } });
                }
            }
            Heard::Message
        }),
        ..Behaviour::new("undeclared-mode-accepted", "a mode that was not declared is accepted", EVERYWHERE)
    },
    replies!("undeclared-mode-cancelled", "a mode that was not declared gets cancel", "mode url", |request, responses| {
        if responses[0].get("error").is_some() {
            responses[0] = message::result(&request["id"], &json!({ "action": "cancel" }));
        }
    }, since: MODES),
    replies!("unknown-mode-taken-for-form", "an unknown mode is taken for a form", "mode voice", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "action": "accept", "content": { "name": "Ada" } }));
    }, since: MODES),
    results!("elicitation-action-reject", "the action for decline is reject", "elicitation/create", |_, result| {
        if result["action"] == "decline" {
            result["action"] = json!("reject");
        }
    }, since: FORMS),
    results!("elicitation-accepted-flag", "the result of elicitation has `accepted`", "elicitation/create", |_, result| {
        remove(result, "action");
        result["accepted"] = json!(true);
    }, since: FORMS),
    results!("content-with-decline", "content is sent with decline", "elicitation/create", |_, result| {
        if result["action"] != "accept" {
            result["content"] = json!({ "text": "half" });
        }
    }, since: FORMS),
    results!("content-nested", "content is nested", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("name")) {
            content.insert("name".to_owned(), json!({ "first": "Ada" }));
        }
    }, since: FORMS),
    results!("empty-fields-null", "empty fields are null", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("needed")) {
            content.insert("number".to_owned(), Value::Null);
        }
    }, since: FORMS),
    results!("empty-number-as-text", "an empty number is an empty string", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("needed")) {
            content.insert("number".to_owned(), json!(""));
        }
    }, since: FORMS),
    results!("numbers-as-text", "numbers of a form are strings", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("whole")) {
            content.insert("whole".to_owned(), json!("3"));
        }
    }, since: FORMS),
    results!("required-field-left-out", "a required field is left out", "elicitation/create", |_, result| {
        if let Some(content) = content(result) {
            content.shift_remove("day");
        }
    }, since: FORMS),
    results!("length-not-checked", "a text is longer than `maxLength`", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("mail")) {
            content.insert("text".to_owned(), json!("much too long"));
        }
    }, since: FORMS),
    results!("choice-by-title", "the title of a choice is sent", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("size")) {
            content.insert("size".to_owned(), json!("Small"));
        }
    }, since: FORMS),
    results!("choice-by-index", "the index of a choice is sent", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("size")) {
            content.insert("size".to_owned(), json!(0));
        }
    }, since: FORMS),
    results!("several-choices-as-text", "several choices are one string", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("several")) {
            content.insert("several".to_owned(), json!("x,y"));
        }
    }, since: MODES),
    results!("falsy-defaults-dropped", "the defaults 0 and false are dropped", "elicitation/create", |request, result| {
        if request["params"]["requestedSchema"]["properties"].get("flag").is_some()
            && let Some(content) = content(result)
        {
            content.shift_remove("number");
            content.shift_remove("flag");
        }
    }, since: MODES),
    results!("fields-added-to-content", "content has a field of its own", "elicitation/create", |_, result| {
        if let Some(content) = content(result) {
            content.insert("_submit".to_owned(), json!("ok"));
        }
    }, since: FORMS),
    replies!("forbidden-schema-without-response", "a nested form has no response", "form forbidden", |_, responses| {
        responses.clear();
    }, since: FORMS),
    replies!("unknown-keywords-rejected", "a form with unknown keywords is rejected", "form keywords", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: FORMS),
    results!("dismissed-form-accepted", "a dismissed form is accepted", "elicitation/create", |_, result| {
        if result["action"] == "cancel" {
            *result = json!({ "action": "accept", "content": { "text": "as it is", "number": 0, "flag": false, "choice": "m" } });
        }
    }, since: FORMS),
];
