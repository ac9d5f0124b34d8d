//! Determines what a suite may use: the tools that may be called, with arguments, and prompts.

use serde_json::{Map, Value, json};

use super::arguments::{hurried, minimal, wrong};
use conform_suite::foreign::violations;

/// Placeholders for prompt arguments about which nothing is known.
const DUMMY: &str = "mcp-conform";
const DUMMY_URI: &str = "mcp-conform://dummy";
/// Paths that no prompt should open.
const OUTSIDE: [&str; 2] = ["../../../../../../../../etc/passwd", "/etc/passwd"];
const OUTSIDE_URIS: [&str; 2] = ["file:///../../../../etc/passwd", "file:///etc/passwd"];

/// Adds the facts about tools.
pub fn tools(facts: &mut Value, listed: &[Value], all: bool) {
    let (mut calls, mut left_alone) = (Vec::new(), Vec::new());
    let (mut wrong_calls, mut malformed, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tool) in listed.iter().enumerate() {
        // If names are repeated, only the first tool is called.
        if listed[..index].iter().any(|earlier| earlier["name"] == tool["name"]) {
            continue;
        }
        // A tool named in a fact may be called.
        let asking = facts["asking"].as_object().into_iter().flat_map(Map::values);
        let named = asking.filter_map(Value::as_array).flatten().any(|name| *name == tool["name"]);
        let call = callable(tool, &facts["tools"], all || named);
        // A tool that needs no arguments is called without them, too, whatever the configuration passes to it.
        let without = || callable(tool, &Value::Null, all || named);
        bare.extend(call.clone().filter(is_bare).or_else(|| without().filter(is_bare)));
        // Permission for one call of a tool with side effects does not extend to others.
        if all || is_read_only(tool) {
            // A call that must be rejected may have invented arguments.
            let invented = || minimal(&tool["inputSchema"], true).filter(|_| !only_as_task(tool));
            let fits = |arguments: &Value| fit(tool, arguments) != Some(false);
            let right = call.as_ref().map(|call| call["arguments"].clone()).filter(fits).or_else(invented);
            for mut probe in right.iter().flat_map(|right| wrong(&tool["inputSchema"], right)) {
                probe["name"] = tool["name"].clone();
                probe["fitting"] = json!(right);
                wrong_calls.push(probe);
            }
            if malformed.is_empty() && right.is_some() {
                let arguments = [json!([]), json!(DUMMY)];
                malformed.extend(arguments.map(|arguments| json!({ "name": tool["name"], "arguments": arguments })));
            }
        }
        match call {
            Some(call) => calls.push(call),
            None => left_alone.push(tool["name"].clone()),
        }
    }
    facts["case_swapped_calls"] = calls.iter().filter_map(|call| case_swapped(call, listed)).collect();
    facts["calls"] = calls.into();
    facts["left_alone"] = left_alone.into();
    facts["bare_calls"] = bare.into();
    facts["wrong_calls"] = wrong_calls.into();
    facts["malformed_calls"] = malformed.into();
}

