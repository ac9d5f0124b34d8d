//! The token endpoint.

use conform_reference_client::{
    behaviour::Behaviour,
    oauth::{
        errand::{Errand, Step, remove, set},
        ways::{Auth, StepUp, Ways},
    },
};
use serde_json::{Value, json};

use super::{decides, is_token, origin, sends};

fn in_exchange(errand: &mut Errand, change: impl FnOnce(&mut Errand)) {
    if errand.step == Step::Token {
        change(errand);
    }
}

pub static FAULTS: &[Behaviour] = &[
    sends("token-endpoint-guessed", "the token endpoint is guessed", |_, _, errand| {
        if is_token(errand) {
            errand.url = origin(&errand.url) + "/token";
        }
    }),
    sends("verifier-missing", "the token request has no verifier", |_, _, errand| {
        in_exchange(errand, |errand| remove(&mut errand.form, "code_verifier"));
    }),
    sends("verifier-of-another-login", "the verifier is that of another login", |_, _, errand| {
        in_exchange(errand, |errand| set(&mut errand.form, "code_verifier", &"other".repeat(10)));
    }),
    sends("resource-not-in-token-request", "the token request has no resource", |_, _, errand| {
        in_exchange(errand, |errand| remove(&mut errand.form, "resource"));
    }),
    sends("resource-differs-in-token-request", "the token request has another resource", |_, _, errand| {
        in_exchange(errand, |errand| set(&mut errand.form, "resource", "https://mcp.example/mcp"));
    }),
    sends("redirect-uri-differs-in-token-request", "the token request has another redirect URI", |_, _, errand| {
        in_exchange(errand, |errand| set(&mut errand.form, "redirect_uri", "http://127.0.0.1:9/callback"));
    }),
    sends("token-request-as-json", "the token request is JSON", |_, _, errand| {
        in_exchange(errand, |errand| {
            let pairs = errand.form.iter().map(|(name, value)| (name.clone(), json!(value)));
            errand.json = Value::Object(pairs.collect());
        });
    }),
    sends("code-in-query", "the code is sent in the query too", |_, _, errand| {
        in_exchange(errand, |errand| {
            let code = errand.form.iter().filter(|(name, _)| name == "code").cloned().collect();
            errand.query = code;
        });
    }),
    decides("secret-in-body-always", "the secret is always sent in the body", Ways { auth: Auth::Post, ..Ways::USUAL }),
    decides("secret-in-header-always", "the secret is always sent by Basic", Ways { auth: Auth::Basic, ..Ways::USUAL }),
    decides(
        "secret-sent-twice",
        "the secret is sent by Basic and in the body",
        Ways { auth: Auth::Both, ..Ways::USUAL },
    ),
    decides("secret-not-encoded", "id and secret are joined without encoding", Ways { encodes: false, ..Ways::USUAL }),
    sends("empty-secret-sent", "a client without a secret sends an empty one", |_, _, errand| {
        if is_token(errand) && errand.headers.is_empty() {
            errand.form.push(("client_secret".to_owned(), String::new()));
        }
    }),
    sends("client-id-changed", "the registered client id is sent in another case", |_, _, errand| {
        let pairs = errand.query.iter_mut().chain(&mut errand.form);
        for (_, value) in pairs.filter(|(name, _)| name == "client_id") {
            *value = value.to_uppercase();
        }
    }),
    decides("code-sent-again", "a rejected code is sent again", Ways { sends_code: 3, ..Ways::USUAL }),
    decides(
        "unknown-token-type-used",
        "the type of the token does not matter",
        Ways { any_token_type: true, ..Ways::USUAL },
    ),
    decides(
        "token-type-in-one-case",
        "the token type is compared by its bytes",
        Ways { exact_token_type: true, ..Ways::USUAL },
    ),
    decides("later-401-final", "status 401 of a call is final", Ways { connects_only: true, ..Ways::USUAL }),
    decides(
        "rejected-call-not-repeated",
        "a call is not sent again after a step-up",
        Ways { leaves_request: true, ..Ways::USUAL },
    ),
    decides(
        "rejected-token-repeated",
        "a rejected token is sent again and again",
        Ways { repeats_token: 6, ..Ways::USUAL },
    ),
    decides(
        "invented-refresh-token",
        "without a refresh token one is made up",
        Ways { invents_refresh: true, ..Ways::USUAL },
    ),
    decides(
        "tokens-without-lifetime-dropped",
        "a token without `expires_in` is taken for expired",
        Ways { needs_lifetime: true, ..Ways::USUAL },
    ),
    decides(
        "fewer-scopes-rejected",
        "a token with fewer scopes than requested is dropped",
        Ways { needs_scopes: true, ..Ways::USUAL },
    ),
    decides(
        "logins-without-end",
        "each rejected token leads to another login",
        Ways { most_logins: 12, ..Ways::USUAL },
    ),
    decides("step-up-unsupported", "status 403 is final", Ways { step_up: StepUp::Never, ..Ways::USUAL }),
    decides(
        "step-up-by-challenge-only",
        "only the scopes of the challenge are requested in a step-up",
        Ways { step_up: StepUp::ChallengeOnly, ..Ways::USUAL },
    ),
    decides(
        "step-up-with-same-scopes",
        "a step-up requests the same scopes again",
        Ways { step_up: StepUp::Same, ..Ways::USUAL },
    ),
    decides("every-403-is-a-login", "each status 403 leads to a login", Ways { any_403: true, ..Ways::USUAL }),
    decides("refresh-unsupported", "refresh tokens are not used", Ways { refreshes: false, ..Ways::USUAL }),
    decides(
        "failed-refresh-repeated",
        "a rejected refresh token is sent again",
        Ways { repeats_refresh: 5, ..Ways::USUAL },
    ),
    decides(
        "first-refresh-token-kept",
        "the first refresh token is used for ever",
        Ways { keeps_first_refresh: true, ..Ways::USUAL },
    ),
    decides(
        "refresh-token-dropped",
        "a refresh that returns no refresh token ends the old one",
        Ways { drops_refresh: true, ..Ways::USUAL },
    ),
    decides(
        "refreshes-overlap",
        "each rejected request refreshes by itself",
        Ways { single_flight: false, ..Ways::USUAL },
    ),
    sends("refresh-without-client", "a refresh has no client id", |_, _, errand| {
        if errand.step == Step::Refresh {
            remove(&mut errand.form, "client_id");
            errand.headers.clear();
        }
    }),
    sends("refresh-without-resource", "a refresh has no resource", |_, _, errand| {
        if errand.step == Step::Refresh {
            remove(&mut errand.form, "resource");
        }
    }),
    sends("refresh-with-more-scopes", "a refresh requests scopes that were not granted", |_, _, errand| {
        if errand.step == Step::Refresh {
            set(&mut errand.form, "scope", "mcp:tools mcp:admin");
        }
    }),
    sends("token-with-metadata-requests", "metadata is requested with the access token", |_, _, errand| {
        if let (Some(access), false) = (errand.access.clone(), is_token(errand)) {
            errand.headers.push(("authorization".to_owned(), format!("Bearer {access}")));
        }
    }),
];
