//! Skills that a world makes itself.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    content::skills::{manifest_of, short_name},
    faults::{Heard, Memory, Met},
    worlds::made::{error, method, page, result, uri},
};

/// One that nothing listens at, for transports without HTTP.
const NO_HOST: &str = "127.0.0.1:9";

type Bytes = Vec<u8>;

pub struct File {
    uri: String,
    bytes: Bytes,
    /// What is served, if it differs.
    served: Option<Bytes>,
    blob: bool,
    listed: bool,
}

/// One skill, and what is wrong with it.
pub struct Skill {
    root: String,
    /// The lines of its front matter.
    pub header: String,
    /// The front matter in the entry.
    pub frontmatter: Value,
    body: String,
    files: Vec<File>,
    dynamic: bool,
    md: fn(Bytes) -> Bytes,
    md_served: Option<fn(Bytes) -> Bytes>,
    md_blob: bool,
    change: fn(&mut Value),
}

pub fn skill(root: &str, description: &str) -> Skill {
    let name = short_name(root);
    Skill {
        root: root.to_owned(),
        header: format!("name: {name}\ndescription: {description}\n"),
        frontmatter: json!({ "name": name, "description": description }),
        body: format!("# {name}\n"),
        files: Vec::new(),
        dynamic: false,
        md: |bytes| bytes,
        md_served: None,
        md_blob: false,
        change: |_| (),
    }
}

impl Skill {
    pub fn text(self, path: &str, text: &str) -> Self {
        self.file(path, text.as_bytes().to_vec(), false, None)
    }

    pub fn blob(self, path: &str, bytes: &[u8]) -> Self {
        self.file(path, bytes.to_vec(), true, None)
    }

    fn file(mut self, path: &str, bytes: Bytes, blob: bool, served: Option<Bytes>) -> Self {
        let uri = format!("{}/{path}", self.root);
        self.files.push(File { uri, bytes, served, blob, listed: true });
        self
    }

    /// A file that is served with other bytes than described.
    pub fn differing(self, path: &str, bytes: &[u8], served: &[u8], blob: bool) -> Self {
        self.file(path, bytes.to_vec(), blob, Some(served.to_vec()))
    }

    /// A file that the entry does not list.
    pub fn unlisted(self, path: &str, text: &str) -> Self {
        let mut skill = self.text(path, text);
        skill.files.iter_mut().next_back().into_iter().for_each(|file| file.listed = false);
        skill
    }

    /// More lines of front matter, which the entry has as well.
    pub fn with(mut self, lines: &str, fields: Value) -> Self {
        self.header += lines;
        if let (Some(all), Value::Object(fields)) = (self.frontmatter.as_object_mut(), fields) {
            all.extend(fields);
        }
        self
    }

    /// The whole front matter.
    pub fn headed(mut self, header: &str, frontmatter: Value) -> Self {
        (self.header, self.frontmatter) = (header.to_owned(), frontmatter);
        self
    }

    pub fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    pub fn dynamic(self) -> Self {
        Self { dynamic: true, ..self }
    }

    /// The bytes of SKILL.md.
    pub fn md(self, md: fn(Bytes) -> Bytes) -> Self {
        Self { md, ..self }
    }

    /// SKILL.md is served with other bytes than described.
    pub fn md_served(self, served: fn(Bytes) -> Bytes) -> Self {
        Self { md_served: Some(served), ..self }
    }

    pub fn md_as_blob(self) -> Self {
        Self { md_blob: true, ..self }
    }

    pub fn changed(self, change: fn(&mut Value)) -> Self {
        Self { change, ..self }
    }

    pub fn uri(&self) -> String {
        format!("{}/SKILL.md", self.root)
    }

    fn md_bytes(&self) -> Bytes {
        (self.md)(format!("---\n{}---\n\n{}", self.header, self.body).into_bytes())
    }

    pub fn entry(&self) -> Value {
        let md = manifest_of(&self.uri(), &self.md_bytes());
        let files = self.files.iter().filter(|file| file.listed).map(|file| manifest_of(&file.uri, &file.bytes));
        let resources = if self.dynamic { json!("dynamic") } else { std::iter::once(md).chain(files).collect() };
        let mut entry = json!({ "uri": self.uri(), "frontmatter": self.frontmatter, "resources": resources });
        (self.change)(&mut entry);
        entry
    }

    /// The content of a file.
    fn read(&self, uri: &str) -> Option<Value> {
        let content = |bytes: &[u8], blob: bool| match std::str::from_utf8(bytes) {
            Ok(text) if !blob => json!({ "uri": uri, "mimeType": "text/markdown", "text": text }),
            _ => json!({ "uri": uri, "mimeType": "application/octet-stream", "blob": STANDARD.encode(bytes) }),
        };
        if uri == self.uri() {
            let bytes = self.md_bytes();
            return Some(content(&self.md_served.map_or(bytes.clone(), |served| served(bytes)), self.md_blob));
        }
        let file = self.files.iter().find(|file| file.uri == uri)?;
        Some(content(file.served.as_ref().unwrap_or(&file.bytes), file.blob))
    }
}

/// The host that the client connected to, which skills of a world may name.
pub fn remember_host(memory: &mut Memory, request: &Value) -> Met {
    memory.said.insert("host", request["headers"]["host"].clone());
    Met::Served
}

pub fn host(memory: &Memory) -> &str {
    memory.said.get("host").and_then(Value::as_str).unwrap_or(NO_HOST)
}

pub fn entries(skills: &[&Skill]) -> Vec<Value> {
    skills.iter().map(|skill| skill.entry()).collect()
}

/// Serves these skills. Only those in `pages` are listed.
pub fn serve(message: &Value, pages: &[(&str, Vec<Value>)], skills: &[Skill]) -> Heard {
    let asked = uri(message);
    match method(message) {
        "skills/list" => match page(message, "skills", pages) {
            Heard::Answered(mut response) if response.get("result").is_some() => {
                response["result"]["ttlMs"] = json!(300_000);
                Heard::Answered(response)
            }
            heard => heard,
        },
        "skills/get" => match skills.iter().find(|skill| skill.uri() == asked) {
            Some(skill) => result(message, json!({ "skill": skill.entry() })),
            None => error(message, -32602, "There is no such skill"),
        },
        "resources/read" => match skills.iter().find_map(|skill| skill.read(asked)) {
            Some(content) => result(message, json!({ "contents": [content] })),
            None => Heard::Message,
        },
        _ => Heard::Message,
    }
}
