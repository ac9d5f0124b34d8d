//! The JSON Schema of suite files, written from the types of this folder.

use schemars::{Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use super::SuiteFile;
use crate::views;

/// The JSON Schema of suite files, for editors.
pub fn schema() -> Schema {
    let mut settings = SchemaSettings::draft07();
    settings.transforms.push(Box::new(RecursiveTransform(without_null)));
    let mut schema = settings.into_generator().into_root_schema_for::<SuiteFile>();
    if let Some(Value::Object(definitions)) = schema.get_mut("definitions") {
        definitions.extend(views::definitions());
    }
    schema.insert("title".to_owned(), "A suite of mcp-conform".into());
    schema
}

/// An optional key may be absent, but not be empty.
pub fn without_null(schema: &mut Schema) {
    for keyword in ["type", "enum", "anyOf"] {
        let Some(Value::Array(options)) = schema.get_mut(keyword) else { continue };
        // In an enum, "null" is the name of a type.
        let is_named = |option: &Value| keyword != "enum" && (option == "null" || option["type"] == "null");
        options.retain(|option| !option.is_null() && !is_named(option));
        if options.len() > 1 || keyword == "enum" {
            continue;
        }
        match options.pop() {
            Some(Value::Object(only)) => {
                schema.remove(keyword);
                schema.ensure_object().extend(only);
            }
            Some(only) => {
                schema.insert(keyword.to_owned(), only);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conform_source::{diagnostic::Problems, yaml};
    use conform_texts::SUITES;

    #[test]
    fn the_built_in_suites_fit_the_schema() {
        let schema = jsonschema::validator_for(schema().as_value()).expect("the schema is one");
        for (name, text) in SUITES.iter() {
            let mut problems = Problems::new(name, text);
            let tree = yaml::parse(text, &mut problems).expect(name);
            let mistakes: Vec<String> = schema
                .iter_errors(&Value::from(&tree))
                .map(|mistake| format!("{name}{}: {mistake}", mistake.instance_path()))
                .collect();
            assert!(mistakes.is_empty(), "{mistakes:#?}");
        }
    }
}
