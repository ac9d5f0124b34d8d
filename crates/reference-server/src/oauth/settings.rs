//! What can differ between two worlds with authorization, as data.

use std::time::Duration;

/// One of the addresses of a world. Ports are origins, so each is a listener of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The MCP server.
    Mcp,
    /// Authorization servers.
    As1,
    As2,
    /// A complete authorization server that no client has a reason to use.
    Decoy,
    /// No client has a reason to contact it.
    Canary,
}

impl Origin {
    pub const ALL: [Self; 5] = [Self::Mcp, Self::As1, Self::As2, Self::Decoy, Self::Canary];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::As1 => "as1",
            Self::As2 => "as2",
            Self::Decoy => "decoy",
            Self::Canary => "canary",
        }
    }
}

/// A metadata document of an authorization server. Each has endpoints of its own, so that the endpoints that a client
/// uses show which document it read.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    pub at: &'static str,
    /// Where its endpoints are.
    pub endpoints: &'static str,
    /// Whether it is one of `OpenID` Connect.
    pub openid: bool,
}

pub const fn oauth(at: &'static str, endpoints: &'static str) -> Document {
    Document { at, endpoints, openid: false }
}

pub const fn openid(at: &'static str, endpoints: &'static str) -> Document {
    Document { at, endpoints, openid: true }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registration {
    Open,
    /// The metadata has no endpoint for it.
    Absent,
    /// This status, with this error.
    Rejected(u16, &'static str),
}

/// What the authorization response has as `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Returned,
    Dropped,
    Changed,
}

/// Which requests to the MCP server need a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protects {
    Everything,
    Calls,
}

/// Which tokens the MCP server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Those of the authorization server, for as long as their `lasts`.
    Issued,
    Nothing,
    /// The first one until it was used this often; then any other.
    Until(usize),
}

/// What the response to a refresh has as `refresh_token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// There are no refresh tokens.
    None,
    /// Another one; the old one ends.
    Rotates,
    /// Nothing: the old one stays valid.
    Keeps,
    /// The refresh is rejected.
    Dead,
}

/// A step-up: what a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Nothing more than a token.
    Free,
    /// This scope, which the challenge of status 403 names.
    Scope(&'static str),
    /// The same, and no token ever has it.
    Never(&'static str),
    /// They get status 403 without a challenge.
    Forbidden,
}

/// In all texts `{mcp}`, `{as1}` and so on stand for the origins.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// `WWW-Authenticate` of a 401, several on lines of their own; `{metadata}` is the URL of `named`.
    pub challenge: &'static str,
    /// The path that the challenge names.
    pub named: &'static str,
    /// The paths of the resource metadata.
    pub resource_at: &'static [&'static str],
    /// Paths of resource metadata that names the decoy.
    pub decoy_at: &'static [&'static str],
    /// The body at `resource_at`, if it is not resource metadata.
    pub no_metadata: Option<&'static str>,
    pub resource: &'static str,
    pub servers: &'static [&'static str],
    pub resource_scopes: &'static [&'static str],
    /// The path of the issuer.
    pub tenant: &'static str,
    pub documents: &'static [Document],
    /// `issuer` in the documents; `{issuer}` is the right one.
    pub issuer: &'static str,
    /// The query of each endpoint.
    pub query: &'static str,
    pub challenge_methods: Option<&'static [&'static str]>,
    pub registration: Registration,
    /// Whether ids that are URLs of documents are advertised.
    pub client_documents: Option<bool>,
    pub auth_methods: &'static [&'static str],
    /// What clients get as their secret has characters that need encoding.
    pub odd_secret: bool,
    /// A client that registers gets this method, whichever it wants.
    pub assigned_method: Option<&'static str>,
    pub server_scopes: &'static [&'static str],
    pub iss_advertised: Option<bool>,
    /// `iss` of the authorization response; `{issuer}` is the right one, and nothing leaves it out.
    pub iss: &'static str,
    pub state: State,
    /// The error of the authorization response.
    pub denied: Option<&'static str>,
    /// The error of the token endpoint.
    pub token_error: Option<(u16, &'static str)>,
    pub token_type: &'static str,
    pub expires_in: Option<u32>,
    /// How long access tokens are accepted.
    pub lasts: Duration,
    /// `scope` of the token response; by default what was requested.
    pub granted: Option<&'static str>,
    /// Access tokens are long and have all characters that they can have.
    pub odd_token: bool,
    pub refresh: Refresh,
    /// The delay of the token endpoint.
    pub slow: Duration,
    pub protects: Protects,
    pub accepts: Accepts,
    pub calls: Calls,
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource/mcp";

pub const PLAIN: Settings = Settings {
    challenge: "Bearer resource_metadata=\"{metadata}\"",
    named: WELL_KNOWN,
    resource_at: &[WELL_KNOWN],
    decoy_at: &[],
    no_metadata: None,
    resource: "{mcp}/mcp",
    servers: &["{issuer}"],
    resource_scopes: &["mcp:tools"],
    tenant: "",
    documents: &[
        oauth("/.well-known/oauth-authorization-server", "/oauth2"),
        openid("/.well-known/openid-configuration", "/openid"),
    ],
    issuer: "{issuer}",
    query: "",
    challenge_methods: Some(&["S256"]),
    registration: Registration::Open,
    client_documents: None,
    auth_methods: &["none", "client_secret_basic", "client_secret_post"],
    odd_secret: false,
    assigned_method: None,
    server_scopes: &["mcp:tools", "offline_access"],
    iss_advertised: Some(true),
    iss: "{issuer}",
    state: State::Returned,
    denied: None,
    token_error: None,
    token_type: "Bearer",
    expires_in: Some(3600),
    lasts: Duration::from_secs(3600),
    granted: None,
    odd_token: false,
    refresh: Refresh::Rotates,
    slow: Duration::ZERO,
    protects: Protects::Everything,
    accepts: Accepts::Issued,
    calls: Calls::Free,
};
