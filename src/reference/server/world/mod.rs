//! The content of the reference server. All of it is fictional: no request reaches a file, a process or the network.

mod arguments;
pub mod asking;
mod describe;
mod files;
mod forms;
mod generated;
mod grown;
mod node;
pub mod prompts;
pub mod task_extension;
pub mod tasks;
pub mod templates;
pub mod tools;
#[expect(clippy::module_inception, reason = "the world is the one type of this module")]
mod world;

pub use describe::{View, icons};
pub use grown::{Branch, Grown};
pub use node::{Body, Data, Format, Node};
pub use world::{World, WorldFaults};
