//! A proxy between a client and a server that others started: forwards everything unchanged, and records it.
//!
//! Traffic is first put in a queue, without waiting, and then forwarded. A separate thread reads the queue and writes
//! the record. So neither a slow disk nor an error of the recording delays traffic.

mod body;
mod endpoint;
mod exchanges;
mod file;
mod proxy;
mod queue;
mod sessions;
mod signals;
mod stdio;
mod upstream;
mod writer;

pub use exchanges::Exchanges;
pub use file::Output;
pub use proxy::{Proxy, listen};
pub use sessions::resolved;
pub use signals::{end_as, survive_limit_of_files};
pub use stdio::pass;
pub use upstream::Upstream;
pub use writer::{Between, Writer};
