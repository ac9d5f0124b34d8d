//! The faults of the client. Those that only change messages or headers are data (`*.yaml`, see `data`). The others are
//! rows of tables. The files group them by the rules that they violate.

mod base;
pub mod behaviour;
pub mod data;
pub mod decisions;
mod given_up;
pub mod habits;
mod lists;
pub mod memory;
mod reads;
mod resources;
mod serving;
mod simple;
mod transports;

use std::{collections::HashMap, sync::LazyLock};

use behaviour::Behaviour;

use conform_texts::CLIENT_FAULTS;

/// The rules that each fault violates besides those that name it.
pub static ALSO: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let read = |(path, text): &(&str, &str)| -> HashMap<String, Vec<String>> {
        serde_saphyr::from_str(text).unwrap_or_else(|why| panic!("{path}: {why}"))
    };
    CLIENT_FAULTS.iter().filter(|(path, _)| path.ends_with("/also.yaml")).flat_map(read).collect()
});

pub fn all() -> impl Iterator<Item = &'static Behaviour> + Clone {
    let alone = [given_up::GIVEN_UP, resources::RESOURCES, lists::LISTS, reads::READS, serving::SERVING];
    base::BASE.iter().chain(transports::TRANSPORTS).copied().chain(alone).flatten().chain(data::DATA.iter())
}

pub fn find(name: &str) -> Result<&'static Behaviour, String> {
    lookup("fault", name, all())
}

/// The behaviour of a name, or an error with the name that was probably meant.
pub fn lookup(
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'static Behaviour> + Clone,
) -> Result<&'static Behaviour, String> {
    let names = known.clone();
    known.find(|behaviour| behaviour.name == name).ok_or_else(|| {
        let close = names.map(|behaviour| (strsim::jaro_winkler(behaviour.name, name), behaviour.name));
        let closest =
            close.max_by(|(one, _), (other, _)| one.total_cmp(other)).filter(|(closeness, _)| *closeness > 0.7);
        let tip = closest.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("the reference client has no {what} `{name}`{tip}\n`mcp-conform act --list` lists all")
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::variations::VARIATIONS;

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
            assert!(is_known, "crates/reference-client/src/faults/also.yaml: unknown fault `{name}`");
        }
    }

    #[test]
    fn a_misspelt_name_is_corrected() {
        let Err(error) = find("initialized-nevr-sent") else { panic!("found") };
        assert!(error.contains("did you mean `initialized-never-sent`?"), "{error}");
    }
}
