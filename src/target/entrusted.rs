//! The secrets in the description of a target, recognized by name.

use std::path::Path;

use reqwest::Url;

use super::Start;

/// Names of environment variables and query fields that contain one of these are secret.
const SIGNS: [&str; 8] = ["key", "token", "secret", "pass", "pwd", "credential", "auth", "cookie"];

/// A URL without its secrets: the password is removed, and secret values in the query are replaced by their names.
pub fn shown_url(url: &str) -> String {
    let Ok(mut shown) = Url::parse(url) else { return url.to_owned() };
    let pairs: Vec<(String, String)> = shown.query_pairs().into_owned().collect();
    if shown.username().is_empty() && shown.password().is_none() && !pairs.iter().any(|(name, _)| is_secret(name)) {
        return url.to_owned();
    }
    // This fails only for a URL without a host, which this one has. A user name without a password is a token.
    let _ = if shown.password().is_some() { shown.set_password(None) } else { shown.set_username("") };
    if pairs.iter().any(|(name, _)| is_secret(name)) {
        let instead = |(name, value): (String, String)| match is_secret(&name) {
            true => (name.clone(), name.to_uppercase()),
            false => (name, value),
        };
        shown.query_pairs_mut().clear().extend_pairs(pairs.into_iter().map(instead));
    }
    shown.to_string()
}

impl Start {
    /// The values with secret names, except paths: the server mentions them, and its files are there.
    pub fn secrets(&self) -> Vec<String> {
        let named: Vec<(String, String)> = match self {
            Self::Stdio { env, .. } => env.clone(),
            Self::Http { url, .. } | Self::Sse { url, .. } => {
                Url::parse(url).map(|url| url.query_pairs().into_owned().collect()).unwrap_or_default()
            }
        };
        let secret = named.into_iter().filter(|(name, value)| is_secret(name) && !is_path(value));
        secret.map(|(_, value)| value).collect()
    }
}

/// Whether the value is a path on this machine.
pub fn is_path(value: &str) -> bool {
    let path = Path::new(value);
    path.is_absolute() && path.exists()
}

/// Whether the name indicates a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_secrets() {
        for (url, shown) in [
            ("http://h/mcp?a=1", "http://h/mcp?a=1"),
            ("no url", "no url"),
            ("http://me:geheim@h/mcp", "http://me@h/mcp"),
            ("http://geheim@h/mcp", "http://h/mcp"),
            ("http://h/mcp?apiKey=geheim&a=1", "http://h/mcp?apiKey=APIKEY&a=1"),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }

    #[test]
    fn what_is_secret_shows_by_its_name() {
        let pairs = [("API_TOKEN", "abcdefgh"), ("LEVEL", "verbose-debug"), ("KEY_FILE", env!("CARGO_MANIFEST_DIR"))];
        let env = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(Start::Stdio { argv: Vec::new(), env, cwd: None }.secrets(), ["abcdefgh"]);
        let start = Start::Http { url: "http://h/?api_key=abc%20defgh&a=1".to_owned(), headers: Vec::new() };
        assert_eq!(start.secrets(), ["abc defgh"]);
    }
}
