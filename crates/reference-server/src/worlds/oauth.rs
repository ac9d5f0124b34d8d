//! Worlds for rules about authorization: each is the plain one with the settings that differ.

mod again;

pub use again::SECOND_LOGINS;

use crate::{
    faults::Behaviour,
    oauth::{Accepts, PLAIN, Refresh, Registration, Settings, State, oauth, openid},
    options::Transport,
};
use conform_model::revision::Revision;

const fn world(name: &'static str, about: &'static str, settings: &'static Settings) -> Behaviour {
    Behaviour {
        oauth: Some(settings),
        since: Some(Revision::V2025_06_18),
        ..Behaviour::new(name, about, &[Transport::Http])
    }
}

/// No rule leads to this path.
const ODD_PATH: &str = "/metadata/of%20this/server.json";
const PATH: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";
const OAUTH_INSERTED: &str = "/.well-known/oauth-authorization-server/tenant1";
const OPENID_INSERTED: &str = "/.well-known/openid-configuration/tenant1";
const OPENID_APPENDED: &str = "/tenant1/.well-known/openid-configuration";

/// The metadata is only where the challenge says.
const NAMED: Settings = Settings { named: ODD_PATH, resource_at: &[ODD_PATH], decoy_at: &[PATH, ROOT], ..PLAIN };
const BARE: Settings = Settings { challenge: "Bearer", ..PLAIN };
const NO_SCOPES: Settings = Settings { resource_scopes: &[], server_scopes: &["mcp:other", "mcp:admin"], ..PLAIN };
const SCOPES: Settings = Settings { server_scopes: &["mcp:other", "mcp:admin", "a", "b"], ..PLAIN };

