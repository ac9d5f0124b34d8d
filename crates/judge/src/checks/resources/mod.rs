//! Resources: what they contain, and what is below them.

pub mod below_one_of;
pub mod contents_metadata;
pub mod embedded_annotations;
pub mod known_children;
pub mod list_depth;
pub mod mime_listed;
pub mod password_file;
pub mod prefix_filter;
pub mod read_children;
pub mod same_uri;
pub mod scopes_differ;
pub mod size_matches;
