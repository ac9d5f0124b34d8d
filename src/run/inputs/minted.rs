//! Tokens that this program signs itself, for a server that trusts it: one that is right, and others that are wrong in one
//! way each.

use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};

use conform_model::PROGRAM;

use crate::{
    error::Error,
    target::{Issuer, Issuing},
};

const KEY: &str = "mcp-conform-1";
const HOUR: u64 = 3600;
const ELSEWHERE: &str = "https://mcp-conform.invalid";

pub struct Minted {
    /// By name, as in the configuration.
    pub tokens: Vec<(&'static str, String)>,
    pub issuing: Issuing,
}

/// `url` is that of the server.
pub fn mint(issuer: &Issuer, url: &str) -> Result<Minted, Error> {
    let key = Key::kept(place().as_deref()).ok_or_else(|| Error::usage("no key could be generated"))?;
    let origin = format!("http://{}", issuer.address);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let right = json!({
        "iss": origin,
        "aud": issuer.audience.as_deref().unwrap_or(url),
        "sub": "mcp-conform",
        "client_id": "mcp-conform",
        "scope": issuer.scopes.join(" "),
        "jti": "mcp-conform-own",
        "iat": now,
        "exp": now + HOUR,
    });
    let with = |changes: Value| {
        let mut claims = right.clone();
        for (name, value) in changes.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        claims
    };
    let mut unbound = right.clone();
    unbound.as_object_mut().and_then(|claims| claims.shift_remove("aud"));
    let mut all = vec![
        ("own", right.clone()),
        ("expired", with(json!({ "iat": now - 2 * HOUR, "exp": now - HOUR }))),
        ("foreign", with(json!({ "aud": ELSEWHERE }))),
        ("unbound", unbound),
        ("upper", with(json!({ "aud": in_capitals(right["aud"].as_str().unwrap_or_default()) }))),
        ("alien", with(json!({ "iss": ELSEWHERE }))),
        ("second", with(json!({ "sub": "mcp-conform-second", "jti": "mcp-conform-second" }))),
    ];
    if !issuer.scopes.is_empty() {
        all.push(("narrow", with(json!({ "scope": "" }))));
    }
    let claims = |name: &str, claims: &Value| {
        let mut told = claims.clone();
        told["active"] = (name != "expired" && name != "alien").into();
        told
    };
    let tokens: Vec<_> = all.iter().map(|(name, claims)| (*name, key.signed(claims))).collect();
    let known = all.iter().zip(&tokens).map(|((name, of), (_, token))| (token.clone(), claims(name, of)));
    let metadata = json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "introspection_endpoint": format!("{origin}/introspect"),
        "jwks_uri": format!("{origin}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "code_challenge_methods_supported": ["S256"],
    });
    let keys = json!({ "keys": [key.public()] });
    let documents = [
        ("/.well-known/oauth-authorization-server", &metadata),
        ("/.well-known/openid-configuration", &metadata),
        ("/.well-known/jwks.json", &keys),
        ("/jwks", &keys),
    ];
    let documents = documents.map(|(path, document)| (path.to_owned(), document.clone())).to_vec();
    let issuing = Issuing { address: issuer.address.clone(), documents, claims: known.collect() };
    Ok(Minted { tokens, issuing })
}

/// The same URL: scheme and host are the same in either case.
fn in_capitals(url: &str) -> String {
    let authority = url.find("://").map_or(0, |at| at + "://".len());
    let end = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    url[..end].to_uppercase() + &url[end..]
}

fn place() -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.or_else(|| Some(Path::new(&env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?).join(".cache")));
    Some(cache?.join(PROGRAM).join("issuer.p8"))
}

/// Only the user can read it.
fn keep(file: &Path, key: &[u8]) -> io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(key)
}

struct Key(EcdsaKeyPair, SystemRandom);

impl Key {
    /// The key of earlier runs, if there is one. Servers keep the keys of an issuer: `jose` fetches them again after 30 s at
    /// the earliest, and `fastmcp` after an hour.
    fn kept(file: Option<&Path>) -> Option<Self> {
        let random = SystemRandom::new();
        let read = |bytes: &[u8]| EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random).ok();
        let known = file.and_then(|file| read(&fs::read(file).ok()?));
        let pair = known.or_else(|| {
            let written = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).ok()?;
            if let Some(file) = file {
                // If it cannot be kept, it is the key of this run alone.
                drop(keep(file, written.as_ref()));
            }
            read(written.as_ref())
        })?;
        Some(Self(pair, random))
    }

    fn signed(&self, claims: &Value) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let head = json!({ "alg": "ES256", "typ": "at+jwt", "kid": KEY }).to_string();
        let text = format!("{}.{}", encode(head.as_bytes()), encode(claims.to_string().as_bytes()));
        let signature = self.0.sign(&self.1, text.as_bytes()).map_or_else(|_| String::new(), |it| encode(it.as_ref()));
        format!("{text}.{signature}")
    }

    /// As a JSON Web Key. A point is 4 and two numbers of 32 bytes.
    fn public(&self) -> Value {
        let point = &self.0.public_key().as_ref()[1..];
        let [x, y] = [&point[..32], &point[32..]].map(|number| URL_SAFE_NO_PAD.encode(number));
        json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": KEY, "use": "sig", "alg": "ES256" })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn the_key_is_that_of_the_run_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cache/issuer.p8");
        let first = Key::kept(Some(&file)).expect("a key").public();
        assert_eq!(Key::kept(Some(&file)).expect("a key").public(), first);
        assert_ne!(Key::kept(None).expect("a key").public(), first);
        fs::write(&file, "no key").expect("a file");
        assert_ne!(Key::kept(Some(&file)).expect("a key").public(), first);
    }

    #[test]
    fn each_token_is_signed_and_wrong_in_one_way() {
        let issuer = Issuer { address: "127.0.0.1:9".into(), audience: None, scopes: vec!["read".into()] };
        let Minted { tokens, issuing } = mint(&issuer, "http://127.0.0.1:3000/mcp").expect("a key");
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("Base64");
        let key = &issuing.documents[3].1["keys"][0];
        let number = |name: &str| decode(key[name].as_str().expect("a number"));
        let public = [vec![4], number("x"), number("y")].concat();
        let mut right = None;
        for (name, token) in &tokens {
            let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
            let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &public);
            key.verify(format!("{head}.{claims}").as_bytes(), &decode(signature)).expect("signed");
            let claims: Value = serde_json::from_slice(&decode(claims)).expect("JSON");
            let right: &Value = right.get_or_insert_with(|| claims.clone());
            let differing =
                ["iss", "aud", "sub", "exp", "scope"].iter().filter(|claim| claims[**claim] != right[**claim]);
            assert_eq!(differing.count(), usize::from(*name != "own"), "{name}");
        }
    }
}
