//! A form has no field for a password, a key or a number that opens an account: by the name and the title of the field.

use std::sync::LazyLock;

use regex::Regex;

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "secret-fields", given: &["schema"], run };

/// Names that end so are names of the secret itself: `api_key`, but not `api_key_name`.
static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "pass(word|wd|phrase|code)|pwd|api[ _-]?key|secret[ _-]?key|client[ _-]?secret|private[ _-]?key|\
                 (access|auth|bearer|refresh)[ _-]?token|(credit|debit)?[ _-]?card[ _-]?number|credit[ _-]?card|cvv|cvc";
    Regex::new(&format!("(?i)(^|[^a-z]|[a-z][ _-])({words})$")).ok()
});

fn run(given: &Given) -> Report {
    let Some(fields) = given.value("schema")["properties"].as_object() else { return Report::default() };
    let is_secret = |text: &str| SECRET.as_ref().is_some_and(|secret| secret.is_match(text));
    let secrets = fields.iter().filter(|(name, field)| {
        field["type"] == "string" && (is_secret(name) || field["title"].as_str().is_some_and(is_secret))
    });
    let faults = secrets.map(|(name, _)| Fault {
        given: "schema",
        pointer: format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")),
        message: format!("asks for `{name}`"),
        ..Fault::default()
    });
    Report::of(faults.collect())
}

#[cfg(test)]
mod tests {
    use super::SECRET;

    #[test]
    fn names_of_secrets_are_told_from_names_about_them() {
        let is_secret = |text: &str| SECRET.as_ref().unwrap().is_match(text);
        for secret in ["password", "user_password", "API key", "apiKey", "access_token", "Card number", "my-cvv"] {
            assert!(is_secret(secret), "{secret}");
        }
        for harmless in ["password_hint", "api_key_name", "max_tokens", "token", "card", "name", "cvvs"] {
            assert!(!is_secret(harmless), "{harmless}");
        }
    }
}
