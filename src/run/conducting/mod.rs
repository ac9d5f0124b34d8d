//! Conducts a run: which suites, on which connections, in which order.

pub mod assemble_run;
pub mod capacity;
pub mod clients;
pub mod endings;
pub mod executor;
pub mod fail_fast;
pub mod gathered;
pub mod handshake_failure;
pub mod in_words;
mod issuer_run;
mod issuing;
pub mod mishaps;
pub mod one_suite;
pub mod phases;
pub mod run_context;
pub mod schedule;
pub mod server_run;
pub mod skipped;
pub mod stop;
pub mod suite_effects;
