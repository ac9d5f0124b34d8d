//! A process of the other side: started, watched and ended with its whole group.

mod ahead;
mod child;
pub mod descendants;
pub mod group;
mod start;
mod start_failure;
mod stderr;

pub use ahead::{Ahead, Started};
pub use child::{Child, Finish, Pipes, Readable, Writable, exit};
pub use start::{Piped, Process};
pub use stderr::{Tail, last_words};
