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
//! `judge` starts with the evidence; there is no second path: `run`, `judge`, `generate`, `mutants` and `matrix` all
//! get their reports from [`assess`]. So a step cannot assert and a rule cannot send: the suite
//! language needs no branches, many rules judge one exchange, a request that fails is a reply like any other, and
//! a new rule can judge an old transcript.
//!
//! # Modules, from the lowest layer
//!
//! A module imports only modules that are above it in this list; `tests/layers.rs` checks the imports.
//!
//! - [`revision`]: the protocol revisions and their differences. [`transport`]: the transports and their properties.
//!   [`error`]: what stops a run, and its exit code. [`outcome`]: verdicts and the report, as plain data. [`evidence`]: what happened, as plain data. `embedded`: the
//!   texts of suites, shapes and faults. [`partition`]: which part of a run one machine does.
//! - [`target`]: how to start or reach a server. [`suite`]: loads and checks suites: mistakes, paths, matchers, shapes.
//! - [`wire`]: bytes in and out, over stdio, Streamable HTTP and HTTP+SSE; every wait has a limit, every buffer a bound.
//!   [`plan`]: which suites and rules apply. [`judge`]: from evidence to verdicts. [`assess`]: from evidence to a report.
//!   [`report`]: from a report to text.
//!   [`tap`]: records what passes between a client and a server.
//! - [`session`]: a connection in use: negotiates the revision, matches responses to requests, enforces timeouts.
//! - [`gather`]: executes the verbs of the suite language. [`generate`]: makes calls of what a server publishes, and shrinks
//!   those that fail.
//! - [`cli`]: the command line. [`config`]: `mcp-conform.toml`. [`run`]: the commands, and how a run is conducted.
//!
//! [`tests`] is a second entry point: the rules as tests of `cargo test`.
//!
//! [`mod@reference`] is separate: the server, the client and the gateway that prove the rules. They share nothing with
//! the rest but [`revision`], [`transport`] and the texts, otherwise they would share its mistakes; the gateway also uses
//! the wire.
//!
//! `fuzzing` exists only in tests and under `cargo fuzz`, and states what must hold for any bytes.
//!
//! Three imports are forbidden on purpose. `suite` cannot see `wire`, so a suite means the same on every transport. `judge`
//! cannot see `session`, so it sends nothing. `report` cannot see `suite`, so a format is a function of the report.

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
