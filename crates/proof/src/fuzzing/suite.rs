//! Input of suite authors: paths and suites.

use std::sync::LazyLock;

use serde_json::Value;

use super::text::acts;
use mcp_conform::{
    run::inputs::suites::known,
    suite::{
        Known, Origin, Path,
        diagnostic::{Diagnostic, Problems},
        load, yaml,
    },
};

/// A path on the first line, and after it the value to which it is applied.
pub fn paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (text, looked_at) = text.split_once('\n').unwrap_or((&text, r#"{"a":[1,{"b":null,"":2}],"a/~b":{"c":"d"}}"#));
    let Ok(path) = Path::parse(text) else { return };
    assert_eq!(Path::parse(&path.text).as_ref(), Ok(&path));
    path.is_item_by_item();
    path.first_member();
    let Ok(value) = serde_json::from_str::<Value>(looked_at) else { return };
    let selected = path.select_in(&value);
    assert!(selected.len() <= 1 || path.is_plural());
    for node in selected {
        assert_eq!(value.pointer(&node.location), Some(node.value), "{} at {}", path.text, node.location);
    }
}

/// One fault is enough: a search for a wrong name reads all of them.
static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let known = known();
    Known { faults: known.faults.into_iter().take(1).collect(), ..known }
});

/// A suite file: its suites or its mistakes. The same suites are read when it is written as JSON, which is YAML.
pub fn suites(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let loaded = |text: &str| load(&[("fuzz.yaml".to_owned(), text.to_owned())], &KNOWN, Origin::User);
    let suite = loaded(&text);
    match &suite {
        Ok(suites) => assert!(suites.len() == 1),
        Err(mistakes) => shown(mistakes),
    }
    let mut problems = Problems::new("fuzz.yaml", &text);
    if let Some(tree) = yaml::parse(&text, &mut problems) {
        let value = Value::from(&tree);
        let written = written(&value);
        let again = yaml::parse(&written, &mut Problems::new("again.yaml", &written));
        let again = again.unwrap_or_else(|| panic!("it cannot be read again: {written}"));
        assert_eq!(Value::from(&again), value);
        assert_eq!(loaded(&written).is_ok(), suite.is_ok());
    }
}

/// Every mistake has a position and can be shown.
pub fn shown(mistakes: &[Diagnostic]) {
    assert!(!mistakes.is_empty());
    for mistake in mistakes {
        assert!(mistake.line > 0 && mistake.column > 0 && !mistake.message.is_empty());
        let shown = mistake.render(false);
        assert!(!shown.contains(|c| acts(c) && c != '\n'), "{shown:?}");
        assert!(!mistake.render(true).is_empty());
    }
}

/// The value as JSON, in which every character is one that YAML accepts unescaped.
fn written(value: &Value) -> String {
    let escaped = |c: char| match c {
        ' '..='~' => c.to_string(),
        _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    value.to_string().chars().map(escaped).collect()
}
