//! How a client behaves that is asked for something.

/// How the client answers what the server asks it while a request is under way. Since 2026-07-28 that takes a retry of
/// the request; without a manner there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Everything is given, with the least that fits.
    Accept,
    /// The user says no, and so does the client for the user.
    Decline,
    Cancel,
    /// By an error; since 2026-07-28 there is none, so nothing is answered.
    Refuse,
    /// By what is no response at all.
    Wrong,
    /// By a response that does not fit what was asked for.
    Unfit,
    /// By a form in which nothing is filled in; everything else is given.
    Empty,
    /// The model wishes for tools again and again.
    Tireless,
    /// The request alone once more.
    Nothing,
    /// Only the first of several.
    Part,
    /// More than was asked for.
    Extra,
    /// With a state that is changed in one character.
    Forged,
    /// With a state that the server never made.
    Garbage,
}
