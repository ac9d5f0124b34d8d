//! The form of a resource in each revision: fields that a revision does not define are omitted.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{
    content::{Body, Content, Data, Format, Node},
    options::Proposals,
};
use conform_model::revision::Revision;

/// 2026-01-15T12:00:00Z; each edit adds a minute, so that runs can be compared.
const FIRST_MODIFIED: i64 = 1_768_478_400;
const ICON: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
/// Maximum number of children in a read of a directory; the list has all of them.
const CHILDREN_READ: usize = 4;

#[derive(Clone, Copy, Debug)]
pub struct View {
    pub revision: Revision,
    pub proposals: Proposals,
}

impl View {
    /// The resource in the form of lists, links and `resources/metadata`.
    pub fn resource(self, node: &Node) -> Map<String, Value> {
        let mut told = Map::new();
        let mut tell = |name: &str, value: Value| drop(told.insert(name.to_owned(), value));
        tell("uri", json!(node.uri));
        tell("name", json!(node.name));
        if let Some(title) = node.title.filter(|_| self.revision.features().titles) {
            tell("title", json!(title));
        }
        if let Some(description) = node.description {
            tell("description", json!(description));
        }
        if node.icon && self.revision.features().icons {
            tell("icons", icons());
        }
        match &node.body {
            Body::Leaf(formats) => {
                if let Some(format) = formats.first() {
                    tell("mimeType", json!(format.mime));
                    tell("size", json!(format.data.size()));
                }
            }
            Body::Directory(_) => tell("mimeType", json!("inode/directory")),
        }
        if let Some(annotations) = self.annotations(node) {
            tell("annotations", annotations);
        }
        if self.proposals.metadata {
            tell("capabilities", json!({ "list": node.listable(), "subscribe": node.changes }));
        }
        if self.proposals.versioned {
            tell("kind", json!(if node.listable() { "directory" } else { "file" }));
            tell("version", json!(format!("v{}", node.edits + 1)));
            tell("metadata", json!({ "origin": "reference" }));
        }
        told
    }

    pub fn annotations(self, node: &Node) -> Option<Value> {
        let mut annotations = Map::new();
        if !node.audience.is_empty() {
            annotations.insert("audience".to_owned(), json!(node.audience));
        }
        if let Some(priority) = node.priority {
            annotations.insert("priority".to_owned(), json!(priority));
        }
        if self.revision.features().last_modified && (node.changes || node.priority.is_some()) {
            let seconds = FIRST_MODIFIED + 60 * i64::try_from(node.edits).unwrap_or_default();
            if let Ok(modified) = Timestamp::from_second(seconds) {
                annotations.insert("lastModified".to_owned(), json!(modified.to_string()));
            }
        }
        (!annotations.is_empty()).then(|| annotations.into())
    }

    /// The full result of a read: every format of a file; for a directory its listing and some of its files.
    pub fn contents(self, node: &Node, content: &Content) -> Vec<Value> {
        match &node.body {
            Body::Leaf(formats) => formats.iter().map(|format| self.content(node, format)).collect(),
            Body::Directory(children) => {
                let listing = Format { mime: "inode/directory", data: Data::Text(children.join("\n")) };
                let files = children.iter().filter_map(|uri| content.find(uri)).filter(|child| !child.listable());
                let files: Vec<_> = files.take(CHILDREN_READ).collect();
                let formats = files.iter().filter_map(|file| self.first_content(file));
                std::iter::once(self.content(node, &listing)).chain(formats).collect()
            }
        }
    }

    /// Only the preferred format, for embedded resources.
    pub fn first_content(self, node: &Node) -> Option<Value> {
        match &node.body {
            Body::Leaf(formats) => formats.first().map(|format| self.content(node, format)),
            Body::Directory(_) => None,
        }
    }

    fn content(self, node: &Node, format: &Format) -> Value {
        let mut told = Map::new();
        if self.proposals.metadata {
            told = self.resource(node);
            told.insert("size".to_owned(), json!(format.data.size()));
        } else {
            told.insert("uri".to_owned(), json!(node.uri));
        }
        told.insert("mimeType".to_owned(), json!(format.mime));
        match &format.data {
            Data::Text(text) => told.insert("text".to_owned(), json!(text)),
            Data::Blob(bytes) => told.insert("blob".to_owned(), json!(STANDARD.encode(bytes))),
        };
        if let Some(ui) = &node.ui {
            told.insert("_meta".to_owned(), json!({ "ui": ui }));
        }
        told.into()
    }

    /// With SEP-2093 annotations are in the embedded resource, otherwise in the block.
    pub fn embedded(self, node: &Node) -> Option<Value> {
        let mut block = json!({ "type": "resource", "resource": self.first_content(node)? });
        if let Some(annotations) = self.annotations(node).filter(|_| !self.proposals.metadata) {
            block["annotations"] = annotations;
        }
        Some(block)
    }

    pub fn link(self, node: &Node) -> Value {
        let mut block = Map::new();
        block.insert("type".to_owned(), json!("resource_link"));
        block.extend(self.resource(node));
        block.into()
    }
}

pub fn icons() -> Value {
    json!([{ "src": ICON, "mimeType": "image/svg+xml", "sizes": ["any"] }])
}
