//! The options of the reference server: its revisions and proposals, and the fault that it commits.

use crate::content::Grown;
use conform_model::revision::Revision;
pub use conform_model::transport::Transport;

/// All proposals and dialects that the server supports.
pub const PROPOSALS: [&str; 3] = ["sep-2093", "sep-prefix", "dialect-versioned"];

/// The extensions that the server can serve besides tasks, which it always does.
pub const EXTENSIONS: [&str; 2] = ["skills", "apps"];

#[derive(Clone, Debug)]
pub struct Options {
    pub revisions: Vec<Revision>,
    pub fault: Option<String>,
    /// Another conforming behavior; not together with a fault.
    pub variation: Option<String>,
    /// The versioned dialect is disabled by default, because its responses have more than a released revision defines.
    pub proposals: Vec<String>,
    /// Extensions of `EXTENSIONS`. They are disabled by default: most servers have none.
    pub extensions: Vec<String>,
    /// Over HTTP a token is required.
    pub protected: bool,
    /// Generated content of any size, in addition to the usual content.
    pub content: Option<Grown>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            revisions: Revision::ALL.to_vec(),
            fault: None,
            variation: None,
            proposals: vec!["sep-2093".to_owned(), "sep-prefix".to_owned()],
            extensions: Vec::new(),
            protected: false,
            content: None,
        }
    }
}

/// The enabled proposals.
#[derive(Clone, Copy, Debug)]
pub struct Proposals {
    /// SEP-2093: metadata in contents, capabilities of resources, `resources/metadata`, scoped lists.
    pub metadata: bool,
    pub prefix: bool,
    /// The versioned dialect: `resources/get`, versions, several URIs in one subscription.
    pub versioned: bool,
    /// The skills extension, in the revisions that have extensions.
    pub skills: bool,
    /// The extension with documents for hosts.
    pub apps: bool,
}

impl Proposals {
    pub fn named(names: &[String], extensions: &[String]) -> Result<Self, String> {
        if let Some(unknown) = names.iter().find(|name| !PROPOSALS.contains(&name.as_str())) {
            return Err(format!("`{unknown}` is no proposal; known: {}", PROPOSALS.join(", ")));
        }
        let known = |name: &&String| EXTENSIONS.contains(&name.as_str()) || name.starts_with("skills:");
        if let Some(unknown) = extensions.iter().find(|name| !known(name)) {
            return Err(format!("`{unknown}` is no extension; known: {}", EXTENSIONS.join(", ")));
        }
        let on = |name: &str| names.iter().any(|given| given == name);
        Ok(Self {
            metadata: on("sep-2093"),
            prefix: on("sep-prefix"),
            versioned: on("dialect-versioned"),
            skills: extensions.iter().any(|name| name.starts_with("skills")),
            apps: extensions.iter().any(|name| name == "apps"),
        })
    }
}
