//! Values made from JSON Schemas: valid, invalid and hostile ones, and simpler ones for the smallest call.

pub mod bounds;
pub mod edges;
pub mod formats;
pub mod hostile;
pub mod invalid;
pub mod keywords;
pub mod misses;
pub mod numbers;
pub mod schema;
pub mod shrink;
pub mod spots;
pub mod texts;
pub mod valid;
