//! From the challenge to the registration.

use conform_reference_client::{
    behaviour::Behaviour,
    oauth::{
        errand::Step,
        ways::{
            Compares, Reads,
            ResourcePlace::{Path, Root},
            ServerPlace::{OauthInserted, OauthRoot, OpenidAppended, OpenidInserted},
            Ways,
        },
    },
};
use serde_json::json;

use super::{decides, sends};

pub static FAULTS: &[Behaviour] = &[
    decides(
        "code-never-redeemed",
        "the authorization code is not sent to the token endpoint",
        Ways { sends_code: 0, ..Ways::USUAL },
    ),
    decides(
        "rejected-requests-repeated",
        "requests with status 401 are sent again without a token",
        Ways { repeats: 10, ..Ways::USUAL },
    ),
    decides(
        "resource-metadata-ignored",
        "the origin of the MCP server is taken for the authorization server",
        Ways { ignores_metadata: true, defaults: true, ..Ways::USUAL },
    ),
    decides("challenge-ignored", "the challenge is not read", Ways { reads: Reads::Never, ..Ways::USUAL }),
    decides(
        "challenge-case-sensitive",
        "only one case of the challenge is understood",
        Ways { reads: Reads::CaseSensitive, ..Ways::USUAL },
    ),
    decides(
        "challenge-first-line-only",
        "only the first line of the challenge is read",
        Ways { reads: Reads::FirstLine, ..Ways::USUAL },
    ),
    decides(
        "challenge-split-at-commas",
        "the challenge is split at every comma",
        Ways { reads: Reads::AtCommas, ..Ways::USUAL },
    ),
    decides(
        "challenge-searched",
        "the first text that looks like the parameter is taken for it",
        Ways { reads: Reads::BySearch, ..Ways::USUAL },
    ),
    decides(
        "well-known-resource-first",
        "the well-known places of resource metadata precede the one in the challenge",
        Ways { well_known_first: true, ..Ways::USUAL },
    ),
    decides(
        "resource-metadata-at-root-first",
        "resource metadata at the root is preferred to that at the path",
        Ways { resource_places: &[Root, Path], ..Ways::USUAL },
    ),
    decides(
        "resource-metadata-at-path-only",
        "resource metadata at the root is not looked for",
        Ways { resource_places: &[Path], ..Ways::USUAL },
    ),
    decides(
        "discovery-without-end",
        "metadata that cannot be used is requested again and again",
        Ways { rounds: 8, ..Ways::USUAL },
    ),
    decides(
        "resource-compared-by-bytes",
        "scheme and host of `resource` are compared by their bytes",
        Ways { exact_resource: true, ..Ways::USUAL },
    ),
    decides(
        "resource-is-endpoint",
        "`resource` of the metadata is not used",
        Ways { own_resource: true, ..Ways::USUAL },
    ),
    decides(
        "resource-not-for-openid",
        "`resource` is not sent to OpenID providers",
        Ways { no_resource_for_openid: true, ..Ways::USUAL },
    ),
    decides(
        "openid-metadata-rejected",
        "the fields of OpenID metadata are an error",
        Ways { rejects_openid: true, ..Ways::USUAL },
    ),
    decides(
        "foreign-resource-accepted",
        "`resource` of the metadata is not compared",
        Ways { checks_resource: false, ..Ways::USUAL },
    ),
    decides(
        "openid-metadata-first",
        "the OpenID metadata is preferred to the OAuth metadata",
        Ways { places: &[OpenidInserted, OauthInserted, OpenidAppended], ..Ways::USUAL },
    ),
    decides("issuer-path-dropped", "the path of the issuer is dropped", Ways { places: &[OauthRoot], ..Ways::USUAL }),
    decides(
        "openid-metadata-appended-only",
        "OpenID metadata is looked for below the path of the issuer only",
        Ways { places: &[OauthInserted, OpenidAppended], ..Ways::USUAL },
    ),
    decides(
        "openid-metadata-inserted-only",
        "OpenID metadata below the path of the issuer is not looked for",
        Ways { places: &[OauthInserted, OpenidInserted], ..Ways::USUAL },
    ),
    decides(
        "openid-metadata-unknown",
        "OpenID metadata is not looked for",
        Ways { places: &[OauthInserted], ..Ways::USUAL },
    ),
    decides(
        "issuer-not-compared",
        "`issuer` of the metadata is not compared",
        Ways { compares: Compares::Never, ..Ways::USUAL },
    ),
    decides(
        "issuer-compared-as-url",
        "`issuer` of the metadata is normalized before it is compared",
        Ways { compares: Compares::Normalized, ..Ways::USUAL },
    ),
    decides(
        "default-endpoints-used",
        "without metadata of the authorization server the default endpoints are used",
        Ways { defaults: true, ..Ways::USUAL },
    ),
    decides("registration-unsupported", "the client does not register", Ways { registers: 0, ..Ways::USUAL }),
    decides(
        "registration-guessed",
        "a registration endpoint is guessed",
        Ways { guesses_registration: true, ..Ways::USUAL },
    ),
    decides(
        "registration-repeated",
        "a rejected registration is sent again and again",
        Ways { registers: 8, ..Ways::USUAL },
    ),
    decides(
        "login-without-registration",
        "the login continues after a rejected registration",
        Ways { needs_no_id: true, ..Ways::USUAL },
    ),
    sends("registration-as-form", "the registration request is a form", |_, _, errand| {
        if errand.step == Step::Registration {
            let uri = errand.json["redirect_uris"][0].as_str().unwrap_or_default().to_owned();
            errand.form = vec![("redirect_uris".to_owned(), uri)];
            errand.json = serde_json::Value::Null;
        }
    }),
    sends("registration-with-list-of-scopes", "`scope` of the registration request is an array", |_, _, errand| {
        if errand.step == Step::Registration {
            errand.json["scope"] = json!(["mcp:tools"]);
        }
    }),
    sends(
        "registration-for-refresh-only",
        "the client registers for the grant of refresh tokens alone",
        |_, _, errand| {
            if errand.step == Step::Registration {
                errand.json["grant_types"] = json!(["refresh_token"]);
            }
        },
    ),
    sends(
        "registration-without-refresh",
        "the client does not register for refresh tokens, and uses them",
        |_, _, errand| {
            if errand.step == Step::Registration {
                errand.json["grant_types"] = json!(["authorization_code"]);
            }
        },
    ),
    sends("application-type-missing", "the registration request has no application_type", |_, _, errand| {
        if let Some(body) = errand.json.as_object_mut() {
            body.shift_remove("application_type");
        }
    }),
    sends("application-type-desktop", "the application_type is one that does not exist", |_, _, errand| {
        if errand.step == Step::Registration {
            errand.json["application_type"] = json!("desktop");
        }
    }),
    sends("application-type-web", "the application_type is that of a web application", |_, _, errand| {
        if errand.step == Step::Registration {
            errand.json["application_type"] = json!("web");
        }
    }),
    sends("redirect-uri-unregistered", "another redirect URI than the used one is registered", |_, _, errand| {
        if errand.step == Step::Registration {
            errand.json["redirect_uris"] = json!(["http://localhost:3000/callback"]);
        }
    }),
];
