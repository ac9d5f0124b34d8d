//! Faults in the pages of lists, in prefixes and in walks.

use iri_string::types::UriStr;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::simple::{outcome, page, params, reject, walk};
use conform_reference_client::behaviour::{Behaviour, EVERYWHERE, decisions::Heard};

/// Pages that a client without a limit requests: more than a rule allows, but few enough for a run.
const MANY: usize = 5_100;

pub static LISTS: &[Behaviour] = &[
    params("cursor-counted-up", "a cursor that is a number is counted up", |_, _, _, params| {
        cursor(params, |cursor| {
            json!(cursor.parse::<u64>().map_or(cursor.to_owned(), |number| (number + 10).to_string()))
        });
    }),
    params("cursor-shared-by-lists", "all lists share one cursor", |memory, _, method, params| {
        let plain = params.get("uri").is_none() && params.get("prefix").is_none();
        if !method.ends_with("/list") || !plain {
            return;
        }
        if params.get("cursor").is_some() {
            memory.keep("cursor", params["cursor"].clone());
        } else if method == "resources/templates/list" && !memory.kept("cursor").is_null() {
            params["cursor"] = memory.kept("cursor");
        }
    }),
    page("cursor-kept-after-last-page", "after the last page its cursor is sent again", |_, _, pages, next| {
        let repeated = pages.sent.len() > 1 && pages.sent[pages.sent.len() - 2] == pages.sent[pages.sent.len() - 1];
        if let (true, false, Some(last)) = (pages.latest.is_null(), pages.failed || repeated, pages.sent.last()) {
            let mut params = pages.scope.clone();
            params.insert("cursor".to_owned(), last.clone());
            *next = Some(params);
        }
    }),
    Behaviour {
        hear: Some(null_cursor),
        page: Some(|memory, _, pages, next| {
            if memory.counts.remove("null").is_some() && !pages.failed {
                *next = Some(serde_json::Map::from_iter([("cursor".to_owned(), Value::Null)]));
            }
        }),
        ..Behaviour::new("cursor-null-sent-back", "a null cursor is sent back", EVERYWHERE)
    },
    Behaviour {
        hear: Some(null_cursor),
        page: Some(|memory, _, pages, next| {
            if memory.counts.remove("null").is_some() && !pages.failed {
                *next = Some(serde_json::Map::from_iter([("cursor".to_owned(), json!("None"))]));
            }
        }),
        ..Behaviour::new("cursor-none-as-text", "a null cursor is sent back as a text", EVERYWHERE)
    },
    page("templates-first-page-only", "templates have one page", |_, _, pages, next| {
        if pages.method == "resources/templates/list" {
            *next = None;
        }
    }),
    Behaviour {
        page: Some(|memory, _, pages, _| {
            if pages.requests == 1 && pages.latest.is_null() && !pages.failed {
                memory.count("single");
            }
        }),
        outcome: Some(|memory, _, outcome| {
            if memory.counts.remove("single").is_some() {
                reject(outcome, "`nextCursor` is missing");
            }
        }),
        ..Behaviour::new("list-needs-next-cursor", "a list of one page is rejected", EVERYWHERE)
    },
    page("stops-at-short-page", "a page that is shorter than the one before ends a list", |memory, _, pages, next| {
        let before = memory.tallies.insert(pages.method.clone(), pages.on_page as u64).unwrap_or_default();
        if pages.requests > 1 && (pages.on_page as u64) < before {
            *next = None;
        }
    }),
    page("stops-at-empty-page", "an empty page ends a list", |_, _, pages, next| {
        if pages.on_page == 0 {
            *next = None;
        }
    }),
    Behaviour {
        page: Some(|_, _, pages, next| {
            if pages.latest.as_str() == Some("") {
                *next = None;
            }
        }),
        ..Behaviour::modern("empty-cursor-ends-list", "an empty cursor ends a list", EVERYWHERE)
    },
    Behaviour {
        page: Some(|_, _, pages, next| {
            if pages.latest.as_str() == Some("") && pages.requests < 4 {
                *next = Some(pages.scope.clone());
            }
        }),
        ..Behaviour::modern("empty-cursor-left-out", "an empty cursor is left out", EVERYWHERE)
    },
    page("endless-list-followed", "a list has no limit", |_, _, pages, next| {
        if let Some(cursor) = pages.latest.as_str().filter(|_| pages.requests < MANY) {
            let mut params = pages.scope.clone();
            params.insert("cursor".to_owned(), json!(cursor));
            *next = next.take().or(pages.sent.iter().all(|sent| sent != cursor).then_some(params));
        }
    }),
    page("repeated-cursor-followed", "a cursor that comes again at once is followed", |_, _, pages, next| {
        follow(pages, next, pages.sent.last() == Some(&pages.latest));
    }),
    page("cursor-circle-followed", "a circle of cursors is followed", |_, _, pages, next| {
        follow(pages, next, pages.sent.last() != Some(&pages.latest));
    }),
    page("failed-cursor-repeated", "a cursor that failed is sent again", |_, _, pages, next| {
        if let Some(last) = pages.sent.last().filter(|_| pages.failed && pages.requests < 6) {
            let mut params = pages.scope.clone();
            params.insert("cursor".to_owned(), last.clone());
            *next = Some(params);
        }
    }),
    outcome("templates-expanded", "templates are expanded in lists", |_, action, outcome| {
        if action["of"] != "templates" || action.get("prefix").is_none() {
            return;
        }
        for template in outcome.as_mut().ok().and_then(Value::as_array_mut).into_iter().flatten() {
            template["uriTemplate"] = json!("number:///1");
        }
    }),
    walk("lists-every-resource", "a walk lists every resource", |_, node, descend| {
        *descend = !node.visited && node.lists < 100;
    }),
    walk("lists-empty-capabilities", "a walk lists resources whose capabilities are empty", |_, node, descend| {
        *descend |= node.resource["capabilities"] == json!({}) && !node.visited;
    }),
    walk("lists-by-slash", "a walk lists what ends in a slash", |_, node, descend| {
        *descend |= node.uri.as_str().is_some_and(|uri| uri.ends_with('/')) && !node.visited;
    }),
    walk("lists-by-mime-type", "a walk lists what has the type of a directory", |_, node, descend| {
        *descend |= node.resource["mimeType"] == "inode/directory" && !node.visited;
    }),
    walk("scope-lower-cased", "URIs are put into lower case before they are listed", |_, node, _| {
        node.uri = json!(node.uri.as_str().map(str::to_lowercase));
    }),
    walk("scope-decoded", "escapes are decoded before a URI is listed", |_, node, _| {
        node.uri = json!(node.uri.as_str().map(|uri| uri.replace("%2F", "/")));
    }),
    walk("scope-without-slash", "a slash at the end of a URI is removed before it is listed", |_, node, _| {
        node.uri = json!(node.uri.as_str().map(|uri| uri.trim_end_matches('/')));
    }),
    walk(
        "walk-remembers-names",
        "a walk lists only the first of several resources with one name",
        |memory, node, descend| {
            *descend = *descend && memory.seen.insert(node.resource["name"].to_string());
        },
    ),
    walk("walk-remembers-decoded", "a walk compares URIs without their escapes", |memory, node, descend| {
        let decoded = percent_decode_str(node.uri.as_str().unwrap_or_default()).decode_utf8_lossy().into_owned();
        *descend = *descend && memory.seen.insert(decoded);
    }),
    walk("walk-remembers-without-query", "a walk compares URIs without their queries", |memory, node, descend| {
        let uri = node.uri.as_str().unwrap_or_default();
        *descend = *descend && memory.seen.insert(uri.split('?').next().unwrap_or_default().to_owned());
    }),
    walk("scope-normalized", "URIs are normalized before they are listed", |_, node, _| {
        if let Some(uri) = node.uri.as_str().and_then(|uri| UriStr::new(uri).ok()) {
            node.uri = json!(uri.normalize().to_string());
        }
    }),
    page("walk-first-pages-only", "of each directory only the first page is requested", |_, _, pages, next| {
        if pages.scope.contains_key("uri") {
            *next = None;
        }
    }),
    page(
        "walk-stops-at-empty-page",
        "an empty page ends the list of a directory, although it has a cursor",
        |_, _, pages, next| {
            if pages.scope.contains_key("uri") && pages.on_page == 0 {
                *next = None;
            }
        },
    ),
    params("cursor-shared-by-scopes", "the lists of two directories share a cursor", |memory, _, _, params| {
        if params.get("uri").is_none() || params["uri"].as_str().is_none_or(|uri| !uri.starts_with("graph://")) {
            return;
        }
        if params.get("cursor").is_some() {
            memory.keep("cursor", params["cursor"].clone());
        } else if !memory.kept("cursor").is_null() && memory.first("shared") {
            params["cursor"] = memory.kept("cursor");
        }
    }),
    walk("walk-without-memory", "a walk lists each directory as often as it is found", |_, node, descend| {
        *descend = node.resource["capabilities"]["list"] == true && node.lists < 500;
    }),
    walk("walk-remembers-path-only", "a walk lists a directory once for each path to it", |_, node, descend| {
        *descend = node.resource["capabilities"]["list"] == true && node.depth < 24 && node.lists < 2500;
    }),
    Behaviour {
        walk: Some(|memory, node, _| {
            if node.visited {
                memory.count("visited");
            }
        }),
        outcome: Some(|memory, action, outcome| {
            if action["do"] == "walk" && memory.counts.contains_key("visited") {
                reject(outcome, "a resource was found twice");
            }
        }),
        ..Behaviour::new("revisit-fails-walk", "a walk fails if it finds a resource twice", EVERYWHERE)
    },
    Behaviour {
        walk: Some(|_, node, descend| *descend = node.resource["capabilities"]["list"] == true),
        page: Some(|_, _, pages, next| {
            if let (Some(cursor), true) = (pages.latest.as_str(), pages.scope.contains_key("uri")) {
                let mut params = pages.scope.clone();
                params.insert("cursor".to_owned(), json!(cursor));
                *next = Some(params);
            }
        }),
        ..Behaviour::new("walk-without-limit", "a walk has no limit", EVERYWHERE)
    },
    walk("walk-depth-first", "a walk does not leave the first branch", |memory, node, descend| {
        if memory.kept("branch").is_null() && *descend {
            memory.keep("branch", node.uri.clone());
        }
        let branch = memory.kept("branch");
        *descend &= node.uri.as_str().zip(branch.as_str()).is_none_or(|(uri, branch)| uri.starts_with(branch));
    }),
    Behaviour {
        hear: Some(|memory, _, message| {
            if message.get("error").is_some() {
                memory.count("error");
            }
            Heard::Message
        }),
        walk: Some(|memory, _, descend| *descend &= !memory.counts.contains_key("error")),
        ..Behaviour::new("scope-error-ends-walk", "an error ends a walk", EVERYWHERE)
    },
    Behaviour {
        page: Some(|memory, _, pages, _| {
            if pages.on_page == 0 && !pages.failed && pages.scope.contains_key("uri") {
                memory.count("empty");
            }
        }),
        walk: Some(|memory, _, descend| *descend &= !memory.counts.contains_key("empty")),
        ..Behaviour::new("empty-directory-ends-walk", "an empty directory ends a walk", EVERYWHERE)
    },
    outcome(
        "resource-without-capabilities-dropped",
        "a walk drops resources without capabilities",
        |_, action, outcome| {
            walked(action, outcome, |resource| resource.get("capabilities").is_some());
        },
    ),
    outcome(
        "unknown-capability-dropped",
        "a walk drops resources with a capability that it does not know",
        |_, action, outcome| {
            walked(action, outcome, |resource| resource.pointer("/capabilities/x-vendor").is_none());
        },
    ),
    outcome("schemas-simplified", "schemas lose what is not type, properties or required", |_, action, outcome| {
        if action["of"] != "tools" {
            return;
        }
        for tool in outcome.as_mut().ok().and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(schema) = tool["inputSchema"].as_object_mut() {
                schema.retain(|name, _| ["type", "properties", "required"].contains(&name.as_str()));
            }
        }
    }),
    outcome("children-by-read", "the children of a directory are those that a read returns", |_, action, outcome| {
        if action["do"] == "list"
            && action.get("uri").is_some()
            && let Some(children) = outcome.as_mut().ok().and_then(Value::as_array_mut)
        {
            children.truncate(2);
        }
    }),
];

fn cursor(params: &mut Value, change: fn(&str) -> Value) {
    if let Some(changed) = params["cursor"].as_str().map(change) {
        params["cursor"] = changed;
    }
}

fn null_cursor(
    memory: &mut conform_reference_client::behaviour::memory::Memory,
    _: &conform_reference_client::behaviour::decisions::Scene,
    message: &mut Value,
) -> Heard {
    if message.pointer("/result/nextCursor") == Some(&Value::Null) {
        memory.count("null");
    }
    Heard::Message
}

/// Continues although the cursor was sent before.
fn follow(
    pages: &conform_reference_client::behaviour::decisions::Pages,
    next: &mut conform_reference_client::behaviour::decisions::NextPage,
    wanted: bool,
) {
    if wanted && pages.sent.contains(&pages.latest) && pages.requests < 20 {
        let mut params = pages.scope.clone();
        params.insert("cursor".to_owned(), pages.latest.clone());
        *next = Some(params);
    }
}

fn walked(action: &Value, outcome: &mut conform_reference_client::report::Outcome, kept: fn(&Value) -> bool) {
    if let (true, Some(found)) = (action["do"] == "walk", outcome.as_mut().ok().and_then(Value::as_array_mut)) {
        found.retain(kept);
    }
}
