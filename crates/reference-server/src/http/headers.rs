//! The headers of 2026-07-28 that repeat values of the body: both have to be equal.

use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::HeaderMap;
use serde_json::Value;

use crate::{era, fail::Fail, handlers};

pub const VERSION: &str = "mcp-protocol-version";

/// Checks a request. Notifications have no such headers, and no revision defines them for `initialize`, whose response
/// here lists the supported versions.
pub fn check(headers: &HeaderMap, message: &Value, ignored: &[String]) -> Result<(), Fail> {
    let method = message.get("method").and_then(Value::as_str).filter(|method| *method != "initialize");
    let Some(method) = method.filter(|_| message.get("id").is_some()) else { return Ok(()) };
    let looked_at = |name: &str| !ignored.iter().any(|ignored| ignored.eq_ignore_ascii_case(name));
    if looked_at(VERSION) {
        let version = value(headers, VERSION)?.ok_or_else(|| missing(VERSION))?;
        let meta = message.pointer("/params/_meta").and_then(|meta| meta.get(era::VERSION));
        agree(VERSION, &version, meta.and_then(Value::as_str).unwrap_or(&version))?;
    }
    if looked_at("mcp-method") {
        agree("mcp-method", &value(headers, "mcp-method")?.ok_or_else(|| missing("mcp-method"))?, method)?;
    }
    let named = match method {
        "tools/call" | "prompts/get" => message.pointer("/params/name"),
        "resources/read" => message.pointer("/params/uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => message.pointer("/params/taskId"),
        _ => None,
    };
    if let Some(named) = named.and_then(Value::as_str).filter(|_| looked_at("mcp-name")) {
        match value(headers, "mcp-name")? {
            Some(name) => agree("mcp-name", &decoded(&name)?, named)?,
            // Clients must send it here as well, but the specification does not allow a server to require it.
            None if method.starts_with("tasks/") => {}
            None => return Err(missing("mcp-name")),
        }
    }
    if method == "tools/call" { check_arguments(headers, message, looked_at) } else { Ok(()) }
}

/// Arguments that a tool's schema marks with `x-mcp-header` are repeated in a header of that name.
fn check_arguments(headers: &HeaderMap, message: &Value, looked_at: impl Fn(&str) -> bool) -> Result<(), Fail> {
    let tool = message.pointer("/params/name").and_then(Value::as_str).and_then(handlers::input_schema);
    let properties = tool.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) else { continue };
        let header = format!("mcp-param-{}", header.to_ascii_lowercase());
        let argument = message.pointer("/params/arguments").and_then(|arguments| arguments.get(name));
        let Some(argument) = argument.filter(|argument| !argument.is_null() && looked_at(&header)) else { continue };
        let told = decoded(&value(headers, &header)?.ok_or_else(|| missing(&header))?)?;
        match argument {
            Value::String(text) => agree(&header, &told, text)?,
            Value::Number(number) if told.parse::<f64>().ok() == number.as_f64() => {}
            other => agree(&header, &told, &other.to_string())?,
        }
    }
    Ok(())
}

fn value(headers: &HeaderMap, name: &str) -> Result<Option<String>, Fail> {
    let text = |value: &hyper::header::HeaderValue| value.to_str().map(|text| text.trim().to_owned());
    let malformed = |_| Fail::header(format!("The header {name} has characters that are not allowed."));
    headers.get(name).map(text).transpose().map_err(malformed)
}

/// Values that do not fit into a header are encoded as `=?base64?...?=`.
pub fn decoded(value: &str) -> Result<String, Fail> {
    let Some(payload) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(value.to_owned());
    };
    let bytes = STANDARD.decode(payload).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| Fail::header("A header is marked as Base64 but cannot be decoded."))
}

fn agree(name: &str, header: &str, body: &str) -> Result<(), Fail> {
    if header == body { Ok(()) } else { Err(Fail::header(format!("The header {name} and the body differ."))) }
}

fn missing(name: &str) -> Fail {
    Fail::header(format!("The header {name} is missing."))
}
