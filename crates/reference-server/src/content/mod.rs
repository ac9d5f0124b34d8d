//! The content of the reference server. All of it is fictional: no request reaches a file, a process or the network.

pub mod apps;
mod arguments;
pub mod asking;
mod describe;
mod files;
mod forms;
mod generated;
mod grown;
mod node;
pub mod prompts;
mod served;
pub mod skills;
pub mod task_extension;
pub mod tasks;
pub mod templates;
pub mod tools;

pub use describe::{View, icons};
pub use grown::{Branch, Grown};
pub use node::{Body, Data, Format, Node};
pub use served::{Content, ContentFaults};
