//! What goes wrong with apps, where an edit of messages does not suffice.

use serde_json::{Value, json};

use crate::{
    content::{
        Content, Node,
        apps::{EXTENSION, MAP, MIME},
    },
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory, STDIO},
    },
};
use conform_model::revision::Revision;

const CLIENT: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
/// The tool of the map.
const TOOL: &str = "weather_map";

const fn app(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour { since: Some(Revision::V2025_06_18), extension: Some("apps"), ..Behaviour::new(name, about, EVERYWHERE) }
}

pub static APP_FAULTS: &[Behaviour] = &[
    Behaviour {
        prepare: Some(|content| content.shows_apps_to_all = true),
        say: Some(|_, _, message| {
            undeclare(message);
            true
        }),
        ..app("apps-undeclared", "tools have UI fields, and the extension is not declared")
    },
    Behaviour {
        prepare: Some(|content| content.shows_apps_to_all = true),
        say: Some(|_, _, message| {
            if let Some(declared) = undeclare(message) {
                message["result"]["capabilities"]["extensions"]["com.example/mcp-apps"] = declared;
            }
            true
        }),
        ..app("apps-declared-otherwise", "the extension is declared under another identifier")
    },
    Behaviour {
        prepare: Some(|content| content.shows_apps_to_all = true),
        ..app("apps-fields-for-everyone", "all clients get UI fields of tools")
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        transports: STDIO,
        hear: Some(|memory, message| {
            if message["method"] == "tools/list"
                && let Some(declared) = message.pointer_mut(CLIENT)
            {
                declared.clone_from(memory.said.entry("client").or_insert_with(|| declared.clone()));
            }
            Heard::Message
        }),
        also: &["apps-tool-meta-kept-on-all-pages"],
        ..app("apps-first-client-kept", "the capabilities of the first request count for all later ones")
    },
    Behaviour {
        say: Some(|memory, _, message| {
            let tools = message.pointer_mut("/result/tools").and_then(Value::as_array_mut);
            let mut with_app: Vec<&mut Value> =
                tools.into_iter().flatten().filter(|tool| tool["name"] == TOOL).collect();
            let Some(tool) = with_app.first_mut().filter(|tool| tool.get("_meta").is_some()) else { return true };
            let lists = memory.counts.entry("lists".to_owned()).or_default();
            *lists += 1;
            if *lists > 1 {
                tool.as_object_mut().map(|tool| tool.remove("_meta"));
            }
            true
        }),
        ..app("apps-tool-second-list-bare", "a cached list lacks the UI fields of a tool")
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            if reads_map(scene) {
                write(message, format!("<!doctype html><p>This was response {}.</p>", memory.responses));
            }
            true
        }),
        ..app("apps-document-counts-reads", "each read returns another document")
    },
    Behaviour {
        prepare: Some(|content| insert(content, "ui://data/prices.json", "application/json", "[1, 2]")),
        ..app("apps-data-in-scheme", "data has a URI that begins with ui://")
    },
    Behaviour {
        prepare: Some(|content| {
            insert(content, "ui://links/weather", "text/uri-list", "https://weather.example.com/\r\n");
        }),
        ..app("apps-link-in-scheme", "a link has a URI that begins with ui://")
    },
    Behaviour {
        prepare: Some(|content| insert(content, "https://weather.example.com/app", MIME, "<!doctype html><p>Sun</p>")),
        ..app("apps-listed-with-https", "a UI resource has the URL of a page")
    },
    Behaviour {
        prepare: Some(|content| insert(content, "resource://weather/app", MIME, "<!doctype html><p>Sun</p>")),
        ..app("apps-listed-with-resource", "a UI resource has a URI of another scheme")
    },
    Behaviour {
        hear: Some(hear_call),
        say: Some(|memory, scene, message| {
            if !memory.unlocked && reads_map(scene) {
                *message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32602, "message": "Resource not found" } });
            }
            true
        }),
        also: &["apps-tool-resource-exists"],
        ..app("apps-document-after-call", "a document exists only after a call of its tool")
    },
    Behaviour {
        hear: Some(hear_call),
        say: Some(|memory, scene, message| {
            if !memory.unlocked && reads_map(scene) {
                write(message, String::new());
            }
            true
        }),
        also: &["apps-read-html-document"],
        ..app("apps-document-filled-by-call", "a document is empty before the first call of its tool")
    },
    Behaviour {
        transports: STDIO,
        hear: Some(|memory, message| {
            memory.listed |= message["method"] == "tools/list";
            Heard::Message
        }),
        say: Some(|memory, scene, message| {
            if !memory.listed && reads_map(scene) {
                *message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32602, "message": "Resource not found" } });
            }
            true
        }),
        ..app("apps-document-after-list", "a document exists only after tools/list")
    },
    Behaviour {
        transports: STDIO,
        hear: Some(
            |_, message| if message["method"] == "notifications/message" { Heard::Crash } else { Heard::Message },
        ),
        ..app("apps-log-ends-connection", "a log message of the client ends the process")
    },
];

/// Removes the declaration of the extension, and returns it.
fn undeclare(message: &mut Value) -> Option<Value> {
    message.pointer_mut("/result/capabilities/extensions")?.as_object_mut()?.remove(EXTENSION)
}

fn insert(content: &mut Content, uri: &str, mime: &'static str, text: &str) {
    content.insert_node(Node::text(uri, "extra", mime, text));
}

fn reads_map(scene: &Scene) -> bool {
    scene.sent.is_some_and(|sent| sent["method"] == "resources/read" && sent["params"]["uri"] == MAP)
}

/// Replaces the document of a read.
fn write(message: &mut Value, text: String) {
    if let Some(content) = message.pointer_mut("/result/contents/0").and_then(Value::as_object_mut) {
        content.remove("blob");
        content.remove("size");
        content.insert("text".to_owned(), text.into());
    }
}

fn hear_call(memory: &mut Memory, message: &mut Value) -> Heard {
    memory.unlocked |= message["method"] == "tools/call" && message["params"]["name"] == TOOL;
    Heard::Message
}
