//! Authorization in worlds for clients: a protected MCP server, and authorization servers at addresses of their own.
//!
//! Every response says in its extensions what was requested, and all tokens, codes and secrets are unique, so a record
//! of the requests shows each of them wherever a client sends it. A client is not made to fail where it does
//! something wrong, unless no server could go on: what it does afterwards is worth seeing, too.

mod authorizing;
mod book;
mod documents;
pub mod form;
mod protected;
mod registering;
mod settings;
mod tokens;

pub use book::{Authority, Secret};
pub use settings::{
    Accepts, Calls, Document, Origin, PLAIN, Protects, Refresh, Registration, Settings, State, oauth, openid,
};

/// What a request is about, in the extensions of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About(pub &'static str);

/// The requests to the MCP server itself.
pub const MCP: About = About("mcp");
const RESOURCE_METADATA: About = About("resource metadata");
const SERVER_METADATA: About = About("server metadata");
const REGISTRATION: About = About("registration");
const AUTHORIZATION: About = About("authorization");
const TOKEN: About = About("token");
/// Nothing is there, and nothing said that something is.
const NOTHING: About = About("nothing");
