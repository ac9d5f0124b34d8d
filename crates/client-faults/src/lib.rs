//! The faults of the client. Those that only change messages or headers are data (`*.yaml`, see `data`). The others are
//! rows of tables. The files group them by the rules that they violate.
//!
//! It uses `conform-reference-client`, whose `behaviour` has the hooks, and `conform-faults`.

mod base;
pub mod data;
mod features;
mod given_up;
mod lists;
mod oauth;
mod outputs;
mod reads;
mod resources;
mod rounds;
mod serving;
mod simple;
mod skills;
mod tasks;
mod transports;

use std::{collections::HashMap, sync::LazyLock};

use conform_model::revision::Revision;
use conform_reference_client::{
    Transport,
    behaviour::{Behaviour, lookup},
    variations::{self, VARIATIONS},
};
use conform_texts::{Text, in_checkout};

static FILES: LazyLock<Vec<Text>> = LazyLock::new(|| in_checkout("crates/client-faults/src"));

/// The rules that each fault violates besides those that name it.
static ALSO: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let read = |(path, text): &Text| -> HashMap<String, Vec<String>> {
        serde_saphyr::from_str(text).unwrap_or_else(|why| panic!("{path}: {why}"))
    };
    FILES.iter().filter(|(path, _)| path.ends_with("/also.yaml")).flat_map(read).collect()
});

/// A fault or variation, for lists.
#[derive(Clone, Debug)]
pub struct Info {
    pub name: &'static str,
    pub about: &'static str,
    pub transports: &'static [Transport],
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: Vec<String>,
}

fn info(behaviour: &'static Behaviour) -> Info {
    let Behaviour { name, about, transports, since, until, .. } = *behaviour;
    Info { name, about, transports, since, until, also: ALSO.get(name).cloned().unwrap_or_default() }
}

pub fn faults() -> Vec<Info> {
    all().map(info).collect()
}

pub fn variations() -> Vec<Info> {
    VARIATIONS.iter().map(info).collect()
}

fn all() -> impl Iterator<Item = &'static Behaviour> + Clone {
    let alone = [
        given_up::GIVEN_UP,
        resources::RESOURCES,
        lists::LISTS,
        reads::READS,
        serving::SERVING,
        features::FEATURES,
        outputs::OUTPUTS,
        rounds::ROUNDS,
        skills::SKILLS,
        tasks::TASKS,
    ];
    base::BASE
        .iter()
        .chain(transports::TRANSPORTS)
        .chain(oauth::OAUTH)
        .copied()
        .chain(alone)
        .flatten()
        .chain(data::DATA.iter())
}

/// The behaviour of a client with that fault or variation, or without any. A fault is a name, or its definition in braces.
pub fn behaviour(fault: Option<&str>, variation: Option<&str>) -> Result<&'static Behaviour, String> {
    match (fault, variation) {
        (Some(text), _) if text.starts_with('{') => data::defined(text),
        (Some(name), _) => lookup("fault", name, all()),
        (None, Some(name)) => variations::find(name),
        (None, None) => Ok(&Behaviour::USUAL),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        let mut seen = HashSet::new();
        for behaviour in all().chain(VARIATIONS) {
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            assert!(behaviour.name.bytes().all(fits), "{}", behaviour.name);
            assert!(!behaviour.name.starts_with('-') && !behaviour.name.ends_with('-'), "{}", behaviour.name);
            assert!(seen.insert(behaviour.name), "{} is there twice", behaviour.name);
            assert!(!behaviour.about.is_empty() && !behaviour.about.contains('\n'), "{}", behaviour.name);
            assert!(!behaviour.about.ends_with('.'), "{}: no full stop", behaviour.name);
            assert!(!behaviour.transports.is_empty(), "{}", behaviour.name);
            assert!(behaviour.since.is_none_or(|since| behaviour.until.is_none_or(|until| since <= until)));
        }
    }

    #[test]
    fn what_else_breaks_is_about_known_faults() {
        for name in ALSO.keys() {
            let is_known = all().chain(VARIATIONS).any(|behaviour| behaviour.name == name);
            assert!(is_known, "crates/client-faults/src/also.yaml: unknown fault `{name}`");
        }
    }

    #[test]
    fn a_misspelt_name_is_corrected() {
        let Err(error) = behaviour(Some("initialized-nevr-sent"), None) else { panic!("found") };
        assert!(error.contains("did you mean `initialized-never-sent`?"), "{error}");
    }
}
