//! Testing a gateway, with our client on one side and the reference server on the other. Both sides are recorded.

mod compare;
mod course;
mod driver;
mod front;
mod job;

pub use course::{Conducted, conduct};
pub use job::{Back, Front, GatewayJob};
