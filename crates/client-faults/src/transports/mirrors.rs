//! The headers that mirror a message: parses and encodes them.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use conform_reference_client::{
    behaviour::{
        decisions::{Heard, Posting, Scene},
        memory::Memory,
    },
    transport::headers::{MirroredParam, argument, encode, mirrored, text_of},
};

pub const METHOD: &str = "mcp-method";
pub const NAME: &str = "mcp-name";
pub const PARAM: &str = "mcp-param-";

pub fn keep_first(memory: &mut Memory, posting: &mut Posting, header: &'static str) {
    if let Some(value) = text(posting, header) {
        let first = memory.values.entry(header).or_insert(json!(value)).clone();
        posting.set(header, encode(first.as_str().unwrap_or_default()));
    }
}

/// Remembers the first schema of each tool.
pub fn learn(memory: &mut Memory, _: &Scene, message: &mut Value) -> Heard {
    for tool in message["result"]["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        let kept = memory.values.entry("schemas").or_insert(json!({}));
        if kept.get(name).is_none() {
            kept[name] = tool["inputSchema"].clone();
        }
    }
    Heard::Message
}

/// Calls a function for each parameter that the first schema of the called tool mirrors.
pub fn each(memory: &mut Memory, posting: &mut Posting, mut work: impl FnMut(&mut Posting, &MirroredParam, &str)) {
    if posting.rpc() == "tools/call" {
        let name = posting.message["params"]["name"].as_str().unwrap_or_default().to_owned();
        for param in mirrored(&memory.kept("schemas")[name]).unwrap_or_default() {
            work(posting, &param, &format!("{PARAM}{}", param.name).to_ascii_lowercase());
        }
    }
}

pub fn mirror(posting: &mut Posting, param: &MirroredParam, header: &str) {
    if let Some(text) = argument(&posting.message["params"]["arguments"], param).and_then(text_of) {
        posting.set(header, encode(&text));
    }
}

pub fn pointer(param: &MirroredParam) -> String {
    param.path.iter().map(|name| format!("/{name}")).collect()
}

pub fn annotations(tool: &Value) -> Vec<MirroredParam> {
    mirrored(&tool["inputSchema"]).unwrap_or_default()
}

pub fn params(posting: &Posting) -> Vec<String> {
    let names = posting.headers.iter().map(|(name, _)| name.clone());
    names.filter(|name| name.starts_with(PARAM)).collect()
}

/// The headers that can be encoded.
pub fn mirrors(posting: &Posting) -> Vec<String> {
    params(posting).into_iter().chain([NAME.to_owned()]).collect()
}

/// The text that a header encodes.
pub fn text(posting: &Posting, header: &str) -> Option<String> {
    let value = String::from_utf8_lossy(posting.get(header)?).into_owned();
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let decoded = encoded.and_then(|encoded| String::from_utf8(STANDARD.decode(encoded).ok()?).ok());
    Some(decoded.unwrap_or(value))
}

pub fn looks_encoded(text: &str) -> bool {
    text.starts_with("=?base64?")
}

/// Encodes a header in another way.
pub fn recode(posting: &mut Posting, header: &str, form: impl Fn(&str) -> String) {
    if let Some(text) = text(posting, header) {
        let written = form(&text);
        // Control characters are not allowed in headers.
        posting.set(header, written.replace(['\r', '\n', '\0', '\u{7f}'], " "));
    }
}

/// Changes the text of a header, and encodes it correctly.
pub fn change(posting: &mut Posting, header: &str, form: impl Fn(&str) -> String) {
    recode(posting, header, |text| encode(&form(text)));
}

pub fn raw(posting: &mut Posting, header: &str) {
    recode(posting, header, str::to_owned);
}
