//! mcp-conform: conformance tests for MCP servers.
//!
//! # Record, then judge
//!
//! Everything the program does is a piece of one path:
//!
//! ```text
//!  command line                suites/**/*.yaml
//!       |                             |
//!    Target --open--> Session      Suite --lint--> Plan      what runs; what does not, and why
//!                        |                          |
//!                        +------ gather(Plan) ------+        steps act on the wire
//!                                     |
//!                           Evidence, Transcript             plain data: can be saved and loaded
//!                                     |
//!                             judge(Rule, Evidence)          pure: no input, no output, no clock
//!                                     |
//!                                RunReport --render--> human | json | junit
//! ```
//!
//! `run` walks all of it, and `matrix` has a process walk it for each of many servers. `check` stops at the suites,
//! `judge` enters at the evidence; there is no second path. So a step cannot assert and a rule cannot act: the suite
//! language needs no branches, one exchange is judged by many rules, a request that fails is a reply like any other, and
//! an old transcript is judged by a new rule.
//!
//! # Modules, from the ground up
//!
//! A module imports only what stands above it here; `tests/layers.rs` reads the imports.
//!
//! - [`revision`]: the protocol revisions, and what sets them apart. [`error`]: what stops a run, and its exit code.
//!   [`outcome`]: verdicts and the report, as plain data. [`evidence`]: what happened, as plain data. `embedded`: the
//!   texts of suites, shapes and faults. [`partition`]: which part of many things one machine takes.
//! - [`target`]: how to start or reach a server. [`suite`]: suites from text to rules: mistakes, paths, matchers, shapes.
//! - [`wire`]: bytes in and out, over stdio, Streamable HTTP and HTTP+SSE; every wait has a limit, every buffer a bound.
//!   [`plan`]: which suites and rules apply. [`judge`]: from evidence to verdicts. [`report`]: from verdicts to text.
//! - [`session`]: a conversation: the revision is found out, requests get their answers, time limits hold.
//! - [`gather`]: the verbs of the suite language, acted out.
//! - [`cli`]: what can be typed. [`config`]: what `mcp-conform.toml` says. [`run`]: the commands, and how a run is conducted.
//!
//! [`tests`] is a second way in: the rules as tests of `cargo test`.
//!
//! [`mod@reference`] stands apart: the server that the rules are proved against shares nothing with the client but
//! [`revision`] and the texts, or it would share its mistakes.
//!
//! `fuzzing` is there in tests and under `cargo fuzz` alone, and says what has to hold for any bytes.
//!
//! Three absences matter. `suite` cannot see `wire`, so a suite means the same on every transport. `judge` cannot see
//! `session`, so it cannot ask the server anything. `report` cannot see `suite`, so a format is a function of the report.

pub mod cli;
pub mod config;
mod embedded;
pub mod error;
pub mod evidence;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod gather;
mod harness;
pub mod judge;
pub mod outcome;
pub mod partition;
pub mod plan;
pub mod reference;
pub mod report;
pub mod revision;
pub mod run;
pub mod session;
pub mod suite;
pub mod target;
pub mod wire;

pub use harness::tests;
