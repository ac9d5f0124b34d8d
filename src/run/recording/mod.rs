//! Stands between a client and a server that others started, passes everything on unchanged, and records it.
//!
//! What passes is first noted in a queue, without a wait, and then handed on; a thread of its own reads it and writes the
//! record. So neither a slow disk nor an error of the recording is in the way.

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
