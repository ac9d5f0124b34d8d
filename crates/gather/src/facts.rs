//! Determines facts that the configuration does not give.

use base64::{Engine, engine::general_purpose::STANDARD};
use indexmap::IndexSet;
use iri_string::template::simple_context::Value as Filling;
use serde_json::{Value, json};

use super::{allowed, as_tasks, outside::outside, param_headers::annotated};
use conform_suite::format;

/// Adds what suites need and a configuration rarely has:
/// - `missing_uri`: a URI without a resource; `garbled_uri`: that one, followed by an invalid escape;
/// - `aliased_uris`: unlisted URIs that a lenient parser resolves to a listed one, each with its `kind`;
/// - `encoded_uri`: a listed resource, encoded for an HTTP header;
/// - `beginning`: a prefix of the URI that `change` changes, which is not a resource above it;
/// - `bystander`: a listed resource that is unrelated to the one that `change` changes;
/// - `calls`: tools that may be called, with arguments; `left_alone`: tools that may not, unless `all_tools` is set;
/// - `annotated`: arguments of those tools that have an HTTP header of their own;
/// - `wrong_calls`, `malformed_calls`: calls of read-only tools with arguments that violate the schema, or are not an
///   object; `bare_calls`: permitted calls without arguments; `case_swapped_calls`: calls with the name in the other case;
/// - `gets`: prompts with known arguments; `guesses`: the others, with placeholders; `wrong_gets`: arguments that are
///   not strings; `traversal_prompts`: arguments with paths that lead out of the served files;
/// - `task_calls`: calls that may become tasks, each with the tool's declared task support and a progress token;
///   `untasked_calls`: those of `calls` that may not;
/// - `variables`: each template with its first variable; `second_variables`: those with two, with the second one;
/// - `expansions`: each template of `arguments` with its expanded URI;
/// - `outside`: URIs that lead out of the listed files, each with a plain URI of the same file.
pub fn complete_facts(facts: &mut Value, survey: &Value, all_tools: bool) {
    if !facts.is_object() {
        *facts = json!({});
    }
    let texts = |list: &str, member: &str| -> Vec<String> {
        let items = survey[list]["items"].as_array().into_iter().flatten();
        items.filter_map(|item| item[member].as_str()).map(str::to_owned).collect()
    };
    let (listed, templates) = (texts("resources", "uri"), texts("templates", "uriTemplate"));
    if facts.get("missing_uri").is_none() {
        facts["missing_uri"] = json!(missing(&listed, &templates));
    }
    if let Some(missing) = facts["missing_uri"].as_str() {
        facts["garbled_uri"] = json!(format!("{missing}%zz"));
    }
    facts["aliased_uris"] = aliased(survey, &listed, &templates);
    if let Some(uri) = listed.first() {
        facts["encoded_uri"] = json!(format!("=?base64?{}?=", STANDARD.encode(uri)));
    }
    if let Some(bystander) = bystander(&listed, facts["change"]["uri"].as_str().unwrap_or_default()) {
        facts["bystander"] = json!(bystander);
    }
    if let Some(beginning) = facts["change"]["uri"].as_str().and_then(beginning) {
        facts["beginning"] = json!(beginning);
    }
    let variables = |nth: usize| -> Value {
        let parsed = templates.iter().filter_map(|template| Some((template, format::template(template)?)));
        let named = parsed.filter_map(|(uri, template)| {
            let names: IndexSet<&str> = template.variables().map(|variable| variable.as_str()).collect();
            Some(json!({ "uri": uri, "name": names.get_index(nth)? }))
        });
        named.collect()
    };
    (facts["variables"], facts["second_variables"]) = (variables(0), variables(1));
    facts["expansions"] = expansions(&facts["arguments"]);
    facts["outside"] = outside(&listed, &templates);

    allowed::tools(facts, items(survey, "tools"), all_tools);
    as_tasks::calls(facts, items(survey, "tools"), all_tools);
    facts["annotated"] = annotated(&facts["calls"], items(survey, "tools"));
    allowed::prompts(facts, items(survey, "prompts"));
}

