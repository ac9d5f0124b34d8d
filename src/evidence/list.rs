//! The lists that a server can have.

#[derive(Debug, PartialEq, Eq)]
pub struct List {
    pub method: &'static str,
    /// The name of the list in the survey.
    pub save: &'static str,
    /// The capability that includes it.
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
