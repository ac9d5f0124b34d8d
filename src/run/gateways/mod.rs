//! Testing a gateway, with our client on one side and the reference server on the other. Both sides are recorded.

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