/// Adds the facts about prompts.
pub fn prompts(facts: &mut Value, listed: &[Value]) {
    let (mut gets, mut guesses, mut wrong_gets, mut traversals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for prompt in listed {
        let Some(name) = prompt["name"].as_str() else { continue };
        let known = gettable(prompt, &facts["prompts"]);
        let given = |known: &Value| known["arguments"].as_object().cloned().unwrap_or_default();
        let arguments = known.as_ref().map_or_else(|| placeholders(prompt), given);
        if let Some(argument) = prompt["arguments"][0]["name"].as_str() {
            let mut with = |value: Value| {
                let mut arguments = arguments.clone();
                arguments.insert(argument.to_owned(), value);
                json!({ "name": name, "argument": argument, "arguments": arguments })
            };
            wrong_gets.extend([json!({ "mcp-conform": [] }), json!([[]])].map(&mut with));
            let outside = if names_uri(argument) { OUTSIDE_URIS } else { OUTSIDE };
            traversals.extend(outside.map(|path| with(json!(path))));
        }
        match known {
            Some(known) => gets.push(known),
            None => guesses.push(json!({ "name": name, "arguments": arguments })),
        }
    }
    facts["gets"] = gets.into();
    facts["guesses"] = guesses.into();
    facts["wrong_gets"] = wrong_gets.into();
    facts["traversal_prompts"] = traversals.into();
}

/// The call of a tool that the configuration names with arguments that its schema allows, or of a read-only tool whose
/// arguments are all given in its schema. With `all`, of any tool, with invented arguments that are valid.
pub fn callable(tool: &Value, given: &Value, all: bool) -> Option<Value> {
    let name = tool["name"].as_str()?;
    if let Some(given) = given.get(name).filter(|given| misfit(tool, given).is_none()) {
        return Some(known(name, given));
    }
    if only_as_task(tool) || !(is_read_only(tool) || all) {
        return None;
    }
    let asks = tool["inputSchema"]["required"].as_array().is_some_and(|required| !required.is_empty());
    let arguments = if asks { minimal(&tool["inputSchema"], all)? } else { json!({}) };
    Some(json!({ "name": name, "arguments": hurried(&tool["inputSchema"], arguments) }))
}

/// The configured arguments of a tool if its schema forbids them. They are not sent, unless the call is meant to fail.
pub fn misfit(tool: &Value, given: &Value) -> Option<Value> {
    let arguments = given.get("with").cloned().unwrap_or_else(|| json!({}));
    (given["fails"] != true && fit(tool, &arguments) == Some(false)).then_some(arguments)
}

/// Whether the schema of the tool allows the arguments; `None` if it cannot be read.
fn fit(tool: &Value, arguments: &Value) -> Option<bool> {
    violations(&tool["inputSchema"], arguments).map(|told| told.is_empty())
}

fn is_bare(call: &Value) -> bool {
    call["arguments"] == json!({})
}

fn is_read_only(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == true
}

fn only_as_task(tool: &Value) -> bool {
    tool["execution"]["taskSupport"] == "required"
}

/// The data in the configuration on a tool or prompt.
fn known(name: &str, given: &Value) -> Value {
    let mut call = json!({ "name": name, "arguments": given.get("with").unwrap_or(&json!({})) });
    if given["fails"] == true {
        call["fails"] = json!(true);
    }
    call
}

/// The same call with the case of the name swapped, unless another tool has that name.
fn case_swapped(call: &Value, listed: &[Value]) -> Option<Value> {
    let name = call["name"].as_str()?;
    let swap = |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let other: String = name.chars().map(swap).collect();
    let taken = other == name || listed.iter().any(|tool| tool["name"] == other.as_str());
    (!taken).then(|| json!({ "name": other, "of": name, "arguments": call["arguments"] }))
}

/// The request for a prompt with configured arguments, or without required ones.
fn gettable(prompt: &Value, given: &Value) -> Option<Value> {
    let name = prompt["name"].as_str()?;
    if let Some(given) = given.get(name) {
        return Some(known(name, given));
    }
    required(prompt).next().is_none().then(|| json!({ "name": name }))
}

fn required(prompt: &Value) -> impl Iterator<Item = &str> {
    let arguments = prompt["arguments"].as_array().into_iter().flatten();
    arguments.filter(|argument| argument["required"] == true).filter_map(|argument| argument["name"].as_str())
}

/// A placeholder for each required argument.
pub fn placeholders(prompt: &Value) -> Map<String, Value> {
    let dummy = |name| if names_uri(name) { DUMMY_URI } else { DUMMY };
    required(prompt).map(|name| (name.to_owned(), json!(dummy(name)))).collect()
}

/// The value of such an argument may be returned as a URI.
fn names_uri(argument: &str) -> bool {
    let name = argument.to_ascii_lowercase();
    name.ends_with("uri") || name.ends_with("url")
}

#[cfg(test)]
mod tests {
    use super::{super::facts::complete_facts, *};

    fn completed(mut facts: Value, survey: &Value) -> Value {
        complete_facts(&mut facts, survey, false);
        facts
    }

    #[test]
    fn an_argument_that_is_a_uri_gets_one() {
        let prompts = json!({ "prompts": { "items": [
            { "name": "embed", "arguments": [{ "name": "resourceUri", "required": true }, { "name": "topic", "required": true }] },
        ] } });
        let facts = completed(json!({}), &prompts);
        assert_eq!(facts["guesses"][0]["arguments"], json!({ "resourceUri": DUMMY_URI, "topic": DUMMY }));
        assert_eq!(facts["traversal_prompts"][0]["arguments"]["resourceUri"], OUTSIDE_URIS[0]);
    }

    #[test]
    fn tools_are_called_only_if_harmless_or_allowed() {
        let tools = json!({ "tools": { "items": [
            { "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "find", "inputSchema": { "required": ["what"] }, "annotations": { "readOnlyHint": true } },
            { "name": "drop", "inputSchema": {} },
            { "name": "echo", "inputSchema": { "required": ["text"] } },
        ] } });
        let facts = completed(json!({ "tools": { "echo": { "with": { "text": "a" } } } }), &tools);
        let calls = json!([{ "name": "look", "arguments": {} }, { "name": "echo", "arguments": { "text": "a" } }]);
        assert_eq!((&facts["calls"], &facts["left_alone"]), (&calls, &json!(["find", "drop"])));
        let facts = completed(json!({ "asking": { "completes": ["drop"] } }), &tools);
        assert_eq!((&facts["calls"][1]["name"], &facts["wrong_calls"]), (&json!("drop"), &json!([])));
    }

    #[test]
    fn every_tool_is_called_only_on_request() {
        let needs = |kind: &str| json!({ "required": ["a"], "properties": { "a": { "type": kind } } });
        let tools = json!({ "tools": { "items": [
            { "name": "drop", "inputSchema": {} },
            { "name": "find", "inputSchema": needs("string"), "annotations": { "readOnlyHint": true } },
            { "name": "slow", "inputSchema": {}, "execution": { "taskSupport": "required" } },
            { "name": "odd", "inputSchema": { "required": ["a"], "properties": { "a": { "not": {} } } } },
        ] } });
        let names = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|call| call["name"].as_str().unwrap().to_owned()).collect()
        };
        let mut facts = json!({});
        complete_facts(&mut facts, &tools, true);
        assert_eq!(
            (names(&facts["calls"]), &facts["left_alone"]),
            (vec!["drop".into(), "find".into()], &json!(["odd"]))
        );
        assert_eq!(names(&facts["case_swapped_calls"]), ["DROP", "FIND"]);
        let facts = completed(json!({}), &tools);
        for (list, of) in [("calls", vec![]), ("case_swapped_calls", vec![]), ("wrong_calls", vec!["find"; 2])] {
            assert_eq!(names(&facts[list]), of, "{list}");
        }
        assert_eq!(names(&facts["malformed_calls"]), ["find"; 2]);
        let facts = completed(json!({ "tools": { "find": { "with": { "a": "b" } }, "drop": {} } }), &tools);
        assert_eq!(names(&facts["calls"]), ["drop", "find"]);
        assert!(facts["wrong_calls"].as_array().unwrap().iter().all(|call| call["name"] == "find"), "{facts}");
        assert_eq!(facts["malformed_calls"][0], json!({ "name": "find", "arguments": [] }));
    }

    #[test]
    fn configured_arguments_take_no_probe_away() {
        let read_only = json!({ "readOnlyHint": true });
        let find = json!({ "required": ["a"], "properties": { "a": { "type": "string" } } });
        let tools = json!({ "tools": { "items": [
            { "name": "find", "inputSchema": find, "annotations": read_only },
            { "name": "look", "inputSchema": { "properties": { "b": {} } }, "annotations": read_only },
        ] } });
        let before = completed(json!({}), &tools);
        assert_eq!(before["bare_calls"][0]["name"], "look");
        for given in [
            json!({ "find": { "with": {} } }),
            json!({ "find": { "with": { "a": 1 } }, "look": { "with": { "b": 1 } } }),
        ] {
            let after = completed(json!({ "tools": given }), &tools);
            for list in ["wrong_calls", "malformed_calls", "bare_calls"] {
                assert_eq!(after[list], before[list], "{given}: {list}");
            }
            // It would only show that the server rejects it.
            assert_eq!(after["left_alone"], json!(["find"]));
        }
        // A call that has to fail may fail for that reason.
        let fails = completed(json!({ "tools": { "find": { "with": {}, "fails": true } } }), &tools);
        assert_eq!(fails["calls"][0], json!({ "name": "find", "arguments": {}, "fails": true }));
    }

    #[test]
    fn prompts_are_asked_for_with_what_is_known_or_with_dummies() {
        let argument = json!({ "name": "a", "required": true });
        let prompts =
            json!({ "prompts": { "items": [{ "name": "plain" }, { "name": "asks", "arguments": [argument] }] } });
        let facts = completed(json!({}), &prompts);
        assert_eq!(facts["gets"], json!([{ "name": "plain" }]));
        assert_eq!(facts["guesses"], json!([{ "name": "asks", "arguments": { "a": "mcp-conform" } }]));
        assert_eq!(facts["traversal_prompts"][1]["arguments"]["a"], "/etc/passwd");
        let known = completed(json!({ "prompts": { "asks": { "with": { "a": "b" }, "fails": true } } }), &prompts);
        assert_eq!(known["gets"][1], json!({ "name": "asks", "arguments": { "a": "b" }, "fails": true }));
    }
}
