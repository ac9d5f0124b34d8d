//! `$tokens`: each token request.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::requests::{Context, Request, first, ms};

/// What Basic credentials say.
pub fn basic(authorization: &str) -> Option<String> {
    let (scheme, encoded) = authorization.split_once(' ')?;
    let bytes = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// As a form encodes it.
fn form_decoded(text: &str) -> String {
    let pair = format!("x={text}");
    form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

pub fn of(context: &Context, requests: &[Request]) -> Vec<Value> {
    let of_tokens = requests.iter().filter(|request| request.passed.about == "token");
    let mut all: Vec<Value> = Vec::new();
    for request in of_tokens {
        let passed = request.passed;
        let given = |name: &str| first(&request.params, name);
        let code = given("code");
        let refresh = given("refresh_token");
        let pair = basic(passed.header("authorization"));
        let pair = pair.as_deref().and_then(|pair| pair.split_once(':'));
        let id = given("client_id").map(str::to_owned).or_else(|| pair.map(|(id, _)| form_decoded(id)));
        // The registration that this client id is from.
        let registered = requests.iter().find(|other| {
            other.passed.about == "registration"
                && id.as_deref().is_some_and(|id| other.passed.response["client_id"] == id)
        });
        let registered = registered.map_or(&Value::Null, |other| &other.passed.response);
        let kinds = [
            (pair.is_some(), "client_secret_basic"),
            (given("client_secret").is_some(), "client_secret_post"),
            (given("client_assertion").is_some(), "private_key_jwt"),
        ];
        let auth: Vec<&str> = kinds.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect();
        let secret = registered["client_secret"].as_str();
        let encoding =
            pair.zip(secret).map(|((_, given), secret)| match (form_decoded(given) == secret, given == secret) {
                (true, _) => "encoded",
                (false, true) => "raw",
                (false, false) => "other",
            });
        let same = |field: &str, value: Option<&str>| {
            all.iter().filter(|other| value.is_some() && other["params"][field].as_str() == value).count()
        };
        let rejected = all.iter().filter(|other| {
            refresh.is_some()
                && other["params"]["refresh_token"].as_str() == refresh
                && other["error"] == "invalid_grant"
        });
        // The authorization request that this code is from.
        let login = requests.iter().find(|other| {
            other.passed.about == "authorization"
                && code.is_some_and(|code| redirected(other).iter().any(|(_, value)| value == code))
        });
        let challenge = login.and_then(|login| first(&login.params, "code_challenge"));
        let verifier = given("code_verifier");
        let proves = challenge.zip(verifier).map(|(challenge, verifier)| hashed(verifier) == challenge);
        let previous = all.iter().rfind(|other| other["to"] == passed.to.name() && other["status"] == 200);
        let newest = previous.and_then(|other| other["newest_refresh"].as_str().map(str::to_owned));
        let issued = passed.response["refresh_token"].as_str().map(str::to_owned).or_else(|| newest.clone());
        let usual = all.iter().find(|other| other["grant"] == "authorization_code").map(|other| other["auth"].clone());
        let item = json!({
            "to": passed.to.name(),
            "grant": given("grant_type"),
            "method": passed.method,
            "query": passed.query,
            "form": request.item["form"],
            "params": request.item["params"],
            "repeated": request.item["repeated"],
            "headers": request.item["headers"],
            "client_id": id,
            "auth": auth,
            "usual_auth": usual,
            "registered": registered,
            "assigned": registered["token_endpoint_auth_method"],
            "secret_encoding": encoding,
            "login": login.map(|login| login.item["params"].clone()),
            "proves": proves,
            "same_code": same("code", code),
            "same_refresh": same("refresh_token", refresh),
            "rejected_before": rejected.count(),
            "newest_refresh": issued,
            "refreshes_newest": refresh.map(|refresh| newest.as_deref() == Some(refresh)),
            "status": passed.status,
            "error": passed.response["error"],
            "response": passed.response,
            "ms": ms(context.kept, passed),
            "frames": login.map(|login| login.passed.frame).into_iter().chain([passed.frame]).collect::<Vec<_>>(),
            "link": passed.link,
            "world": context.world,
        });
        all.push(item);
    }
    all
}

/// The parameters that the redirect of an authorization endpoint adds.
pub fn redirected(request: &Request) -> super::requests::Pairs {
    let location = request.passed.location.as_deref().unwrap_or_default();
    let query = location.split_once('?').map_or("", |(_, query)| query);
    super::requests::pairs(query.split('#').next().unwrap_or_default().as_bytes())
}

/// The challenge of a verifier, with S256.
pub fn hashed(verifier: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes());
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_is_proved() {
        assert_eq!(
            hashed("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn basic_credentials_are_decoded() {
        assert_eq!(basic("basic YTpi").as_deref(), Some("a:b"));
        assert_eq!(basic("Bearer YTpi"), None);
        assert_eq!(form_decoded("a%3A+b"), "a: b");
    }
}
