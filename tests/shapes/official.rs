//! The official schemas, if they are available.

use std::{fs, path::Path};

use jsonschema::{Draft, Validator};
use mcp_conform::revision::Revision;
use serde_json::{Map, Value, json};

pub struct Official {
    pub revision: Revision,
    pub definitions: Map<String, Value>,
    draft: Draft,
    /// Where the definitions are: `definitions` or `$defs`.
    keyword: &'static str,
}

impl Official {
    /// Nothing, with a message, if the files do not exist.
    pub fn all() -> Vec<Self> {
        Revision::ALL.into_iter().filter_map(Self::read).collect()
    }

    fn read(revision: Revision) -> Option<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../shared/schemas/{revision}.json"));
        let Ok(text) = fs::read_to_string(&path) else {
            println!("skipped: {} is not there", path.display());
            return None;
        };
        let mut document: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let (draft, keyword) = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 | Revision::V2025_06_18 => (Draft::Draft7, "definitions"),
            Revision::V2025_11_25 | Revision::V2026_07_28 => (Draft::Draft202012, "$defs"),
        };
        let Value::Object(definitions) = document[keyword].take() else { panic!("{revision} has no {keyword}") };
        Some(Self { revision, definitions, draft, keyword })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions.keys().map(String::as_str)
    }

    pub fn schema(&self, name: &str) -> Value {
        json!({ "$ref": format!("#/{}/{name}", self.keyword), self.keyword: self.definitions })
    }

    pub fn validator(&self, name: &str) -> Validator {
        let options = jsonschema::options().with_draft(self.draft).should_validate_formats(true);
        options.build(&self.schema(name)).expect("a schema")
    }
}