fn items<'a>(survey: &'a Value, list: &str) -> &'a [Value] {
    survey[list]["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A URI that certainly has no resource. It is a sibling of a listed one, so that the server has to search for it. If
/// nothing is listed, or a template might match it, it has a scheme of its own.
fn missing(listed: &[String], templates: &[String]) -> String {
    let beside = listed.iter().filter(|uri| !uri.contains(['?', '#'])).find_map(|uri| {
        let candidate = format!("{}{NO_SUCH}", uri.trim_end_matches('/'));
        is_free(&candidate, listed, templates).then_some(candidate)
    });
    beside.unwrap_or_else(|| format!("mcp-conform-missing://nowhere/{}", &NO_SUCH[1..]))
}

const NO_SUCH: &str = "-no-such-thing-7d1c";

/// Whether it is neither listed nor, as far as can be determined, an expansion of a template.
fn is_free(uri: &String, listed: &[String], templates: &[String]) -> bool {
    !listed.contains(uri) && !templates.iter().any(|template| may_match(template, uri))
}

/// Aliases of a listed, readable resource: truncated after a NUL, with a user and port (which file URIs do not have),
/// with a letter that is percent-encoded twice, and with the same end after something that is not encoded.
fn aliased(survey: &Value, listed: &[String], templates: &[String]) -> Value {
    let reads = survey["reads"].as_array().into_iter().flatten();
    let read = reads.filter(|read| read["reply"]["result"]["contents"][0].is_object());
    let known = read.filter_map(|read| read["resource"]["uri"].as_str()).find(|uri| !uri.contains(['?', '#', '%']));
    let Some(uri) = known else { return json!([]) };
    let mut disguises = vec![("cut", format!("{uri}%00{NO_SUCH}")), ("cut", format!("{uri}\0{NO_SUCH}"))];
    disguises.extend(uri.strip_prefix("file:///").map(|path| ("user", format!("file://user:secret@host:70/{path}"))));
    if let Some((at, letter)) = uri.char_indices().rfind(|(_, c)| c.is_ascii_alphanumeric())
        && uri[..at].contains(':')
    {
        let (before, code, after) = (&uri[..at], u32::from(letter), &uri[at + 1..]);
        disguises.push(("escaped", format!("{before}%25{code:02X}{after}")));
        // A server that reads this, too, compares only the end of a URI, and decodes nothing.
        disguises.push(("same-end", format!("{before}x25{code:02X}{after}")));
    }
    disguises.retain(|(_, disguise)| is_free(disguise, listed, templates));
    disguises.into_iter().map(|(kind, uri)| json!({ "kind": kind, "uri": uri })).collect()
}

/// Whether an expansion of the template could be this URI, judged by the text before its first expression.
fn may_match(template: &str, uri: &str) -> bool {
    uri.starts_with(template.split('{').next().unwrap_or_default())
}

/// A resource that is neither above nor below another one.
fn bystander<'a>(listed: &'a [String], uri: &str) -> Option<&'a String> {
    listed
        .iter()
        .find(|other| !other.starts_with(uri.trim_end_matches('/')) && !uri.starts_with(other.trim_end_matches('/')))
}

/// The URI without its last character, if that is inside a word and not part of an escape.
fn beginning(uri: &str) -> Option<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let is_uri = |text: &str| text.contains(':') && !text.contains('%');
    uri.strip_suffix(is_word).filter(|beginning| beginning.ends_with(is_word) && is_uri(beginning))
}

