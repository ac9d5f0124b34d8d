//! Testing a gateway: our client in front of it, the reference server behind it, and a record of both sides.

mod compare;
mod course;
mod driver;
mod front;
mod job;

pub use course::{Conducted, conduct};
pub use job::{Back, Front, GatewayJob};
