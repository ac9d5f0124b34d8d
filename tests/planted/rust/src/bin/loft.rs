//! A loft with tools on rmcp, which commits the fault that FAULT names: faults of handlers, which show with certain arguments.
//! Usage: loft, over stdio.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, JsonObject, ListToolsResult},
    model::{PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations},
    service::RequestContext,
};
use serde_json::{Value, json};

fn planted(fault: &str) -> bool {
    std::env::var("FAULT").is_ok_and(|named| named == fault)
}

#[derive(Default)]
struct World {
    boxes: BTreeMap<String, String>,
    removed: usize,
    kept: Vec<Vec<u8>>,
}

#[derive(Clone, Default)]
struct Loft(Arc<Mutex<World>>, Arc<tokio::sync::Mutex<()>>);

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn tools() -> Vec<Tool> {
    let tool = |name: &'static str, reads: bool, properties: Value, required: Value| {
        let input = json!({ "type": "object", "properties": properties, "required": required });
        Tool::new(name, name, schema(input)).with_annotations(ToolAnnotations::new().read_only(reads))
    };
    let weight = json!({ "type": "object", "properties": { "grams": { "type": "integer" } }, "required": ["grams"] });
    vec![
        tool("tag", true, json!({ "text": { "type": "string" } }), json!(["text"])),
        tool("sum", true, json!({ "left": { "type": "integer" }, "right": { "type": "integer" } }), json!(["left", "right"])),
        tool("weigh", true, json!({ "parcels": { "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 1000 }, "maxItems": 6 } }), json!(["parcels"]))
            .with_raw_output_schema(schema(weight)),
        tool("climb", true, json!({ "rung": { "type": "integer", "minimum": 1, "maximum": 9 } }), json!(["rung"])),
        tool("pack", true, json!({ "kind": { "type": "string", "enum": ["paper", "glass"] }, "fragile": { "type": "boolean" } }), json!(["kind"])),
        tool("create_box", false, json!({ "content": { "type": "string" } }), json!(["content"])),
        tool("get_box", true, json!({ "id": { "type": "string" } }), json!(["id"])),
        tool("delete_box", false, json!({ "id": { "type": "string" } }), json!(["id"])),
    ]
}

fn wrong(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// What is wrong with the arguments, if anything is.
fn invalid(name: &str, given: &JsonObject) -> Option<&'static str> {
    let is_text = |name: &str| given.get(name).is_some_and(Value::is_string);
    let is_number = |name: &str| given.get(name).is_some_and(|value| value.as_f64().is_some_and(|value| value.fract() == 0.0));
    match name {
        "tag" if !is_text("text") => Some("`text` has to be a string"),
        "sum" if !is_number("left") || !is_number("right") => Some("`left` and `right` have to be integers"),
        "climb" if !given.get("rung").and_then(Value::as_f64).is_some_and(|rung| (1.0..=9.0).contains(&rung) && rung.fract() == 0.0) => Some("There are nine rungs"),
        "climb" if planted("last-rung-missing") && given["rung"].as_f64() >= Some(9.0) => Some("There is no such rung"),
        "pack" if given.get("fragile").is_some_and(|value| !value.is_boolean()) => Some("`fragile` has to be true or false"),
        "pack" if !is_text("kind") || !planted("kinds-not-validated") && given["kind"] != "paper" && given["kind"] != "glass" => Some("`kind` has to be paper or glass"),
        "weigh" => {
            let parcels = given.get("parcels").and_then(Value::as_array);
            let fits = |parcel: &Value| parcel.as_f64().is_some_and(|grams| (0.0..=1000.0).contains(&grams) && grams.fract() == 0.0);
            let few = |parcels: &&Vec<Value>| planted("count-not-validated") || parcels.len() <= 6;
            (!parcels.filter(few).is_some_and(|parcels| parcels.iter().all(fits))).then_some("`parcels` are up to six weights of up to 1000")
        }
        "create_box" if !is_text("content") => Some("`content` has to be a string"),
        "get_box" | "delete_box" if !is_text("id") => Some("`id` has to be a string"),
        _ => None,
    }
}

impl Loft {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn tag(&self, text: &str) -> CallToolResult {
        if planted("exits-at-control") && text.chars().any(char::is_control) {
            std::process::exit(1);
        }
        let end = text.char_indices().nth(8).map_or(text.len(), |(end, _)| end);
        said(format!("[{}]", &text[..if planted("cuts-at-byte") { text.len().min(8) } else { end }]))
    }

    fn sum(given: &JsonObject) -> CallToolResult {
        let (left, right) = (given["left"].as_i64(), given["right"].as_i64());
        let (Some(left), Some(right)) = (left, right) else { return wrong("The numbers are too large") };
        if planted("adds-too-much") {
            return said((left + right).to_string());
        }
        left.checked_add(right).map_or_else(|| wrong("The sum is too large"), |sum| said(sum.to_string()))
    }

    fn weigh(given: &JsonObject) -> CallToolResult {
        let parcels: Vec<f64> = given["parcels"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let first = if planted("first-of-none") { parcels[0] } else { parcels.first().copied().unwrap_or_default() };
        let grams = parcels.iter().skip(1).sum::<f64>() + first;
        let result = if planted("weight-left-out") && grams == 0.0 { json!({}) } else { json!({ "grams": grams as i64 }) };
        CallToolResult::structured(result)
    }

    fn of_boxes(&self, name: &str, given: &JsonObject) -> CallToolResult {
        let mut world = self.world();
        if name == "create_box" {
            let number = if planted("boxes-by-count") { world.boxes.len() } else { world.boxes.len() + world.removed };
            world.boxes.insert(number.to_string(), given["content"].as_str().unwrap_or_default().to_owned());
            return said(json!({ "id": number.to_string(), "content": given["content"] }).to_string());
        }
        let id = given["id"].as_str().unwrap_or_default();
        let Some(content) = world.boxes.get(id).cloned() else { return wrong("There is no such box") };
        if name == "delete_box" && !planted("boxes-stay") {
            world.boxes.remove(id);
            world.removed += 1;
        }
        said(json!({ "id": id, "content": content }).to_string())
    }
}

impl ServerHandler for Loft {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(&self, params: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let given = params.arguments.unwrap_or_default();
        let name = params.name.as_ref();
        if let Some(why) = invalid(name, &given) {
            return Ok(wrong(why).into());
        }
        if planted("keeps-boxes") {
            self.world().kept.push(vec![1; 500_000]);
        }
        if planted("one-at-a-time") {
            // A second call waits for a lock that the first one does not release in time.
            let Ok(_turn) = self.1.try_lock() else { std::future::pending().await };
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let result = match name {
            "tag" => self.tag(given["text"].as_str().unwrap_or_default()),
            "sum" if planted("panic-message-told") => {
                let caught = std::panic::catch_unwind(|| given["left"].as_i64().unwrap() + given["right"].as_i64().unwrap());
                caught.map_or_else(|_| wrong("called `Option::unwrap()` on a `None` value"), |sum| said(sum.to_string()))
            }
            "sum" => Self::sum(&given),
            "weigh" => Self::weigh(&given),
            "climb" => said(format!("On rung {}", given["rung"])),
            "pack" => said(format!("Packed {}", given["kind"])),
            "create_box" | "get_box" | "delete_box" => self.of_boxes(name, &given),
            _ => return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, "unknown tool", None)),
        };
        Ok(result.into())
    }
}

#[tokio::main]
async fn main() {
    let served = Loft::default().serve((tokio::io::stdin(), tokio::io::stdout())).await.expect("serve");
    served.waiting().await.expect("wait");
}
