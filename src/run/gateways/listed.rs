//! The names under which a gateway lists the tools and prompts of its upstream.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use crate::evidence::List;

/// Names by the list that they are in. All clients of all scenarios share them.
#[derive(Clone, Default)]
pub struct Listed(Arc<Mutex<HashMap<&'static str, Vec<String>>>>);

impl Listed {
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// Takes the names in one page of a list.
    pub fn learn(&self, list: &List, result: &Value) {
        let items = result[list.field].as_array().into_iter().flatten();
        let names = items.filter_map(|item| item[list.name].as_str());
        let mut all = self.all();
        let known = all.entry(list.save).or_default();
        for name in names {
            if !known.iter().any(|known| known == name) {
                known.push(name.to_owned());
            }
        }
    }

    /// The listed name of what the upstream calls so: with a prefix, if the gateway puts one before names.
    pub fn name(&self, list: &str, name: &str) -> String {
        let all = self.all();
        let known = all.get(list).map(Vec::as_slice).unwrap_or_default();
        if known.iter().any(|known| known == name) {
            return name.to_owned();
        }
        let mut prefixed = known.iter().filter(|known| {
            let prefix = known.strip_suffix(name).unwrap_or_default();
            prefix.ends_with(|last: char| !last.is_alphanumeric())
        });
        match (prefixed.next(), prefixed.next()) {
            (Some(only), None) => only.clone(),
            _ => name.to_owned(),
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<&'static str, Vec<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::LISTS;

    #[test]
    fn a_name_is_the_listed_one_with_its_prefix() {
        let listed = Listed::default();
        assert_eq!(listed.name("tools", "echo"), "echo");
        listed.learn(
            &LISTS[0],
            &json!({ "tools": [{ "name": "files_echo" }, { "name": "reecho" }, { "name": "a.add" }] }),
        );
        listed.learn(&LISTS[0], &json!({ "tools": [{ "name": "b.add" }, { "name": "slow" }] }));
        assert_eq!(listed.name("tools", "echo"), "files_echo");
        assert_eq!(listed.name("tools", "slow"), "slow");
        // Which one is meant is unknown.
        assert_eq!(listed.name("tools", "add"), "add");
        assert_eq!(listed.name("prompts", "echo"), "echo");
    }
}
