//! The programs that prove the rules, one for each subject: a [`server`], a [`client`] and a [`gateway`], each with the
//! faults that rules have to find. A fault that only changes messages on the wire is data, in the one language of
//! `faults`.
//!
//! The server and the client share nothing with the rest of the program but [`crate::revision`], [`crate::transport`] and the
//! texts of their faults; otherwise they would share its mistakes. The gateway also uses the wire.

pub mod client;
mod faults;
pub mod gateway;
pub mod server;
