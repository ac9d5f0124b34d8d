//! No text in a value matches a regular expression.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use regex::Regex;

use super::leaves::each_leaf;
use crate::checks::{Check, Fault, Given, Report};
use conform_model::outcome::masked;

/// Maximum number of compiled patterns kept: a suite may take patterns from the server's data.
const KEPT: usize = 100;

pub const CHECK: Check = Check { name: "no-match", given: &["text", "pattern"], run };

fn run(given: &Given) -> Report {
    if given.value("text").is_null() {
        return Report::default();
    }
    let Some(pattern) = compiled(given.text("pattern")) else {
        return Report { broken: Some("the pattern is not a regular expression".into()), ..Report::default() };
    };
    let (mut texts, mut faults) = (0, Vec::new());
    each_leaf(given.value("text"), &mut |pointer, leaf| {
        texts += usize::from(leaf.is_string());
        let found = leaf.as_str().and_then(|text| pattern.find(text));
        faults.extend(found.map(|found| Fault {
            given: "text",
            pointer: pointer.to_owned(),
            message: format!("holds `{}`", masked(found.as_str().trim())),
            received: leaf.as_str().map(|text| masked(text).into()),
            ..Fault::default()
        }));
    });
    Report { checked: texts.min(1), faults, broken: None }
}

/// Compiling takes far longer than searching, and a rule uses the same pattern for every item, so patterns are cached.
fn compiled(pattern: &str) -> Option<Arc<Regex>> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Option<Arc<Regex>>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.get(pattern) {
        return compiled.clone();
    }
    if known.len() >= KEPT {
        known.clear();
    }
    let compiled = Regex::new(pattern).ok().map(Arc::new);
    known.insert(pattern.to_owned(), compiled.clone());
    compiled
}
