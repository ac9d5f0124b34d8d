//! The pages of lists that a gateway keeps, for a fault.

use std::collections::HashMap;

use serde_json::{Value, json};

use conform_model::evidence::LISTS;

/// Results by method and cursor.
#[derive(Default)]
pub struct Cache(HashMap<String, Value>);

impl Cache {
    /// The response to the request, if its page is kept.
    pub fn known(&self, request: &Value) -> Option<Value> {
        let result = self.0.get(&page(request)?)?;
        Some(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
    }

    pub fn keep(&mut self, request: &Value, response: &Value) {
        if let (Some(page), Some(result)) = (page(request), response.get("result")) {
            self.0.insert(page, result.clone());
        }
    }
}

fn page(request: &Value) -> Option<String> {
    let method = LISTS.iter().map(|list| list.method).find(|method| request["method"] == **method)?;
    Some(format!("{method} {}", request["params"]["cursor"]))
}
