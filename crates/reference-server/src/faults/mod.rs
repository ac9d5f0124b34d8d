//! Faults: each is one mistake of real servers, under a name.
//!
//! Faults that only change messages are data (`*.yaml`, see `data`). Faults that change the behavior are small functions
//! (see `behaviour`). Both act at the ends of the one correct code path, on received and on sent messages.

mod apps;
mod asking;
mod behaviour;
mod cursors;
mod data;
mod endings;
pub mod generated;
mod http;
mod lifecycle;
mod messages;
mod prefixes;
mod proposals;
mod reads;
mod retries;
mod scene;
mod sequels;
mod skills;
mod streams;
mod task_extension;
mod tasks;
mod tools;

use std::{mem::take, time::Duration};

use serde_json::Value;
use tokio::time::sleep;

pub use behaviour::{Batch, Behaviour, EVERYWHERE, Memory, Reading, STDIO, unlike_any_other};
pub use http::{Bodies, HttpRequest, HttpWays, Met, Misroute, Rewrite};
pub use scene::{Heard, Scene, Spoken};
pub use streams::Streaming;

use crate::{
    content::Content,
    faults::{
        apps::APP_FAULTS,
        asking::ASKING,
        cursors::CURSORS,
        data::DataFault,
        endings::ENDINGS,
        generated::{GENERATED, KEPT},
        lifecycle::LIFECYCLE,
        messages::MESSAGES,
        prefixes::PREFIXED,
        proposals::PROPOSED,
        reads::READS,
        retries::RETRIES,
        sequels::SEQUELS,
        skills::SKILL_FAULTS,
        streams::STREAMING,
        task_extension::TASK_FAULTS,
        tasks::TASKS,
        tools::TOOLS,
    },
    options::Transport,
    variations, worlds,
};
use conform_model::revision::Revision;
use conform_texts::{Text, VARIATIONS};

/// The metadata of a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultInfo {
    pub name: String,
    pub about: String,
    /// The revisions in which it can show.
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// The transports over which it can show.
    pub transports: Vec<Transport>,
    /// The proposal that has to be enabled for the fault to show.
    pub proposal: Option<String>,
    /// The extension that has to be enabled for the fault to show.
    pub extension: Option<String>,
    /// The fault only shows on a protected server.
    pub protected: bool,
    /// The fault only shows on the authorization server of a protected server.
    pub authority: bool,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: Vec<String>,
    /// The message of the server, if it exits before it reads anything.
    pub stops: Option<&'static str>,
    /// The suites that are run; all if there are none.
    pub suites: &'static [&'static str],
    /// The terms that select the profiles of hosts which judge it; empty: none.
    pub hosts: Vec<String>,
    /// The usual facts about the reference server do not apply.
    pub without_facts: bool,
}

/// All faults, in the order of the files.
pub fn faults() -> Vec<FaultInfo> {
    listed(data::faults(), behaviours())
}

/// Faults that are data, then those that are code.
pub fn listed(
    texts: impl Iterator<Item = Text>,
    behaviours: impl Iterator<Item = &'static Behaviour>,
) -> Vec<FaultInfo> {
    let written = data::files(texts).into_iter().flat_map(|(_, faults)| faults.unwrap_or_default());
    written.map(|fault| fault.info()).chain(behaviours.map(Behaviour::info)).collect()
}

/// Faults that are code, by file.
static BEHAVIOUR_FILES: &[&[Behaviour]] = &[
    MESSAGES,
    CURSORS,
    READS,
    PREFIXED,
    PROPOSED,
    SEQUELS,
    SKILL_FAULTS,
    APP_FAULTS,
    ENDINGS,
    LIFECYCLE,
    STREAMING,
    TOOLS,
    TASKS,
    TASK_FAULTS,
    ASKING,
    RETRIES,
    GENERATED,
    KEPT,
];

fn behaviours() -> impl Iterator<Item = &'static Behaviour> {
    BEHAVIOUR_FILES.iter().copied().flatten()
}

/// The fault of this server, with its state.
#[derive(Default)]
pub struct Faults {
    committed: Option<Committed>,
    memory: Memory,
}

enum Committed {
    Data(Box<DataFault>),
    Behaviour(&'static Behaviour),
}

impl Faults {
    pub fn commit(fault: Option<&str>, variation: Option<&str>, content: &mut Content) -> Result<Self, String> {
        let committed = match (fault, variation) {
            (Some(name), _) => found(name, "fault", data::faults(), behaviours())?,
            (None, Some(name)) => {
                let texts = VARIATIONS.iter().copied();
                found(name, "variation", texts, variations::behaviours().chain(worlds::behaviours()))?
            }
            (None, None) => return Ok(Self::default()),
        };
        if let Committed::Behaviour(Behaviour { prepare: Some(prepare), .. }) = committed {
            prepare(content);
        }
        Ok(Self { committed: Some(committed), memory: Memory::default() })
    }

    /// Runs before anything is read.
    pub async fn start(&self) -> Result<(), String> {
        let Some(behaviour) = self.behaviour() else { return Ok(()) };
        sleep(behaviour.start).await;
        behaviour.ends_at_start.map_or(Ok(()), |why| Err(why.to_owned()))
    }

    /// The text to write to stderr now.
    pub fn stderr(&mut self) -> Vec<u8> {
        [take(&mut self.memory.stderr).into_bytes(), take(&mut self.memory.stderr_bytes)].concat()
    }

    /// The additional delay of the next response.
    pub fn delay(&mut self) -> Duration {
        self.memory.responses += 1;
        self.behaviour().map_or(Duration::ZERO, |behaviour| (behaviour.delay)(self.memory.responses))
    }

