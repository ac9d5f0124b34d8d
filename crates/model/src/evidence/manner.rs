//! How a client responds to requests of the server.

/// The client's responses to server requests while its own request is open. Since 2026-07-28 they need a retry of that
/// request, and without a manner there is no retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Provides everything, with minimal valid values.
    Accept,
    /// The user declines, and the client declines for the user.
    Decline,
    Cancel,
    /// Returns an error. Since 2026-07-28 an input response cannot be an error, so it does not respond.
    Refuse,
    /// Sends something that is not a response.
    Wrong,
    /// Sends a response that does not match the request.
    Unfit,
    /// Submits an empty form; everything else is provided.
    Empty,
    /// The model requests tools again and again.
    Tireless,
    /// Repeats the request without any response.
    Nothing,
    /// Responds only to the first of several requests.
    Part,
    /// Sends more responses than requested.
    Extra,
    /// Changes one character of each state.
    Forged,
    /// Changes the arguments with each retry, while the state is of those before.
    Moved,
    /// Sends a state that the server never created.
    Garbage,
}
