//! Faults as data: `faults/*.yaml`, in the language of `reference::faults`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{
    behaviour::{Behaviour, EVERYWHERE},
    decisions::Heard,
    habits::Habits,
};
use crate::options::Transport;
use conform_faults::{Edit, read_all};
use conform_texts::CLIENT_FAULTS;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DataFault {
    fault: String,
    about: String,
    /// The transports over which it shows.
    #[serde(default = "everywhere")]
    transports: Vec<Transport>,
    /// The change of messages.
    #[serde(flatten)]
    edit: Edit,
    /// The reaction to a message that is received.
    reaction: Option<Reaction>,
    /// Every call requests progress.
    #[serde(default)]
    wants_progress: bool,
}

/// What the client does at a message that the fault selects.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// All open requests fail.
    Fail,
    /// The connection is closed in order.
    Disconnect,
    /// Nothing is handled any more; requests time out.
    Deaf,
    /// Nothing is handled any more, and requests wait forever.
    Hang,
}

impl From<Reaction> for Heard {
    fn from(reaction: Reaction) -> Self {
        match reaction {
            Reaction::Fail => Self::Fail,
            Reaction::Disconnect => Self::Disconnect,
            Reaction::Deaf => Self::Deaf,
            Reaction::Hang => Self::Hang,
        }
    }
}

fn everywhere() -> Vec<Transport> {
    EVERYWHERE.to_vec()
}

static FAULTS: LazyLock<Vec<DataFault>> =
    LazyLock::new(|| read_all(CLIENT_FAULTS.iter().filter(|(path, _)| !path.ends_with("/also.yaml")).copied()));

pub static DATA: LazyLock<Vec<Behaviour>> = LazyLock::new(|| {
    let behaviour = |fault: &'static DataFault| Behaviour {
        since: fault.edit.since,
        until: fault.edit.until,
        edit: Some(&fault.edit),
        reaction: fault.reaction,
        habits: Habits { wants_progress: fault.wants_progress, ..Habits::USUAL },
        ..Behaviour::new(&fault.fault, &fault.about, &fault.transports)
    };
    FAULTS.iter().map(behaviour).collect()
});
