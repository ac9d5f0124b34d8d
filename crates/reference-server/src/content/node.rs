//! One resource of the content, with the fields of all revisions.

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Node {
    pub uri: String,
    pub name: String,
    pub title: Option<&'static str>,
    pub description: Option<&'static str>,
    pub audience: &'static [&'static str],
    pub priority: Option<f64>,
    pub icon: bool,
    /// Whether it is in the default list; other resources are found as children, by a template or by a link.
    pub listed: bool,
    /// Whether a tool can change it, so that a subscription is useful.
    pub changes: bool,
    /// The number of changes.
    pub edits: u64,
    /// The `_meta.ui` of its contents.
    pub ui: Option<Value>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// The same content in one or more formats, the preferred one first.
    Leaf(Vec<Format>),
    /// The URIs of the direct children.
    Directory(Vec<String>),
}

#[derive(Clone, Debug)]
pub struct Format {
    pub mime: &'static str,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub enum Data {
    Text(String),
    Blob(&'static [u8]),
}

impl Data {
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }
}

impl Node {
    fn new(uri: impl Into<String>, name: impl Into<String>, body: Body) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            audience: &[],
            priority: None,
            icon: false,
            listed: true,
            changes: false,
            edits: 0,
            ui: None,
            body,
        }
    }

    pub fn text(uri: impl Into<String>, name: impl Into<String>, mime: &'static str, text: impl Into<String>) -> Self {
        Self::new(uri, name, Body::Leaf(vec![Format { mime, data: Data::Text(text.into()) }]))
    }

    pub fn blob(uri: impl Into<String>, name: impl Into<String>, mime: &'static str, bytes: &'static [u8]) -> Self {
        Self::new(uri, name, Body::Leaf(vec![Format { mime, data: Data::Blob(bytes) }]))
    }

    pub fn directory(uri: impl Into<String>, name: impl Into<String>, children: &[&str]) -> Self {
        let children = children.iter().map(|&child| child.to_owned()).collect();
        Self::new(uri, name, Body::Directory(children))
    }

    pub fn titled(self, title: &'static str) -> Self {
        Self { title: Some(title), ..self }
    }

    pub fn described(self, description: &'static str) -> Self {
        Self { description: Some(description), ..self }
    }

    pub fn for_audience(self, audience: &'static [&'static str], priority: f64) -> Self {
        Self { audience, priority: Some(priority), ..self }
    }

    pub fn with_icon(self) -> Self {
        Self { icon: true, ..self }
    }

    pub fn with_format(mut self, mime: &'static str, data: Data) -> Self {
        if let Body::Leaf(formats) = &mut self.body {
            formats.push(Format { mime, data });
        }
        self
    }

    pub fn with_ui(self, ui: Value) -> Self {
        Self { ui: Some(ui), ..self }
    }

    pub fn unlisted(self) -> Self {
        Self { listed: false, ..self }
    }

    pub fn changing(self) -> Self {
        Self { changes: true, ..self }
    }

    pub fn listable(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }
}
