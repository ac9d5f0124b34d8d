//! The process and the terminal that the program runs in.

pub mod console;
pub mod interrupts;
pub mod progress;
pub mod runtime;
pub mod signals;
pub mod strays;
pub mod surroundings;

pub use surroundings::Surroundings;
