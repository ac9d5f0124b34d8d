//! The authorization request and its response.

use conform_reference_client::{
    behaviour::Behaviour,
    oauth::{
        errand::{Errand, Step, remove, set},
        ways::{ChecksIss, ChecksState, Pkce, Scopes, Ways},
    },
};

use super::{decides, origin, sends};

/// The authorization request without a parameter.
fn without(errand: &mut Errand, name: &str) {
    if errand.step == Step::Authorization {
        remove(&mut errand.query, name);
    }
}

/// The authorization request with another value.
fn with(errand: &mut Errand, name: &str, change: impl Fn(&str) -> String) {
    let value = errand.query.iter().find(|(known, _)| known == name).map(|(_, value)| change(value));
    if let Some(value) = value.filter(|_| errand.step == Step::Authorization) {
        set(&mut errand.query, name, &value);
    }
}

pub static FAULTS: &[Behaviour] = &[
    sends("client-id-missing", "the authorization request has no client id", |_, _, errand| {
        without(errand, "client_id");
    }),
    sends("client-id-undefined", "the client id is the word undefined", |_, _, errand| {
        with(errand, "client_id", |_| "undefined".to_owned());
    }),
    sends("client-id-as-url", "the client id is a URL, although such ids are not advertised", |_, _, errand| {
        with(errand, "client_id", |_| "https://client.example/metadata.json".to_owned());
    }),
    sends("client-id-is-an-origin", "the client id is a URL without a path", |_, _, errand| {
        with(errand, "client_id", |_| "https://client.example".to_owned());
    }),
    sends("document-with-secret", "a client whose id is a URL authenticates with a secret", |_, _, errand| {
        let url = "https://client.example/metadata.json";
        with(errand, "client_id", |_| url.to_owned());
        if errand.step == Step::Token {
            set(&mut errand.form, "client_id", url);
            set(&mut errand.form, "client_secret", "of this client");
        }
    }),
    sends("response-type-token", "the implicit grant is used", |_, _, errand| {
        with(errand, "response_type", |_| "token".to_owned());
    }),
    sends("parameters-sent-twice", "`scope` is sent twice", |_, _, errand| {
        if errand.step == Step::Authorization {
            errand.query.push(("scope".to_owned(), "other".to_owned()));
            errand.query.push(("scope".to_owned(), "more".to_owned()));
        }
    }),
    decides("challenge-missing", "PKCE is not used", Ways { pkce: Pkce::Absent, ..Ways::USUAL }),
    decides("challenge-method-plain", "the code challenge is the verifier", Ways { pkce: Pkce::Plain, ..Ways::USUAL }),
    decides(
        "challenge-method-first-listed",
        "the first listed code challenge method is used",
        Ways { pkce: Pkce::FirstListed, demands_s256: false, ..Ways::USUAL },
    ),
    sends("challenge-method-missing", "the code challenge method is left out", |_, _, errand| {
        without(errand, "code_challenge_method");
    }),
    decides(
        "pkce-support-assumed",
        "missing code challenge methods are taken for S256",
        Ways { demands_s256: false, ..Ways::USUAL },
    ),
    decides(
        "pkce-support-assumed-of-openid",
        "OpenID providers need not say that they support PKCE",
        Ways { trusts_openid: true, ..Ways::USUAL },
    ),
    decides(
        "unadvertised-iss-rejected",
        "a response with an `iss` that is not advertised is rejected",
        Ways { iss: ChecksIss::NotUnadvertised, ..Ways::USUAL },
    ),
    decides("verifier-constant", "every login has the same verifier", Ways { same_verifier: true, ..Ways::USUAL }),
    sends("resource-not-authorized", "the authorization request has no resource", |_, _, errand| {
        without(errand, "resource");
    }),
    sends("resource-with-fragment", "`resource` has a fragment", |_, _, errand| {
        if let Some((_, value)) = changed(errand, "resource") {
            *value += "#part";
        }
    }),
    sends("resource-of-authorization-server", "`resource` is the URL of the authorization server", |_, _, errand| {
        let url = origin(&errand.url);
        if let Some((_, value)) = changed(errand, "resource") {
            *value = url;
        }
    }),
    sends("resource-is-origin", "`resource` is the origin of the MCP server", |_, _, errand| {
        if let Some((_, value)) = changed(errand, "resource") {
            *value = origin(value);
        }
    }),
    sends("resource-with-slash", "a slash is added to `resource`", |_, _, errand| {
        if let Some((_, value)) = changed(errand, "resource") {
            *value += "/";
        }
    }),
    sends("redirect-uri-in-network", "the redirect URI is an address in the local network", |_, _, errand| {
        with(errand, "redirect_uri", |uri| uri.replace("127.0.0.1", "192.168.1.7"));
    }),
    sends("state-never-sent", "the authorization request has no state", |_, _, errand| without(errand, "state")),
    decides(
        "state-not-compared",
        "`state` of the response is not compared",
        Ways { state: ChecksState::Never, ..Ways::USUAL },
    ),
    decides(
        "missing-state-accepted",
        "a response without `state` is accepted",
        Ways { state: ChecksState::IfPresent, ..Ways::USUAL },
    ),
    decides(
        "right-iss-rejected",
        "every response with `iss` is rejected",
        Ways { iss: ChecksIss::Unknown, ..Ways::USUAL },
    ),
    decides("iss-not-compared", "`iss` of the response is not compared", Ways { iss: ChecksIss::Never, ..Ways::USUAL }),
    decides(
        "missing-iss-accepted",
        "a response without the advertised `iss` is accepted",
        Ways { iss: ChecksIss::IfPresent, ..Ways::USUAL },
    ),
    decides(
        "unadvertised-iss-not-compared",
        "`iss` is only compared if it is advertised",
        Ways { iss: ChecksIss::IfAdvertised, ..Ways::USUAL },
    ),
    decides(
        "iss-always-demanded",
        "`iss` is demanded even if it is not advertised",
        Ways { iss: ChecksIss::Demanded, ..Ways::USUAL },
    ),
    decides(
        "iss-compared-as-url",
        "`iss` is normalized before it is compared",
        Ways { iss: ChecksIss::Normalized, ..Ways::USUAL },
    ),
    decides(
        "missing-code-redeemed",
        "a response with an error is redeemed",
        Ways { ignores_errors: true, ..Ways::USUAL },
    ),
    decides("denied-logins-repeated", "the browser is opened again after an error", Ways { tries: 5, ..Ways::USUAL }),
    decides(
        "listed-scopes-preferred",
        "the listed scopes are preferred to those of the challenge",
        Ways { scopes: Scopes::Listed, ..Ways::USUAL },
    ),
    decides(
        "scopes-of-server",
        "the scopes of the authorization server are requested",
        Ways { scopes: Scopes::OfServer, ..Ways::USUAL },
    ),
    decides(
        "scopes-filtered",
        "scopes of the challenge that are not listed are left out",
        Ways { scopes: Scopes::Filtered, ..Ways::USUAL },
    ),
    decides(
        "all-scopes-requested",
        "everything that is listed is requested",
        Ways { scopes: Scopes::All, ..Ways::USUAL },
    ),
    decides(
        "scopes-invented",
        "scopes that nothing names are requested",
        Ways { scopes: Scopes::Invented, ..Ways::USUAL },
    ),
    decides("scopes-never-requested", "no scope is requested", Ways { scopes: Scopes::Absent, ..Ways::USUAL }),
    sends("scopes-with-commas", "scopes are separated by commas", |_, _, errand| {
        with(errand, "scope", |scope| scope.replace(' ', ","));
    }),
    sends("offline-access-invented", "offline_access is requested although it is not listed", |_, _, errand| {
        with(errand, "scope", |scope| format!("{scope} offline_access"));
    }),
];

/// `resource` of the authorization request and of the token request.
fn changed<'e>(errand: &'e mut Errand, name: &str) -> Option<&'e mut (String, String)> {
    errand.query.iter_mut().chain(&mut errand.form).find(|(known, _)| known == name)
}