fn expansions(arguments: &Value) -> Value {
    let filling = |(name, value): (&'_ String, &Value)| {
        let filling = match value {
            Value::String(text) => Filling::String(text.clone()),
            Value::Array(texts) => Filling::List(texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            _ => return None,
        };
        Some((name.clone(), filling))
    };
    let expanded = |(template, values): (&String, &Value)| {
        let values: Vec<(String, Filling)> = values.as_object()?.iter().filter_map(filling).collect();
        let uri = format::expanded(template, values.iter().map(|(name, value)| (name.as_str(), value.clone())))?;
        Some(json!({ "template": template, "uri": uri }))
    };
    arguments.as_object().into_iter().flatten().filter_map(expanded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(mut facts: Value, survey: &Value) -> Value {
        complete_facts(&mut facts, survey, false);
        facts
    }

    fn missing(listed: &[&str], templates: &[&str]) -> String {
        let resources: Vec<_> = listed.iter().map(|uri| json!({ "uri": uri })).collect();
        let templates: Vec<_> = templates.iter().map(|template| json!({ "uriTemplate": template })).collect();
        let survey = json!({ "resources": { "items": resources }, "templates": { "items": templates } });
        completed(Value::Null, &survey)["missing_uri"].as_str().unwrap().to_owned()
    }

    #[test]
    fn stands_beside_a_listed_resource_where_no_template_could_answer() {
        assert_eq!(missing(&["demo://a"], &[]), "demo://a-no-such-thing-7d1c");
        assert_eq!(missing(&["demo://a", "file:///b"], &["demo://{x}"]), "file:///b-no-such-thing-7d1c");
        assert!(missing(&["demo://a"], &["demo://{x}"]).starts_with("mcp-conform-missing:"));
        assert!(missing(&[], &[]).starts_with("mcp-conform-missing:"));
    }

    #[test]
    fn disguises_are_of_a_resource_that_can_be_read() {
        let read = |uri: &str| json!({ "resource": { "uri": uri }, "reply": { "result": { "contents": [{}] } } });
        let disguises = |uri: &str, templates: &[&str]| {
            let templates: Vec<_> = templates.iter().map(|&template| template.to_owned()).collect();
            let found = aliased(&json!({ "reads": [read(uri)] }), &[uri.to_owned()], &templates);
            let uris = found.as_array().unwrap().iter().map(|entry| entry["uri"].as_str().unwrap().to_owned());
            uris.collect::<Vec<_>>()
        };
        let cut = ["file:///a.md%00-no-such-thing-7d1c", "file:///a.md\0-no-such-thing-7d1c"];
        let others = ["file://user:secret@host:70/a.md", "file:///a.m%2564", "file:///a.mx2564"];
        assert_eq!(disguises("file:///a.md", &[]), [&cut[..], &others].concat());
        assert_eq!(disguises("file:///a.md", &["file:///{+path}"]), others[..1]);
        assert_eq!(disguises("memo:{x}", &["memo:{x}"]), [""; 0]);
    }

    #[test]
    fn a_bystander_is_neither_above_nor_below() {
        let listed = ["file:///", "file:///a", "file:///a/b", "file:///a/b/c", "memo://x"].map(str::to_owned);
        assert_eq!(bystander(&listed, "file:///a/b"), Some(&"memo://x".to_owned()));
        assert_eq!(bystander(&listed[..4], "file:///a/b"), None);
    }

    #[test]
    fn a_beginning_ends_inside_of_a_word() {
        assert_eq!(beginning("memo://status"), Some("memo://statu"));
        assert_eq!([beginning("file:///a/b"), beginning("file:///a/"), beginning("urn:a%20b")], [None; 3]);
    }

    #[test]
    fn templates_become_uris_by_their_arguments() {
        let arguments = json!({ "f:///{+path}{?q*}": { "path": "a/b c", "q": ["1", "2"] }, "{": {} });
        let facts = completed(json!({ "arguments": arguments }), &json!({}));
        assert_eq!(facts["expansions"], json!([{ "template": "f:///{+path}{?q*}", "uri": "f:///a/b%20c?q=1&q=2" }]));
    }
}
