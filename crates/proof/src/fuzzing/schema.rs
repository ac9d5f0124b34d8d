//! Schemas of a server: forms for its tools and elicitations.

use serde_json::Value;

use mcp_conform::{
    gather::arguments::{minimal, wrong},
    session::filling::{filled, misfit},
    suite::foreign::{flaws, violations},
};

/// A schema, or a pair of a schema and a value. Filling it in and validating ends in reasonable time.
pub fn schemas(bytes: &[u8]) {
    let Ok(read) = serde_json::from_slice::<Value>(bytes) else { return };
    let (schema, value) = match &read {
        Value::Array(pair) if pair.len() == 2 => (&pair[0], &pair[1]),
        other => (other, &Value::Null),
    };
    assert!(filled(schema).is_object() && misfit(schema).is_object());
    flaws(schema);
    violations(schema, value);
    for invent in [false, true] {
        let Some(arguments) = minimal(schema, invent) else { continue };
        assert_eq!(violations(schema, &arguments).map(|told| told.len()), Some(0));
        for wrong in wrong(schema, &arguments) {
            assert!(violations(schema, &wrong["arguments"]).is_some_and(|told| !told.is_empty()), "{wrong}");
        }
    }
}
