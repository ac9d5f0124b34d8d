//! The programs that prove the rules, one for each subject: a [`server`], a [`client`] and a [`gateway`], each with the
//! faults that rules have to find.
//!
//! The server and the client share nothing with the rest of the program but [`crate::revision`] and the texts of their
//! faults; otherwise they would share its mistakes. The gateway also uses the wire.

pub mod client;
pub mod gateway;
pub mod server;
