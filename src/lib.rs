//! mcp-conform: conformance tests for MCP servers.
//!
//! # Record, then judge
//!
//! All commands use parts of one pipeline:
//!
//! ```text
//!  command line                suites/**/*.yaml
//!       |                             |
//!    Target --open--> Session      Suite --lint--> Plan      what runs; what does not, and why
//!                        |                          |
//!                        +------ gather(Plan) ------+        steps act on the wire
//!                                     |
//!                                 Evidence                   plain data: written to a transcript and read again
//!                                     |
//!                    assess(Evidence, Suites, Options)       pure: no input, no output, no clock
//!                                     |
//!                                RunReport --render--> human | json | junit
//! ```
//!
//! `run` uses all of it, and `matrix` starts a process for each of many servers. `check` stops after loading suites,
//! `judge` starts with the evidence; there is no second path: `run`, `judge`, `generate` and `matrix` all
//! get their reports from [`assess`]. So a step cannot assert and a rule cannot send: the suite
//! language needs no branches, many rules judge one exchange, a request that fails is a reply like any other, and
//! a new rule can judge an old transcript.
//!
//! # Crates, from the lowest layer
//!
//! A crate uses only crates that are above it in this list; its page says which, and where to begin.
//!
//! - [`conform_model`]: revisions, transports, evidence, outcomes and errors, as plain data.
//! - `conform_source`: YAML with positions, and the mistakes in it. [`conform_texts`]: the built-in suites, faults and pages.
//! - [`conform_suite`]: the suite language, and the plan of a run.
//! - [`conform_wire`]: bytes in and out, over stdio, Streamable HTTP and HTTP+SSE; every wait has a limit, every buffer a bound.
//! - [`conform_session`]: a connection in use: negotiates the revision, matches responses to requests, enforces timeouts.
//! - [`conform_judge`]: from evidence to verdicts and a report. [`conform_report`]: from a report to text.
//! - [`conform_sdks`]: the SDKs that servers are built on, and the findings that come from them.
//! - [`conform_gather`]: executes the steps of suites. [`conform_generate`]: makes calls of what a server publishes.
//! - [`conform_reference_server`], [`conform_reference_client`], [`conform_reference_gateway`]: the programs that rules are
//!   tried on. They share the language of faults, the names of revisions and the texts, and nothing else with the client
//!   side, otherwise they would share its mistakes; the gateway also uses the wire.
//! - This one: [`cli`], the command line; [`config`], `mcp-conform.toml`; [`run`], the commands and how a run is conducted.
//!   [`tests`] is a second entry point: the rules as tests of `cargo test`.
//! - `conform-client-faults` and `conform-proof` are not part of the program: they prove the rules.
//!
//! Three uses are missing on purpose. `suite` cannot see `wire`, so a suite means the same on every transport. `judge`
//! cannot see `session`, so it sends nothing. `report` cannot see `suite`, so a format is a function of the report.
//!
//! # Embedding
//!
//! `examples/embed.rs` judges a transcript and renders the report in ten lines.

pub mod cli;
pub mod config;
mod harness;
mod program;
pub mod run;

pub use conform_gather as gather;
pub use conform_generate as generate;
pub use conform_judge as judge;
pub use conform_judge::assess;
pub use conform_model::{error, evidence, outcome, partition, revision, transport};
pub use conform_report as report;
pub use conform_session as session;
pub use conform_suite as suite;
pub use conform_suite::plan;
use conform_texts as embedded;
pub use conform_wire as wire;
pub use conform_wire::{tap, target};

pub use harness::tests;
pub use program::{main, surroundings};

/// The programs that rules are tried on.
pub mod reference {
    pub use conform_reference_client as client;
    pub use conform_reference_gateway as gateway;
    pub use conform_reference_server as server;
}
