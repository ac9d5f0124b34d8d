//! The prompts: their arguments, the possible values, and the messages.

use serde_json::{Map, Value, json};

use crate::{
    content::{
        files::README,
        tools::{image, sound, text},
    },
    context::Context,
    fail::Fail,
};

/// The messages, or an error.
type Filled = Result<Vec<Value>, Fail>;

pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: &'static [Argument],
    /// Called only if all required arguments are present and all are strings.
    pub messages: fn(&Context, &Map<String, Value>) -> Filled,
}

pub struct Argument {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub required: bool,
    /// The values for completion.
    pub values: &'static [&'static str],
}

pub static PROMPTS: [Prompt; 5] = [
    Prompt {
        name: "greet",
        title: "Greet",
        description: "Greets somebody.",
        arguments: &[
            Argument {
                name: "name",
                title: "Name",
                description: "Who to greet.",
                required: true,
                values: &["Ada", "Grace", "Größe"],
            },
            Argument {
                name: "style",
                title: "Style",
                description: "How to greet.",
                required: false,
                values: &["formal", "friendly", "funny"],
            },
        ],
        messages: |_, arguments| {
            let argument = |name| arguments.get(name).and_then(Value::as_str);
            let style = argument("style").unwrap_or("friendly");
            let name = argument("name").unwrap_or_default();
            Ok(vec![
                message("user", &text(&format!("Write a {style} greeting for {name}."))),
                message("assistant", &text("Hello!")),
            ])
        },
    },
    Prompt {
        name: "review",
        title: "Review",
        description: "Reviews a document that comes with the prompt.",
        arguments: &[],
        messages: |context, _| {
            let document = context.content.find(README);
            let embedded = document.and_then(|node| context.view().embedded(&node));
            let mut messages = vec![message("user", &text("Review this document."))];
            messages.extend(embedded.map(|block| message("user", &block)));
            Ok(messages)
        },
    },
    Prompt {
        name: "illustrate",
        title: "Illustrate",
        description: "Has an image and audio content.",
        arguments: &[],
        messages: |context, _| {
            let sound = context.features().audio.then(sound);
            Ok([image()].iter().chain(&sound).map(|block| message("user", block)).collect())
        },
    },
    Prompt {
        name: "point",
        title: "Point",
        description: "Points to a document, by reference where there are links.",
        arguments: &[],
        messages: |context, _| {
            let link = context.features().resource_links.then(|| context.content.find(README)).flatten();
            let block = link.map_or_else(|| text(README), |node| context.view().link(&node));
            Ok(vec![message("user", &block)])
        },
    },
    Prompt {
        name: "broken",
        title: "Broken",
        description: "Fails each time, to show how failures look.",
        arguments: &[],
        messages: |_, _| Err(Fail::internal("This prompt always fails.")),
    },
];

pub static EXTRA: Prompt = Prompt {
    name: "extra",
    title: "Extra",
    description: "Comes and goes.",
    arguments: &[],
    messages: |_, _| Ok(vec![message("user", &text("Still here?"))]),
};

fn message(role: &str, content: &Value) -> Value {
    json!({ "role": role, "content": content })
}
