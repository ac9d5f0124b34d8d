//! What one conforming client does and another one does not.

/// Choices that the specification leaves to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Lists everything at once when it was given no actions, and walks several directories at once.
    pub parallel: bool,
    /// Does only what it is told: no stream of a GET, no discovery besides the probe.
    pub standalone_stream: bool,
    /// Goes on after a notification before the server has accepted it.
    pub awaits_acceptance: bool,
    /// Gives requests up by notification or by closing their stream.
    pub cancels: bool,
    /// Keeps results for their `ttlMs`.
    pub caches: bool,
    /// Of a list, keeps only the first page.
    pub caches_first_pages: bool,
    /// Subscribes where it is told to (2026-07-28).
    pub listens: bool,
    /// Opens a new connection for each action.
    pub reconnects: bool,
    /// Sends headers and `_meta` keys of its own.
    pub own_extras: bool,
    /// Probes servers for the modern era even if a legacy revision is configured.
    pub probes: bool,
    /// Asks for progress in every call.
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
    /// Sends reads and lists again whose stream broke (2026-07-28).
    pub reissues: bool,
    /// Ends its session with DELETE.
    pub ends_session: bool,
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
    };
}
