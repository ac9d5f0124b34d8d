//! Lists with all their pages, and walks through the resources.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    rc::Rc,
};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::{
    behaviour::decisions::{NextPage, Node, Pages},
    report::{Failure, Outcome},
    requests::Ask,
    state::Client,
    transport::headers,
};

/// Maximum number of pages of one list. A guess: more than any world has, but few enough for a run.
const MOST_PAGES: usize = 100;

/// Maximum number of scoped lists in one walk, and its maximum depth. Guesses.
const MOST_LISTS: usize = 200;
const DEEPEST: usize = 16;

/// The name of the items in a result.
fn items_of(method: &str) -> &'static str {
    match method {
        "tools/list" => "tools",
        "prompts/list" => "prompts",
        "skills/list" => "skills",
        "resources/templates/list" => "resourceTemplates",
        "tasks/list" => "tasks",
        _ => "resources",
    }
}

/// All items of a list, or those of its first pages.
pub async fn all(
    client: &Rc<Client>,
    method: &str,
    scope: &Map<String, Value>,
    most: Option<usize>,
    ask: &Ask,
) -> Outcome {
    let mut pages = Pages { method: method.to_owned(), scope: scope.clone(), ..Pages::default() };
    let mut items = Vec::new();
    let mut failure = None;
    let mut next: NextPage = Some(scope.clone());
    while let Some(params) = next {
        pages.requests += 1;
        if let Some(cursor) = params.get("cursor") {
            pages.sent.push(cursor.clone());
        }
        match client.request(method, params.into(), ask).await {
            Ok(result) => {
                let page = result[items_of(method)].as_array().cloned();
                let Some(page) = page else {
                    return Err(Failure::invalid(format!("`result.{}` is not an array", items_of(method))));
                };
                pages.on_page = page.len();
                pages.items += page.len();
                pages.latest = result["nextCursor"].clone();
                items.extend(page);
            }
            Err(error) => {
                pages.latest = Value::Null;
                pages.failed = true;
                failure = Some(error);
            }
        }
        next = follow(client, &pages, most);
        if client.state.borrow().owes_initialized {
            client.state.borrow_mut().owes_initialized = false;
            client.say_initialized().await;
        }
    }
    match failure {
        Some(failure) => Err(failure),
        None => Ok(usable(client, method, scope, items)),
    }
}

fn follow(client: &Client, pages: &Pages, most: Option<usize>) -> NextPage {
    // Up to 2025-11-25 an empty cursor is treated like none.
    let ends = |cursor: &str| cursor.is_empty() && !client.is_modern();
    let cursor = pages.latest.as_str().filter(|cursor| !ends(cursor));
    let repeated = pages.sent.contains(&pages.latest);
    let enough = most.is_some_and(|most| pages.requests >= most) || !client.ways.habits.pages;
    let mut next = cursor.filter(|_| !repeated && !enough && pages.requests < MOST_PAGES).map(|cursor| {
        let mut params = pages.scope.clone();
        params.insert("cursor".to_owned(), json!(cursor));
        params
    });
    if let Some(hook) = client.ways.page {
        client.with(|memory, scene| hook(memory, scene, pages, &mut next));
    }
    next
}

/// The items of a list that the caller gets.
fn usable(client: &Client, method: &str, scope: &Map<String, Value>, mut items: Vec<Value>) -> Value {
    if method == "tools/list" {
        let strict = client.is_modern() && client.kind.get().capabilities().stream_per_request;
        let listed = items.clone();
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let mut tools = HashMap::new();
        items.retain(|tool| match headers::mirrored(&tool["inputSchema"]) {
            Ok(params) => {
                tools.insert(name(tool), params);
                true
            }
            // A tool that cannot be called correctly is omitted.
            Err(_) => !strict,
        });
        if let Some(hook) = client.ways.tools {
            client.with(|memory, scene| hook(memory, scene, &listed, &mut items));
        }
        let support = |tool: &Value| Some((name(tool), tool["execution"]["taskSupport"].as_str()?.to_owned()));
        let mut state = client.state.borrow_mut();
        state.task_support = listed.iter().filter_map(support).collect();
        let kept: HashSet<String> = items.iter().map(name).collect();
        state.excluded = listed.iter().map(name).filter(|name| !kept.contains(name)).collect();
        state.tools = tools;
        let has_output = listed.into_iter().filter(|tool| tool.get("outputSchema").is_some());
        state.outputs = has_output.map(|tool| (name(&tool), tool)).collect();
    }
    // A server that does not support `prefix` returns everything.
    if let Some(prefix) = scope.get("prefix").and_then(Value::as_str) {
        let text = |item: &Value| item.get("uri").or_else(|| item.get("uriTemplate")).cloned().unwrap_or_default();
        items.retain(|item| text(item).as_str().is_some_and(|text| text.starts_with(prefix)));
    }
    items.into()
}

/// All resources that can be reached from the list, without duplicates. Breadth first, so that an endless branch does
/// not hide others.
pub async fn walk(client: &Rc<Client>, ask: &Ask) -> Outcome {
    let roots = all(client, "resources/list", &Map::new(), None, ask).await?;
    let mut found: IndexMap<String, Value> = IndexMap::new();
    let mut listed: HashSet<String> = HashSet::new();
    let children = |value: Value, depth: usize| {
        let Value::Array(items) = value else { return Vec::new() };
        items.into_iter().map(|item| (item, depth)).collect::<Vec<_>>()
    };
    let mut queue: VecDeque<(Value, usize)> = children(roots, 0).into();
    let mut lists = 0;
    while let Some((resource, depth)) = queue.pop_front() {
        let Some(uri) = resource["uri"].as_str().map(str::to_owned) else { continue };
        found.entry(uri.clone()).or_insert_with(|| resource.clone());
        let visited = listed.contains(&uri);
        let mut node = Node { uri: json!(uri), visited, depth, lists, resource };
        let can_list = node.resource["capabilities"]["list"] == true;
        let mut descend = can_list && !visited && depth < DEEPEST && lists < MOST_LISTS;
        if let Some(hook) = client.ways.walk {
            hook(&mut client.memory.borrow_mut(), &mut node, &mut descend);
        }
        if !descend {
            continue;
        }
        listed.insert(uri);
        lists += 1;
        let scope = Map::from_iter([("uri".to_owned(), node.uri.clone())]);
        // If a branch fails, the others are still walked.
        if let Ok(items) = all(client, "resources/list", &scope, None, ask).await {
            queue.extend(children(items, depth + 1));
        }
    }
    Ok(found.into_values().collect())
}
