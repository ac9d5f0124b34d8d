//! The complete report as JSON; `reports/README.md` documents each field.

use schemars::{Schema, schema_for};
use serde::Deserialize;

use super::text::visible;
use conform_model::outcome::{REPORT_SCHEMA, RunReport};

pub(super) fn render(report: &RunReport) -> String {
    let text = serde_json::to_string_pretty(report).expect("a report is plain data with strings for keys");
    visible(&text) + "\n"
}

/// The JSON Schema of the report: `reports/schema.json`.
pub fn schema() -> Schema {
    let mut schema = schema_for!(RunReport);
    schema.insert("title".to_owned(), "A report of mcp-conform".into());
    schema
}

/// Reads a JSON report; `Err` says why it cannot be read.
pub fn read(text: &str) -> Result<RunReport, String> {
    // The version is read first, so that a newer report is not reported as damaged.
    #[derive(Deserialize)]
    struct Versioned {
        schema: u32,
    }
    let Versioned { schema } = serde_json::from_str(text).map_err(|error| format!("this is not a report: {error}"))?;
    if schema != REPORT_SCHEMA {
        return Err(format!("the report has schema {schema}; this version reads schema {REPORT_SCHEMA}"));
    }
    serde_json::from_str(text).map_err(|error| format!("the report is damaged: {error}"))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn says_what_is_wrong_with_a_report() {
        assert!(read("nothing").unwrap_err().starts_with("this is not a report: "));
        assert_eq!(
            read(r#"{"schema": 99, "anything": []}"#).unwrap_err(),
            "the report has schema 99; this version reads schema 1"
        );
        assert!(read(r#"{"schema": 1}"#).unwrap_err().starts_with("the report is damaged: missing field"));
    }
}
