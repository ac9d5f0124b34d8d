//! From evidence to verdicts, without asking the server anything: no input, no output, no clock.

pub mod checks;
mod exchange;
mod fold;
mod item;
mod phrase;
mod place;
mod stream;
mod tally;

pub use stream::judge;
