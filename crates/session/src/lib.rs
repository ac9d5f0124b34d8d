//! A session with the server: the handshake or its absence, ids, replies, timeouts, subscriptions.
//!
//! Begin at [`Session`], which opens a connection, negotiates the revision, and matches responses to requests. `answers` has
//! the responses of the client to requests of the server.
//!
//! It uses `conform-model` and `conform-wire`.

mod answers;
mod call_options;
mod complete;
mod conversation;
mod delays;
mod echo;
pub mod filling;
mod handshake;
mod headers;
mod help;
mod input_required;
mod negotiated;
mod one_shot;
mod progress;
mod pump;
mod resume;
mod shared;
mod subscription;
mod unanswered;
mod wait;
mod waiter;

pub use answers::ClientProfile;
pub use call_options::CallOptions;
pub use complete::Deviation;
pub use conversation::lock;
pub use conversation::{Conversation, EndedConnection, Known, Opener};
pub use echo::echo;
pub use handshake::{Unopened, Wish};
pub use headers::protocol_headers;
pub use negotiated::Session;
pub use one_shot::OneShot;
pub use progress::LONG;
pub use unanswered::{GivenUp, Kind, Wanted};
