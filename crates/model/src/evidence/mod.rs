//! The events of a run, as plain data that can be saved, loaded and judged again.

pub mod conversation;
pub mod correlate;
mod exit;
mod frame;
pub mod generated;
mod list;
mod manner;
mod message;
mod part;
mod reason;
mod record;
pub mod recorded;
mod recorder;
mod reply;
mod run_context;
mod run_header;
mod store;
pub mod transcript;
mod weight;

pub use exit::Exit;
pub use frame::{Ended, Event, Frame, FrameIndex, FrameKind, HttpHead, Link, PROBE, SHOWN_INSTEAD, Side};
pub use list::{LISTS, List, ListEnd, SKILLS, TASKS};
pub use manner::Manner;
pub use message::{Kind, Message};
pub use part::{PARTS, Part, input_name};
pub use reason::{Cause, Reason};
pub use record::{Evidence, Frames};
pub use recorder::{Recorder, Sent};
pub use reply::{End, HttpStatus, Reply};
pub use run_context::RunContext;
pub use run_header::{FailedHandshake, NotOpened, RunEnd, RunHeader, Scope, Tested};
pub use store::Sink;
pub use weight::weight;

pub use crate::transport::Transport;
