//! The faults of the reference gateway: `faults/*.yaml`. Most only change messages, in the language of
//! [`conform_faults`].

use std::sync::LazyLock;

use serde::Deserialize;

use conform_faults::{Edit, read_all};
use conform_model::evidence::Transport;
use conform_texts::in_checkout;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fault {
    #[serde(rename = "fault")]
    pub name: String,
    pub about: String,
    /// The transports of the client over which it shows.
    #[serde(default = "everywhere")]
    pub fronts: Vec<Transport>,
    /// The transports of the upstream over which it shows.
    #[serde(default = "everywhere")]
    pub backs: Vec<Transport>,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    #[serde(default)]
    pub also: Vec<String>,
    /// The change of messages.
    #[serde(flatten)]
    pub edit: Edit,
    /// The fault only shows after an event stream without X-Accel-Buffering.
    #[serde(default)]
    pub needs_unmarked_stream: bool,
    /// Other clients that receive the messages of the upstream.
    pub to: Option<Receiver>,
    /// The upstream receives the credentials of the client.
    #[serde(default)]
    pub leaks_credentials: bool,
    /// The session of the upstream is not ended.
    #[serde(default)]
    pub keeps_session: bool,
    /// All calls have the same id.
    #[serde(default)]
    pub shares_ids: bool,
    /// Nothing is sent to the upstream after a failed HTTP exchange.
    #[serde(default)]
    pub stops_at_failure: bool,
    /// A session that the upstream no longer knows is not started again.
    #[serde(default)]
    pub keeps_dead_session: bool,
    /// The new session is started without the capabilities of the client.
    #[serde(default)]
    pub restarts_without_capabilities: bool,
    /// The new session is started in an older revision.
    #[serde(default)]
    pub restarts_in_older_revision: bool,
    /// A request without a session stays open at the upstream when the client closes it.
    #[serde(default)]
    pub keeps_closed: bool,
    /// The new session is started without notifications/initialized.
    #[serde(default)]
    pub restarts_uninitialized: bool,
    /// A list is requested once, also if it changes.
    #[serde(default)]
    pub caches_lists: bool,
    /// A stream that ends before the response is not resumed.
    #[serde(default)]
    pub resumes_nothing: bool,
    /// A stream is always resumed with the first event of it.
    #[serde(default)]
    pub resumes_first: bool,
    /// A client that ends its session ends those of all clients.
    #[serde(default)]
    pub ends_all_sessions: bool,
    /// A stream is resumed without the pause of `retry`.
    #[serde(default)]
    pub ignores_retry: bool,
    /// The exit of the upstream process is not noticed.
    #[serde(default)]
    pub ignores_exit: bool,
    /// A request is sent only after the response to the one before it.
    #[serde(default)]
    pub one_at_a_time: bool,
    /// Open requests of all clients are kept together, by id alone.
    pub keeps_by_id: Option<ById>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Receiver {
    /// The client that connected first.
    First,
    /// Every client.
    All,
}

/// The client that receives a response if several use its id.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ById {
    /// The last one; the others are forgotten.
    Last,
    /// Each in turn, in the order of their requests.
    InTurn,
}

fn everywhere() -> Vec<Transport> {
    Transport::ALL.to_vec()
}

/// A gateway without a fault.
pub static NONE: LazyLock<Fault> = LazyLock::new(Fault::default);

pub static ALL: LazyLock<Vec<Fault>> =
    LazyLock::new(|| read_all(in_checkout("crates/reference-gateway/src/faults").into_iter()));

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn faults_are_read_and_have_names_of_their_own() {
        let names: HashSet<_> = ALL.iter().map(|fault| fault.name.as_str()).collect();
        assert_eq!(names.len(), ALL.len(), "a name is used twice");
        for fault in ALL.iter() {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(fault.name.chars().all(kebab), "{} is not kebab-case", fault.name);
            assert!(!fault.about.is_empty() && !fault.about.ends_with('.'), "{}", fault.name);
            assert!(!fault.fronts.is_empty() && !fault.backs.is_empty(), "{} shows nowhere", fault.name);
        }
    }
}
