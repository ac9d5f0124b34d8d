//! The apps of the extension: documents that a host shows next to the results of tools, and the tools that have them.

use serde_json::{Value, json};

use crate::{
    content::{
        Node,
        arguments::string,
        tools::{Outcome, Tool, text},
    },
    context::Context,
};
use conform_model::revision::Revision;

pub const EXTENSION: &str = "io.modelcontextprotocol/ui";
pub const MIME: &str = "text/html;profile=mcp-app";
const FORECAST: &str = "ui://weather/forecast.html";
pub const MAP: &str = "ui://weather/map";
const DEGREES: i64 = 21;

const FORECAST_PAGE: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Forecast</title>
<link rel="stylesheet" href="https://cdn.example.com/charts/charts.css">
<style>
@import url("https://fonts.example.com/plain.css");
body { background: url(data:image/gif;base64,R0lGODlhAQABAAAAACw=) }
h1 { background-image: url('https://cdn.example.com/sky.png') }
</style>
<script src="https://cdn.example.com/charts/charts.js"></script>
</head>
<body>
<!-- <script src="https://old.example.org/charts.js"></script> -->
<h1>Forecast</h1>
<img src="//images.example.com/sun.png" alt="">
<iframe src="https://maps.example.net/embed" title="Map"></iframe>
<a href="https://weather.example.org/">More</a>
<script>document.title = "<img src='https://none.example.org/x.png'>";</script>
</body>
</html>
"#;

const MAP_PAGE: &str = "\u{feff}<!-- A map -->\n<!doctype html>\n<html><body><p>Karte für heute</p></body></html>\n";

/// The documents. Tools have links to both; one is also listed.
pub fn documents() -> Vec<Node> {
    let forecast = json!({
        "csp": {
            "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
            "resourceDomains": ["https://*.example.com"],
            "frameDomains": ["https://maps.example.net"],
            "baseUriDomains": [],
        },
        "prefersBorder": true,
    });
    let map = json!({ "permissions": { "geolocation": {} }, "domain": "a904794854a047f6.apps.example.com" });
    vec![
        Node::text(FORECAST, "forecast", MIME, FORECAST_PAGE).with_ui(forecast),
        Node::blob(MAP, "map", MIME, MAP_PAGE.as_bytes()).with_ui(map).unlisted(),
    ]
}

/// The tools of the apps. All clients can call them.
pub static TOOLS: [Tool; 4] = [
    Tool {
        name: "forecast",
        title: "Forecast",
        description: "Says how the weather will be in a city.",
        input: || (json!({ "city": { "type": "string" } }), &[]),
        output: Some(|| json!({ "type": "object", "properties": { "degrees": { "type": "integer" } } })),
        call: |_, arguments| {
            let city = if arguments.contains_key("city") { string(arguments, "city")? } else { "Paris" };
            Ok(Outcome::Structured(json!({ "city": city, "degrees": DEGREES, "sky": "clear all day" })))
        },
        ..MAP_TOOL
    },
    Tool {
        name: "refresh_forecast",
        title: "Refresh forecast",
        description: "Says how the weather is now.",
        call: |_, _| Ok(Outcome::Content(vec![text("The weather has not changed so far.")])),
        ..MAP_TOOL
    },
    MAP_TOOL,
    Tool {
        name: "forget_city",
        title: "Forget city",
        description: "Goes back to the first city.",
        call: |_, _| Ok(Outcome::Content(vec![text("The city is Paris again.")])),
        ..MAP_TOOL
    },
];

const MAP_TOOL: Tool = Tool {
    name: "weather_map",
    title: "Weather map",
    description: "Says where it rains.",
    read_only: true,
    since: Revision::V2025_06_18,
    input: || (json!({}), &[]),
    output: None,
    call: |_, _| Ok(Outcome::Content(vec![text("It rains in the north and in the west.")])),
};

/// The `_meta.ui` of a tool.
fn of_tool(name: &str) -> Option<Value> {
    let ui = match name {
        "forecast" => json!({ "resourceUri": FORECAST }),
        // A document can belong to several tools.
        "refresh_forecast" => json!({ "resourceUri": FORECAST, "visibility": ["app"] }),
        "weather_map" => json!({ "resourceUri": MAP, "visibility": ["model", "app"] }),
        // A document can call tools that have none.
        "forget_city" => json!({ "visibility": ["app"] }),
        _ => return None,
    };
    Some(ui)
}

/// The `_meta.ui` of a tool, as this client sees it.
pub fn seen(tool: &Tool, context: &Context) -> Option<Value> {
    of_tool(tool.name).filter(|_| context.content.shows_apps_to_all || renders(&context.capabilities))
}

/// Whether the client declares that it shows documents of this type.
fn renders(capabilities: &Value) -> bool {
    let types = capabilities["extensions"][EXTENSION]["mimeTypes"].as_array();
    types.is_some_and(|types| types.iter().any(|known| known == MIME))
}
