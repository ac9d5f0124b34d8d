//! The features of each revision. Every difference between revisions that is not a rule of a suite is in this table.

use super::Revision;

/// The features that differ between revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// No handshake, no session: every request carries its own `_meta`.
    pub stateless: bool,
    /// HTTP requests have `MCP-Protocol-Version`.
    pub version_header: bool,
    /// A JSON array may contain several messages.
    pub batches: bool,
    /// An error for a message without a readable id has `id: null`, as in JSON-RPC.
    pub null_id: bool,
    /// A server may close the stream of a request before its response, and the client resumes it.
    pub polling: bool,
    /// Streams begin with an event from which they can be resumed.
    pub primed_streams: bool,
    /// The metadata of an authorization server is first requested at the root of the server's host.
    pub metadata_at_root: bool,
    /// `tasks/*` and `params.task`, as part of the protocol.
    pub tasks: bool,
    /// `elicitation/create`
    pub elicitation: bool,
    /// Modes of elicitation and parts of sampling, each declared by the client.
    pub capability_details: bool,
    /// Enumerations in a form may have titles and allow several values.
    pub rich_forms: bool,
    /// The capability `completions`.
    pub completions_capability: bool,
    /// `message` in progress notifications.
    pub progress_message: bool,
    pub audio: bool,
    pub tool_annotations: bool,
    /// `title` of list items, and of the server.
    pub titles: bool,
    pub resource_links: bool,
    /// `outputSchema` and `structuredContent`.
    pub structured_output: bool,
    /// `annotations.lastModified`
    pub last_modified: bool,
    pub icons: bool,
    /// A prefix in `_meta` is reserved by its second label; before, by the last but one.
    pub reserved_second_label: bool,
}

/// The oldest revision; each other row states what it adds to the previous one, and what it removes.
const V2024_11_05: Features = Features {
    stateless: false,
    version_header: false,
    batches: false,
    null_id: true,
    polling: false,
    primed_streams: false,
    metadata_at_root: false,
    tasks: false,
    elicitation: false,
    capability_details: false,
    rich_forms: false,
    completions_capability: false,
    progress_message: false,
    audio: false,
    tool_annotations: false,
    titles: false,
    resource_links: false,
    structured_output: false,
    last_modified: false,
    icons: false,
    reserved_second_label: false,
};

const V2025_03_26: Features = Features {
    batches: true,
    metadata_at_root: true,
    completions_capability: true,
    progress_message: true,
    audio: true,
    tool_annotations: true,
    ..V2024_11_05
};

const V2025_06_18: Features = Features {
    batches: false,
    metadata_at_root: false,
    version_header: true,
    elicitation: true,
    titles: true,
    resource_links: true,
    structured_output: true,
    last_modified: true,
    ..V2025_03_26
};

const V2025_11_25: Features = Features {
    null_id: false,
    polling: true,
    primed_streams: true,
    tasks: true,
    capability_details: true,
    rich_forms: true,
    icons: true,
    reserved_second_label: true,
    ..V2025_06_18
};

const V2026_07_28: Features = Features { stateless: true, polling: false, tasks: false, ..V2025_11_25 };

impl Revision {
    pub const fn features(self) -> &'static Features {
        match self {
            Self::V2024_11_05 => &V2024_11_05,
            Self::V2025_03_26 => &V2025_03_26,
            Self::V2025_06_18 => &V2025_06_18,
            Self::V2025_11_25 => &V2025_11_25,
            Self::V2026_07_28 => &V2026_07_28,
        }
    }

    /// Stateless: no handshake, no session, every request carries its own `_meta`.
    pub const fn is_modern(self) -> bool {
        self.features().stateless
    }

    /// A request without side effects that every server of this revision has to serve.
    pub const fn required_request(self) -> &'static str {
        if self.is_modern() { "server/discover" } else { "ping" }
    }
}
