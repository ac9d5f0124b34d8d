//! Testing a gateway, with our client on one side and the reference server on the other. Both sides are recorded.

mod after;
mod compare;
mod context;
mod cost;
mod driver;
mod front;
mod gateway_run;
mod job;
mod listed;
mod once;
mod setting;
mod troubles;

pub use compare::Comparison;
pub use gateway_run::{Conducted, conduct};
pub use job::{Back, Front, GatewayJob};
