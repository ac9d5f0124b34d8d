//! Testing a gateway: our client in front of it, the reference server behind it, and a record of both sides.

mod after;
mod compare;
mod cost;
mod course;
mod driver;
mod front;
mod job;
mod setting;

pub use course::{Conducted, conduct};
pub use job::{Back, Front, GatewayJob};
