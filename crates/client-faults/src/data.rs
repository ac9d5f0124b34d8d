//! Faults as data: `*.yaml` next to this file, in the language of [`conform_faults`].

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use serde::Deserialize;

use conform_faults::{Edit, read, read_all};
use conform_reference_client::behaviour::{Behaviour, EVERYWHERE, decisions::Reaction, habits::Habits};
use conform_reference_client::options::Transport;

use crate::FILES;

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

fn everywhere() -> Vec<Transport> {
    EVERYWHERE.to_vec()
}

static FAULTS: LazyLock<Vec<DataFault>> =
    LazyLock::new(|| read_all(FILES.iter().filter(|(path, _)| !path.ends_with("/also.yaml")).copied()));

pub static DATA: LazyLock<Vec<Behaviour>> = LazyLock::new(|| FAULTS.iter().map(behaviour).collect());

fn behaviour(fault: &'static DataFault) -> Behaviour {
    Behaviour {
        since: fault.edit.since,
        until: fault.edit.until,
        edit: Some(&fault.edit),
        reaction: fault.reaction,
        habits: Habits { wants_progress: fault.wants_progress, ..Habits::USUAL },
        ..Behaviour::new(&fault.fault, &fault.about, &fault.transports)
    }
}

/// The behaviour that this text in braces defines. It is kept, as one trial starts many clients.
pub fn defined(text: &str) -> Result<&'static Behaviour, String> {
    static DEFINED: Mutex<BTreeMap<String, &'static Behaviour>> = Mutex::new(BTreeMap::new());
    let mut all = DEFINED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text) {
        return Ok(known);
    }
    let fault: &'static DataFault = Box::leak(Box::new(read(text)?));
    let behaviour: &'static Behaviour = Box::leak(Box::new(behaviour(fault)));
    all.insert(text.to_owned(), behaviour);
    Ok(behaviour)
}
