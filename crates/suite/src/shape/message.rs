//! A validation error as text for a report.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::judge::Violation;
use crate::{format::Format, matcher::show};

pub(crate) fn violation(error: &ValidationError) -> Violation {
    let pointer = error.instance_path().to_string();
    let found = show::described(error.instance());
    let (pointer, message) = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let member = property.as_str().unwrap_or_default().replace('~', "~0").replace('/', "~1");
            (format!("{pointer}/{member}"), "is missing".to_owned())
        }
        // Shapes use `anyOf` like this only to require one of several fields.
        ValidationErrorKind::AnyOf { context } if !missing_of(context).is_empty() => {
            (pointer, format!("has none of {}", missing_of(context)))
        }
        ValidationErrorKind::MaxItems { limit } => (pointer, format!("has more than {limit} items")),
        ValidationErrorKind::MinItems { limit } => (pointer, format!("has fewer than {limit} items")),
        kind => match expected(kind) {
            Some(expected) => (pointer, format!("is {found}, expected {expected}")),
            None => (pointer, error.masked_with("").to_string().trim().to_owned()),
        },
    };
    Violation { pointer, message }
}

fn expected(kind: &ValidationErrorKind) -> Option<String> {
    Some(match kind {
        ValidationErrorKind::Type { kind: TypeKind::Single(json) } => named(json.as_str()).to_owned(),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(types) } => {
            types.iter().map(|json| named(json.as_str())).collect::<Vec<_>>().join(" or ")
        }
        ValidationErrorKind::Constant { expected_value } => expected_value.to_string(),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("one of {}", options.join(", "))
        }
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::Format { format } => {
            Format::ALL.iter().find(|known| known.name() == format)?.words().to_owned()
        }
        _ => return None,
    })
}

fn missing_of(context: &[Vec<ValidationError>]) -> String {
    let members = context.iter().flatten().filter_map(|error| match error.kind() {
        ValidationErrorKind::Required { property } => property.as_str().map(|member| format!("`{member}`")),
        _ => None,
    });
    members.collect::<Vec<_>>().join(", ")
}

fn named(json: &str) -> &str {
    match json {
        "string" => "a string",
        "number" => "a number",
        "integer" => "an integer",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        other => other,
    }
}
