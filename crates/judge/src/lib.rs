//! From evidence to verdicts, without contacting the server: no input, no output, no clock.

mod asked;
pub mod assess;
mod audience;
pub mod checks;
mod clients;
mod exchange;
mod fan_out;
mod fold;
mod gateways;
mod generated;
mod head;
mod item;
mod located;
mod naming;
mod notification_context;
mod open;
mod phase;
mod phrase;
mod place;
mod posts;
mod replays;
mod stream;
mod streams;
mod tally;
mod visits;

pub use gateways::CREDENTIAL;
pub use generated::judge_generated;
pub use naming::subject;
pub use stream::judge;
pub use tally::FINDINGS_KEPT;
