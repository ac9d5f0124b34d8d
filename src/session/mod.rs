//! A conversation with the server: the handshake or its absence, ids, replies, time limits, subscriptions.

mod alone;
mod answers;
mod complete;
mod conversation;
mod cure;
mod delays;
mod era;
pub(crate) mod filling;
mod headers;
mod progress;
mod pump;
mod resume;
mod rounds;
mod shared;
mod subscription;
mod talk;
mod unanswered;
mod wait;

pub use alone::Beside;
pub use answers::ClientFace;
pub use complete::Deviation;
pub(crate) use conversation::lock;
pub use conversation::{Conversation, Known, Opener};
pub use era::{Unopened, Wish};
pub use progress::LONG;
pub use talk::{CallOptions, Session};
pub use unanswered::{GivenUp, Kind, Wanted};