    /// The text to print before anything is received.
    pub fn banner(&self) -> Option<&'static str> {
        self.behaviour()?.banner
    }

    /// How stdin is read.
    pub fn reading(&self) -> Reading {
        self.behaviour().map_or(Reading::ByLine, |behaviour| behaviour.reading)
    }

    /// Whether work on a request continues after it was cancelled.
    pub fn works_on(&self) -> bool {
        self.behaviour().is_some_and(|behaviour| behaviour.works_on)
    }

    /// Whether a cancelled request still gets a response.
    pub fn answers_cancelled(&self) -> bool {
        self.behaviour().is_some_and(|behaviour| behaviour.answers_cancelled)
    }

    /// Whether the stream of a subscription ends after its acknowledgement.
    pub fn cuts_streams(&self) -> bool {
        self.behaviour().is_some_and(|behaviour| behaviour.cuts_streams)
    }

    /// Whether the process keeps running when stdin is closed.
    pub fn outlives_stdin(&self) -> Duration {
        self.behaviour().map_or(Duration::ZERO, |behaviour| behaviour.outlives_stdin)
    }

    /// Whether the newline after a message is written with the next one.
    pub fn holds_newlines(&self) -> bool {
        self.behaviour().is_some_and(|behaviour| behaviour.holds_newlines)
    }

    /// Whether messages are written in small pieces.
    pub fn writes_pieces(&self) -> bool {
        self.behaviour().is_some_and(|behaviour| behaviour.pieces)
    }

    /// The deviation of event streams.
    pub fn streaming(&self) -> Option<Streaming> {
        self.behaviour()?.streaming
    }

    /// How messages are sent over Streamable HTTP.
    pub fn ways(&self) -> HttpWays {
        self.behaviour().map_or(HttpWays::USUAL, |behaviour| behaviour.ways)
    }

    /// How a valid batch is handled.
    pub fn batch(&self) -> Option<Batch> {
        self.behaviour()?.batch
    }

    /// Called for bytes that are not JSON.
    pub fn hear_noise(&mut self, transport: Transport, bytes: &[u8]) -> Heard {
        match self.behaviour().filter(|behaviour| behaviour.shows(transport)).and_then(|behaviour| behaviour.noise) {
            Some(noise) => noise(&mut self.memory, bytes),
            None => Heard::Message,
        }
    }

    /// Called for a received message, which may be changed.
    pub fn hear(&mut self, scene: &Scene, message: &mut Value) -> Heard {
        match &mut self.committed {
            Some(Committed::Data(fault)) => fault.hear(scene, message),
            Some(Committed::Behaviour(behaviour)) if behaviour.shows(scene.transport) => {
                return behaviour.hear.map_or(Heard::Message, |hear| hear(&mut self.memory, message));
            }
            _ => {}
        }
        Heard::Message
    }

    /// Called for a message to be sent, which may become another one, several or none.
    pub fn say(&mut self, scene: &Scene, mut message: Value) -> Vec<Spoken> {
        match &mut self.committed {
            Some(Committed::Data(fault)) => fault.say(scene, message),
            Some(Committed::Behaviour(behaviour)) if behaviour.shows(scene.transport) => {
                if behaviour.say.is_some_and(|say| !say(&mut self.memory, scene, &mut message)) {
                    return Vec::new();
                }
                let around = behaviour.around.map(|around| around(&mut self.memory, scene, &message));
                let (before, after) = around.unwrap_or_default();
                let spoken = |message: &Value| {
                    behaviour.spell.map_or_else(|| Spoken::plain(message), |spell| Spoken::raw(spell(message)))
                };
                before.iter().chain([&message]).chain(&after).map(spoken).collect()
            }
            _ => vec![Spoken::plain(&message)],
        }
    }

    fn behaviour(&self) -> Option<&'static Behaviour> {
        match self.committed {
            Some(Committed::Behaviour(behaviour)) => Some(behaviour),
            _ => None,
        }
    }
}

/// The fault or variation of that name.
fn found(
    name: &str,
    kind: &str,
    texts: impl Iterator<Item = Text>,
    mut behaviours: impl Iterator<Item = &'static Behaviour>,
) -> Result<Committed, String> {
    if let Some(behaviour) = behaviours.find(|behaviour| behaviour.name == name) {
        return Ok(Committed::Behaviour(behaviour));
    }
    let written = data::find(name, texts)?.map(|fault| Committed::Data(Box::new(fault)));
    written.ok_or_else(|| format!("`{name}` is no {kind} of the reference server"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_is_read_and_every_name_is_used_once() {
        for (file, faults) in data::files(data::faults().chain(VARIATIONS.iter().copied())) {
            let faults = faults.unwrap_or_else(|why| panic!("{file}: {why}"));
            for fault in &faults {
                assert_eq!(fault.flaw(), None, "{file}: {}", fault.name());
            }
        }
        let all: Vec<_> = faults().into_iter().chain(variations::variations()).chain(worlds::worlds()).collect();
        let names: BTreeSet<_> = all.iter().map(|fault| fault.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "a name is used twice");
        for fault in &all {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(fault.name.chars().all(kebab), "{} is not kebab-case", fault.name);
            assert!(!fault.about.is_empty() && !fault.about.contains('\n'), "{}: `about` is one line", fault.name);
            assert!(!fault.transports.is_empty(), "{} shows nowhere", fault.name);
        }
    }

    #[test]
    fn an_unknown_fault_is_refused() {
        assert!(Faults::commit(Some("no-such-fault"), None, &mut Content::new(None)).is_err());
        assert!(Faults::commit(None, Some("no-such-variation"), &mut Content::new(None)).is_err());
    }
}
