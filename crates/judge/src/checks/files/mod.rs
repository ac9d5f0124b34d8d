//! Files that a server serves with a manifest: their bytes, their front matter, their URIs and their directories.

pub mod directory_children;
pub mod file_bytes;
pub mod front_matter;
pub mod manifest_uris;
mod markdown_links;
mod parsed_yaml;
pub mod same_fields;
mod scalar;
pub mod total;
mod yaml_differences;
