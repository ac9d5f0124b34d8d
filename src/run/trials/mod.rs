//! Runs against the reference server in this process, with one fault, one variation or none. `explain` shows what such a
//! run finds; the proof of the rules is made of them.

mod conducted;
mod inside;
mod selection;
mod shown;
mod trial;

pub use conducted::Conducted;
pub use selection::{few_trials, trials, variation_trials};
pub use shown::{LONGEST, Shown};
pub use trial::{Trial, with_causes};
