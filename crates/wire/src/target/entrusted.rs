//! Finds secrets in the description of a target, judged by their names.

use std::path::Path;

use reqwest::Url;

use super::Start;

/// Environment variables and query fields are secret if their names contain one of these.
const SIGNS: [&str; 8] = ["key", "token", "secret", "pass", "pwd", "credential", "auth", "cookie"];

/// A URL without secrets: the password is removed, and secret query values are replaced by their names.
pub fn shown_url(url: &str) -> String {
    let Ok(mut shown) = Url::parse(url) else { return url.to_owned() };
    let pairs: Vec<(String, String)> = shown.query_pairs().into_owned().collect();
    if shown.username().is_empty() && shown.password().is_none() && !pairs.iter().any(|(name, _)| is_secret(name)) {
        return url.to_owned();
    }
    // This only fails for a URL without a host, and then neither exists. A user name without a password is a token.
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
    /// The values with secret names. Paths are excluded: the server may print them, and its files have them.
    pub fn secrets(&self) -> Vec<String> {
        match self {
            Self::Program(program) => secret_values(&program.env),
            Self::Url { url, .. } => secrets_in_url(url),
        }
    }
}

/// The values of a query that have secret names.
pub fn secrets_in_url(url: &str) -> Vec<String> {
    let pairs = Url::parse(url).map(|url| url.query_pairs().into_owned().collect::<Vec<_>>());
    secret_values(&pairs.unwrap_or_default())
}

/// The values that have secret names, except for paths.
pub fn secret_values(named: &[(String, String)]) -> Vec<String> {
    let secret = named.iter().filter(|(name, value)| is_secret(name) && !is_path(value));
    secret.map(|(_, value)| value.clone()).collect()
}

/// Whether it is an existing path on this machine.
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
    use crate::target::Program;
    use conform_model::transport::Transport;

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
        assert_eq!(Start::Program(Program { env, ..Program::default() }).secrets(), ["abcdefgh"]);
        let url = "http://h/?api_key=abc%20defgh&a=1".to_owned();
        let start = Start::over(Transport::Http, url, Vec::new());
        assert_eq!(start.secrets(), ["abc defgh"]);
    }
}
