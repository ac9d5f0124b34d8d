//! From evidence to verdicts and a report, without contacting the server: no input, no output, no clock.
//!
//! Begin at [`assess::assess`], which makes a report of evidence and suites, and at [`judge()`], which judges one suite:
//! `stream` gives each rule its items, `item` judges one, `located` finds the message that it came from, `phrase` words the
//! finding. [`checks`] has what no clause can express.
//!
//! It uses `conform-model` and `conform-suite`. Not the session: it sends nothing.

mod asked;
pub mod assess;
mod audience;
pub mod checks;
mod clients;
mod events;
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
pub mod profiles;
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
