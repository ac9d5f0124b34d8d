//! The JSON Schema of the file, which editors check and complete it with.

use schemars::{generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use super::keys::File;
use crate::suite::without_null;

pub fn json_schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.transforms.push(Box::new(RecursiveTransform(without_null)));
    let mut schema = settings.into_generator().into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "mcp-conform.toml".into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::parse;

    #[test]
    fn the_schema_and_the_program_agree_on_files() {
        let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
        let page = include_str!("../../docs/configuration.md");
        let examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let wrong = [
            "strikt = true",
            "strict = \"yes\"",
            "[targets.a]\nhtpp = \"http://h\"",
            "[targets.a]\nhttp = \"http://h\"\nsse = \"http://h\"",
            "[facts]\nprefix = 7",
            "[facts.change]\ntool = \"t\"",
            "[facts]\nversions = [\"2025-01-01\"]",
            "[tools.t]\nwiht = {}",
            "[rules.a-rule]\nlevel = \"may\"\nreason = \"none\"",
            "[rules.a-rule]\nlevel = \"should\"",
            "[limits]\nreqest = 3",
            "[clients.c]\nparallel = 3",
        ];
        for (text, good) in examples.map(|text| (text, true)).chain(wrong.map(|text| (text, false))) {
            let value: Value = toml::from_str(text).expect("it is TOML");
            assert_eq!(validator.is_valid(&value), good, "the schema on\n{text}");
            // A file that extends others is read with them.
            if value.get("extends").is_none() {
                assert_eq!(
                    parse(Path::new("mcp-conform.toml"), text.to_owned(), false).is_ok(),
                    good,
                    "the program on\n{text}"
                );
            }
        }
    }
}
