//! The names of judged items and of their fields, as the author of the server knows them.

use serde_json::Value;

use conform_suite::Path;

/// The name of a judged item, as its author knows it.
pub fn subject(item: &Value) -> String {
    let text = |pointer: &str| item.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let first = |pointers: &[&str]| pointers.iter().find_map(|pointer| text(pointer));
    if let Some(method) = text("/method") {
        return match first(&["/params/uri", "/params/name", "/params/ref/uri", "/params/ref/name"]) {
            Some(about) => format!("{method} {about}"),
            None => method,
        };
    }
    // An action of a client.
    if let (Some(what), Some(action)) = (text("/do"), item.get("action")) {
        let about = ["of", "name", "uri", "arguments"].iter().filter_map(|field| action.get(*field));
        let about = about.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        return std::iter::once(what).chain(about).collect::<Vec<_>>().join(" ");
    }
    // A process that the client started.
    if let (Some(number), Some(_)) = (item["nr"].as_u64(), item.get("ended_by")) {
        return format!("process {}", number + 1);
    }
    // A schema of a tool, or a part of one.
    if let (Some(tool), Some(of), Some(pointer)) = (text("/tool"), text("/of"), text("/pointer")) {
        return format!("{tool} {of}Schema{}", pointer.replace('/', ".").replace("~1", "/").replace("~0", "~"));
    }
    if let Some(named) = first(&["/asked", "/uri", "/uriTemplate", "/name"]) {
        return named;
    }
    // An entry of `each`: the item of the loop.
    let looped = item.as_object().into_iter().flatten().find(|(name, _)| *name != "reply");
    match (item.get("reply"), looped) {
        (Some(_), Some((_, Value::String(text)))) => format!("\"{text}\""),
        (Some(reply), Some((_, value @ (Value::Object(_) | Value::Array(_))))) => {
            let named = Some(subject(value)).filter(|named| !named.is_empty());
            named.or_else(|| reply["asked"].as_str().map(str::to_owned)).unwrap_or_else(|| match value {
                Value::Array(_) => value.to_string(),
                _ => String::new(),
            })
        }
        _ => String::new(),
    }
}

/// The name of the innermost enclosing value that has one.
pub fn named_around(root: &Value, location: &str) -> String {
    let mut around = location.rmatch_indices('/').filter_map(|(end, _)| root.pointer(&location[..end]));
    let named =
        around.find_map(|value| ["uri", "uriTemplate", "name"].iter().find_map(|name| value.get(*name)?.as_str()));
    named.unwrap_or_default().to_owned()
}

/// A field of a message, or a part of an HTTP request or response, by its usual name.
pub fn named(name: &str) -> String {
    let header = ["http.headers.", "response.headers.", "headers."].iter().find_map(|start| name.strip_prefix(start));
    match (name, header) {
        ("http.status" | "response.status", _) => "the HTTP status".into(),
        (_, Some(header)) => format!("the header `{header}`"),
        _ => format!("`{name}`"),
    }
}

/// The dotted path of the value in the message, without field names of the suite language.
pub fn member_path(path: &Path, location: &str) -> String {
    if location.is_empty() {
        // Nothing was selected, so only the path itself shows the location.
        let written = path.text.split_at(path.root.len() + 1).1.trim_start_matches('.');
        return without_ours(written);
    }
    let location = location.find("/items/").map_or(location, |at| &location[at..]);
    let location = &location[1..];
    let mut name = String::new();
    for token in location.split('/').filter(|token| *token != "reply") {
        if token.bytes().all(|byte| byte.is_ascii_digit()) {
            name.push_str(&format!("[{token}]"));
        } else {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&token.replace("~1", "/").replace("~0", "~"));
        }
    }
    without_ours(&name)
}

/// Removes field names of the suite language from the start of a path.
fn without_ours(name: &str) -> String {
    let mut name = name;
    for ours in ["reply.", "message.", "result.", "node."] {
        name = name.strip_prefix(ours).unwrap_or(name);
    }
    name.to_owned()
}
