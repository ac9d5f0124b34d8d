//! Differences between conforming clients.

/// Choices that the specification leaves to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Lists everything concurrently if it has no actions, and walks several directories concurrently.
    pub parallel: bool,
    /// Opens the stream of a GET.
    pub standalone_stream: bool,
    /// Continues after a notification only when the server has accepted it.
    pub awaits_acceptance: bool,
    /// Cancels requests by notification or by closing their stream.
    pub cancels: bool,
    /// Caches results for their `ttlMs`.
    pub caches: bool,
    /// Of a list, keeps only the first page.
    pub caches_first_pages: bool,
    /// Subscribes where an action says so (2026-07-28).
    pub listens: bool,
    /// Opens a new connection for each action.
    pub reconnects: bool,
    /// Sends headers and `_meta` keys of its own.
    pub own_extras: bool,
    /// Probes servers for the modern era even if a legacy revision is configured.
    pub probes: bool,
    /// Requests progress in every call.
    pub wants_progress: bool,
    /// Resumes streams that broke.
    pub resumes: bool,
    /// Pings before it closes (legacy).
    pub pings: bool,
    /// Declares every capability with all details.
    pub declares_all: bool,
    /// Declares nothing.
    pub declares_nothing: bool,
    /// Follows the pages of a list.
    pub pages: bool,
    /// Repeats reads and lists whose stream was closed (2026-07-28).
    pub reissues: bool,
    /// Ends its session with DELETE.
    pub ends_session: bool,
    /// Requests the entry of a skill again if a file does not fit it.
    pub refreshes_skills: bool,
}

impl Habits {
    pub const USUAL: Self = Self {
        parallel: false,
        standalone_stream: true,
        awaits_acceptance: true,
        cancels: true,
        caches: false,
        caches_first_pages: false,
        listens: true,
        reconnects: false,
        own_extras: false,
        probes: false,
        wants_progress: false,
        resumes: true,
        pings: false,
        declares_all: false,
        declares_nothing: false,
        pages: true,
        reissues: true,
        ends_session: true,
        refreshes_skills: false,
    };
}
