//! Schemas of tools, and values that must conform to them.

pub mod completion_counts;
pub mod default_fits;
pub mod field_spelling;
pub mod header_annotations;
pub mod offered_output;
pub mod output_schema;
pub mod schema_dialect;
pub mod schema_parts;
pub mod schema_patterns;
pub mod schema_references;
pub mod structured_text;
