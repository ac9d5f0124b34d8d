//! The lists that a server can have, and how following one ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::End;

#[derive(Debug, PartialEq, Eq)]
pub struct List {
    pub method: &'static str,
    /// The name of the list in the survey.
    pub save: &'static str,
    /// The capability that includes it, as a JSON Pointer without its first slash.
    pub capability: &'static str,
    /// The field of the result with the items.
    pub field: &'static str,
    /// The field of an item by which requests name it.
    pub name: &'static str,
}

impl List {
    const fn new(method: &'static str, capability: &'static str, name: &'static str) -> Self {
        Self { method, save: capability, capability, field: capability, name }
    }
}

pub const LISTS: [List; 4] = [
    List::new("tools/list", "tools", "name"),
    List::new("resources/list", "resources", "uri"),
    List::new("prompts/list", "prompts", "name"),
    List {
        save: "templates",
        field: "resourceTemplates",
        ..List::new("resources/templates/list", "resources", "uriTemplate")
    },
];

/// The tasks of 2025-11-25, which only some actions of clients list.
pub const TASKS: List = List::new("tasks/list", "tasks", "taskId");

/// The list of the skills extension.
pub const SKILLS: List =
    List { capability: "extensions/io.modelcontextprotocol~1skills", ..List::new("skills/list", "skills", "uri") };

/// How a list or a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListEnd {
    Complete,
    CursorRepeats,
    PageLimit,
    TimeLimit,
    NodeLimit,
    DepthLimit,
    DiskLimit,
    /// As the request that failed.
    #[serde(untagged)]
    Request(End),
}

impl ListEnd {
    /// As a saved list or walk states it.
    pub fn of(saved: &Value) -> Option<Self> {
        Self::deserialize(saved.get("end")?).ok()
    }

    /// Whether a saved list or walk has everything.
    pub fn is_complete(saved: &Value) -> bool {
        Self::of(saved) == Some(Self::Complete)
    }

    /// The limit that was reached, as an adjective.
    pub const fn limit(self) -> Option<&'static str> {
        match self {
            Self::PageLimit => Some("page"),
            Self::TimeLimit => Some("time"),
            Self::NodeLimit => Some("node"),
            Self::DepthLimit => Some("depth"),
            Self::DiskLimit => Some("disk"),
            Self::Complete | Self::CursorRepeats | Self::Request(_) => None,
        }
    }
}