pub static OAUTH: &[Behaviour] = &[
    world("oauth-plain", "authorization by a server of its own, without anything unusual", &PLAIN),
    world(
        "oauth-odd",
        "the metadata is at an odd path, endpoints have a query, and tokens are long",
        &Settings { query: "?tenant=a%20b", odd_token: true, ..NAMED },
    ),
    world(
        "oauth-spelling-case",
        "scheme and parameter names of the challenge are in another case",
        &Settings { challenge: "bEARER Resource_Metadata=\"{metadata}\"", ..NAMED },
    ),
    world(
        "oauth-spelling-order",
        "unknown parameters precede the URL of the metadata, with commas and escaped quotes in them",
        &Settings {
            challenge: "Bearer realm=\"a, \\\"b\\\" = c\", x_odd=1, error_description=\"no resource_metadata=\\\"http://127.0.0.1:9/\\\"\", resource_metadata=\"{metadata}\"",
            ..NAMED
        },
    ),
    world(
        "oauth-spelling-lines",
        "another challenge precedes that of OAuth, on a line of its own",
        &Settings { challenge: "Basic realm=\"old\"\nBearer resource_metadata=\"{metadata}\"", ..NAMED },
    ),
    world(
        "oauth-spelling-joined",
        "another challenge precedes that of OAuth on the same line",
        &Settings { challenge: "Negotiate, Basic realm=\"old\", Bearer resource_metadata=\"{metadata}\"", ..NAMED },
    ),
    world(
        "oauth-prm-path",
        "the challenge names no metadata, which is at the path of the endpoint",
        &Settings { decoy_at: &[ROOT], ..BARE },
    ),
    world(
        "oauth-prm-root",
        "the challenge names no metadata, which is at the root",
        &Settings { resource_at: &[ROOT], ..BARE },
    ),
    world(
        "oauth-prm-html",
        "a page is where the metadata should be",
        &Settings { no_metadata: Some("<!doctype html><title>Hello</title>"), ..PLAIN },
    ),
    world(
        "oauth-prm-foreign",
        "the metadata is that of another host",
        &Settings { resource: "https://mcp.example/mcp", ..PLAIN },
    ),
    world("oauth-prm-upper", "`resource` has its scheme in upper case", &Settings { resource: "{MCP}/mcp", ..PLAIN }),
    world("oauth-prm-published", "`resource` is the origin", &Settings { resource: "{mcp}", ..PLAIN }),
    world(
        "oauth-issuer-path-1",
        "the issuer has a path, and all three documents are there",
        &Settings {
            tenant: "/tenant1",
            documents: &[
                oauth(OAUTH_INSERTED, "/first"),
                openid(OPENID_INSERTED, "/second"),
                openid(OPENID_APPENDED, "/third"),
            ],
            ..PLAIN
        },
    ),
    world(
        "oauth-issuer-path-2",
        "the issuer has a path, and only the documents of OpenID are there",
        &Settings {
            tenant: "/tenant1",
            documents: &[openid(OPENID_INSERTED, "/second"), openid(OPENID_APPENDED, "/third")],
            ..PLAIN
        },
    ),
    world(
        "oauth-issuer-path-3",
        "the issuer has a path, and only the last document is there",
        &Settings { tenant: "/tenant1", documents: &[openid(OPENID_APPENDED, "/third")], ..PLAIN },
    ),
    world(
        "oauth-issuer-openid",
        "there is only a document of OpenID",
        &Settings { documents: &[openid("/.well-known/openid-configuration", "/openid")], ..PLAIN },
    ),
    world("oauth-issuer-none", "the authorization server has no metadata", &Settings { documents: &[], ..PLAIN }),
    world(
        "oauth-issuer-foreign",
        "the metadata is that of another issuer",
        &Settings { issuer: "https://auth.example", ..PLAIN },
    ),
    world(
        "oauth-issuer-escape",
        "`issuer` has an escaped letter",
        &Settings {
            tenant: "/tenant1",
            issuer: "{as1}/%74enant1",
            documents: &[
                oauth(OAUTH_INSERTED, "/first"),
                openid(OPENID_INSERTED, "/second"),
                openid(OPENID_APPENDED, "/third"),
            ],
            ..PLAIN
        },
    ),
    world(
        "oauth-pkce-absent",
        "no code challenge methods are advertised",
        &Settings { challenge_methods: None, ..PLAIN },
    ),
    world(
        "oauth-pkce-absent-openid",
        "the document of OpenID advertises no code challenge methods",
        &Settings {
            challenge_methods: None,
            documents: &[openid("/.well-known/openid-configuration", "/openid")],
            ..PLAIN
        },
    ),
    world(
        "oauth-pkce-plain-first",
        "`plain` is advertised before S256",
        &Settings { challenge_methods: Some(&["plain", "x", "S256"]), ..PLAIN },
    ),
    world(
        "oauth-no-registration",
        "clients cannot register",
        &Settings { registration: Registration::Absent, ..PLAIN },
    ),
    world(
        "oauth-registration-rejected",
        "every registration is rejected",
        &Settings { registration: Registration::Rejected(400, "invalid_client_metadata"), ..PLAIN },
    ),
    world(
        "oauth-registration-changed",
        "a client that registers gets another authentication method than it wants",
        &Settings { assigned_method: Some("client_secret_post"), ..PLAIN },
    ),
    world(
        "oauth-method-basic",
        "clients have to use client_secret_basic",
        &Settings { auth_methods: &["client_secret_basic"], ..PLAIN },
    ),
    world(
        "oauth-method-post",
        "clients have to use client_secret_post",
        &Settings { auth_methods: &["client_secret_post"], ..PLAIN },
    ),
    world("oauth-method-none", "clients have no secret", &Settings { auth_methods: &["none"], ..PLAIN }),
    world(
        "oauth-odd-secret",
        "secrets have characters that need encoding in client_secret_basic",
        &Settings { auth_methods: &["client_secret_basic"], odd_secret: true, ..PLAIN },
    ),
    world(
        "oauth-documents-false",
        "ids that are URLs are not supported",
        &Settings { client_documents: Some(false), ..PLAIN },
    ),
    world("oauth-documents", "ids that are URLs are supported", &Settings { client_documents: Some(true), ..PLAIN }),
    world(
        "oauth-state-dropped",
        "the authorization response has no `state`",
        &Settings { state: State::Dropped, ..PLAIN },
    ),
    world(
        "oauth-state-changed",
        "the authorization response has another `state`",
        &Settings { state: State::Changed, ..PLAIN },
    ),
    world("oauth-iss-missing", "the authorization response lacks the advertised `iss`", &Settings { iss: "", ..PLAIN }),
    world(
        "oauth-iss-wrong",
        "the authorization response has another `iss`",
        &Settings { iss: "https://auth.example", ..PLAIN },
    ),
    world(
        "oauth-iss-unadvertised",
        "the authorization response has another `iss`, which is not advertised",
        &Settings { iss: "https://auth.example", iss_advertised: None, ..PLAIN },
    ),
    world(
        "oauth-iss-unadvertised-right",
        "the authorization response has an `iss` that is not advertised",
        &Settings { iss_advertised: None, ..PLAIN },
    ),
    world(
        "oauth-iss-absent",
        "`iss` is said to be unsupported, and absent",
        &Settings { iss: "", iss_advertised: Some(false), ..PLAIN },
    ),
    world("oauth-iss-slash", "`iss` has a final slash too many", &Settings { iss: "{issuer}/", ..PLAIN }),
    world("oauth-denied", "the user denies the request", &Settings { denied: Some("access_denied"), ..PLAIN }),
    world(
        "oauth-code-rejected",
        "the token endpoint rejects every code",
        &Settings { token_error: Some((400, "invalid_grant")), ..PLAIN },
    ),
    world(
        "oauth-bare-token",
        "the token response has nothing but a token and its type",
        &Settings { expires_in: None, refresh: Refresh::None, ..PLAIN },
    ),
    world("oauth-type-case", "the token type is in upper case", &Settings { token_type: "BEARER", ..PLAIN }),
    world("oauth-mac", "tokens are of an unknown type", &Settings { token_type: "mac", ..PLAIN }),
    world(
        "oauth-fewer-scopes",
        "the token has fewer scopes than requested",
        &Settings { granted: Some("mcp:basic"), ..PLAIN },
    ),
    world(
        "oauth-scope-challenge",
        "the challenge has scopes, and no metadata has them",
        &Settings { challenge: "Bearer resource_metadata=\"{metadata}\", scope=\"files:read mcp/tools.v1\"", ..SCOPES },
    ),
    world(
        "oauth-scope-metadata",
        "the resource metadata has scopes, and the challenge has none",
        &Settings { resource_scopes: &["a", "b"], ..SCOPES },
    ),
    world("oauth-scope-nowhere", "neither the challenge nor the resource metadata has scopes", &NO_SCOPES),
    world(
        "oauth-never",
        "no token is accepted",
        &Settings { accepts: Accepts::Nothing, refresh: Refresh::None, ..PLAIN },
    ),
];
