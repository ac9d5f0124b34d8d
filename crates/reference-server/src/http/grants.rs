//! What the small authorization server issued: a user logs in and decides, the client gets a code, and tokens for it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{http::hub::fresh_id, oauth::form::Form};

/// The fields of the login page, as the only user fills them in.
pub const USER: [(&str, &str); 2] = [("username", "ada"), ("password", "ref-pass-3d81f0c2b7")];
const HOUR: u32 = 3600;

/// What a careless authorization server does not check.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Lax {
    /// The verifier is not compared.
    Verifier,
    /// The challenge is a verifier, too.
    Plain,
    /// A missing or empty verifier skips the comparison.
    VerifierMissing,
    RedirectUri,
    /// A code or refresh token works for other clients.
    Client,
    /// A code works until it expires.
    CodeUsed,
    /// Reuse of a code or refresh token is rejected, and the others of its family work on.
    Family,
    /// A replaced refresh token works.
    RefreshUsed,
    /// A refresh returns the same refresh token.
    Rotation,
    Scope,
    Resource,
    /// Clients get refresh tokens that did not register the grant type.
    GrantTypes,
    /// A request without a challenge is approved.
    Challenge,
}

#[derive(Default)]
pub struct Grants {
    pub lax: Vec<Lax>,
    /// The sessions of browsers.
    sessions: Vec<String>,
    codes: Vec<Code>,
    refresh: Vec<Refresh>,
    /// How many access tokens were issued.
    issued: usize,
}

/// An authorization request that the user approved.
#[derive(Clone, Default)]
struct Grant {
    client: String,
    scope: String,
    resource: Option<String>,
    refreshes: bool,
    /// All tokens that come from one code have its number.
    family: usize,
}

struct Code {
    value: String,
    grant: Grant,
    challenge: String,
    redirect_uri: Option<String>,
    used: bool,
}

#[derive(Clone)]
struct Refresh {
    value: String,
    grant: Grant,
    used: bool,
}

impl Grants {
    /// The cookie of a new session, if the user is known.
    pub fn log_in(&mut self, form: &Form) -> Option<String> {
        let is_known = USER.iter().all(|(name, value)| form.get(name) == Some(value));
        is_known.then(|| {
            let session = fresh_id();
            self.sessions.push(session.clone());
            format!("ref-session={session}; Path=/; HttpOnly")
        })
    }

    pub fn is_logged_in(&self, cookies: &str) -> bool {
        let mut values = cookies.split("; ").filter_map(|cookie| cookie.strip_prefix("ref-session="));
        values.any(|session| self.sessions.iter().any(|known| known == session))
    }

    /// The code for an authorization request.
    pub fn code(&mut self, request: &Form, scope: String, refreshes: bool) -> String {
        let get = |name: &str| request.get(name).map(str::to_owned);
        let grant = Grant {
            client: get("client_id").unwrap_or_default(),
            scope,
            resource: get("resource"),
            refreshes,
            family: self.codes.len(),
        };
        let value = format!("ref-code-{}", fresh_id());
        let challenge = get("code_challenge").unwrap_or_default();
        let code = Code { value: value.clone(), grant, challenge, redirect_uri: get("redirect_uri"), used: false };
        self.codes.push(code);
        value
    }

    pub fn is_lax(&self, lax: Lax) -> bool {
        self.lax.contains(&lax)
    }

    /// The response to a token request with a code.
    pub fn redeem(&mut self, form: &Form, client: &str) -> Result<Value, &'static str> {
        let (any_client, reusable) = (self.is_lax(Lax::Client), self.is_lax(Lax::CodeUsed));
        let found = self.codes.iter_mut().find(|code| Some(code.value.as_str()) == form.get("code"));
        let found = found.filter(|code| code.grant.client == client || any_client);
        let Some(code) = found else { return Err("invalid_grant") };
        // A code is good for one attempt.
        let was_used = std::mem::replace(&mut code.used, true) && !reusable;
        let (grant, challenge) = (code.grant.clone(), code.challenge.clone());
        // OAuth 2.1 has no `redirect_uri` here; clients of 2.0 send it.
        let is_same = form.get("redirect_uri").is_none_or(|uri| Some(uri) == code.redirect_uri.as_deref());
        if was_used {
            self.revoke(grant.family);
            return Err("invalid_grant");
        }
        let proves = self.proves(form.get("code_verifier").unwrap_or_default(), &challenge);
        if proves && (is_same || self.is_lax(Lax::RedirectUri)) {
            self.tokens(form, &grant, None)
        } else {
            Err("invalid_grant")
        }
    }

    fn proves(&self, verifier: &str, challenge: &str) -> bool {
        URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes())) == challenge
            || self.is_lax(Lax::Verifier) && !verifier.is_empty()
            || self.is_lax(Lax::VerifierMissing) && verifier.is_empty()
            || self.is_lax(Lax::Plain) && verifier == challenge
            || self.is_lax(Lax::Challenge) && challenge.is_empty()
    }

    /// The response to a token request with a refresh token.
    pub fn refresh(&mut self, form: &Form, client: &str) -> Result<Value, &'static str> {
        let any_client = self.is_lax(Lax::Client);
        let at = self.refresh.iter().position(|known| Some(known.value.as_str()) == form.get("refresh_token"));
        let Some(at) = at.filter(|at| self.refresh[*at].grant.client == client || any_client) else {
            return Err("invalid_grant");
        };
        let Refresh { grant, used, value } = self.refresh[at].clone();
        if used && !self.is_lax(Lax::RefreshUsed) {
            self.revoke(grant.family);
            return Err("invalid_grant");
        }
        let wanted = form.get("scope").unwrap_or(&grant.scope).to_owned();
        if !wanted.split(' ').all(|scope| grant.scope.split(' ').any(|granted| granted == scope))
            && !self.is_lax(Lax::Scope)
        {
            return Err("invalid_scope");
        }
        let kept = self.is_lax(Lax::Rotation).then_some(value);
        let tokens = self.tokens(form, &Grant { scope: wanted, ..grant }, kept.clone())?;
        self.refresh[at].used = kept.is_none();
        Ok(tokens)
    }

    fn revoke(&mut self, family: usize) {
        let is_lax = self.is_lax(Lax::Family);
        self.refresh.retain(|known| known.grant.family != family || known.used || is_lax);
    }

    fn tokens(&mut self, form: &Form, grant: &Grant, kept: Option<String>) -> Result<Value, &'static str> {
        let mut grant = grant.clone();
        if let Some(resource) = form.get("resource").filter(|resource| Some(*resource) != grant.resource.as_deref()) {
            if !self.is_lax(Lax::Resource) {
                return Err("invalid_target");
            }
            grant.resource = Some(resource.to_owned());
        }
        self.issued += 1;
        let claims = json!({ "aud": grant.resource, "client_id": grant.client, "jti": self.issued });
        let parts = [r#"{"alg":"ES256","typ":"at+jwt"}"#.to_owned(), claims.to_string(), fresh_id()];
        let token = parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let mut tokens =
            json!({ "access_token": token, "token_type": "Bearer", "expires_in": HOUR, "scope": grant.scope });
        if let Some(kept) = kept {
            tokens["refresh_token"] = json!(kept);
        } else if grant.refreshes || self.is_lax(Lax::GrantTypes) {
            let value = format!("ref-refresh-{}", fresh_id());
            tokens["refresh_token"] = json!(value);
            self.refresh.push(Refresh { value, grant, used: false });
        }
        Ok(tokens)
    }
}
