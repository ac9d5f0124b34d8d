//! A form has no field for a password, a key or an account number. This is judged by the name and title of the field,
//! and by the message if there is only one text field.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::checks::{Check, Fault, Given, Report, messages::leaves::pointer_below};

pub const CHECK: Check = Check { name: "secret-fields", given: &["schema", "message?"], run };

const SECRETS: &str = "pass(word|wd|phrase|code)|pwd|api[ _-]?key|secret[ _-]?key|client[ _-]?secret|private[ _-]?key|\
                       (access|auth|bearer|refresh)[ _-]?token|(credit|debit|payment|bank)[ _-]?card[ _-]?number|\
                       credit[ _-]?card|cvv|cvc";

/// Names that end like this are names of a secret: `api_key`, but not `api_key_name`. `card number` counts only at the
/// start of a name, since libraries have cards, too.
static SECRET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("(?i)((^|[^a-z]|[a-z][ _-])({SECRETS})|^card[ _-]?number)$")).ok());

/// A sentence that requests a secret: "Please enter your API key", but not "Enter the name of the API key".
static DEMAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let asks = "enter|provide|type( in)?|paste|input|give( me| us)?|what is|supply";
    let whose = r"((your|the|an?|its) )?([\w-]+ )?";
    Regex::new(&format!(r"(?i)(^|\W)({asks}) {whose}({SECRETS})(\s*[.:;?!,(]|\s+(for|to|so|below|here)\b|\s*$)")).ok()
});

/// Words that change the meaning: a negation, or the name of something.
static OTHERWISE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(not|never|without|no|name|names|label|title|id|type of|kind of)\b|n['’]t\b").ok()
});

fn run(given: &Given) -> Report {
    let Some(fields) = given.value("schema")["properties"].as_object() else { return Report::default() };
    let secrets = fields.iter().filter(|(name, field)| {
        field["type"] == "string" && (is_secret(name) || field["title"].as_str().is_some_and(is_secret))
    });
    let fault = |(name, _): (&String, &Value), message: String| Fault {
        given: "schema",
        pointer: pointer_below("/properties", name),
        message,
        ..Fault::default()
    };
    let mut faults: Vec<_> = secrets.map(|field| fault(field, format!("requests a secret in `{}`", field.0))).collect();
    if let (true, Some(only)) = (faults.is_empty(), only_text(fields))
        && given.value("message").as_str().is_some_and(demands_secret)
    {
        faults.push(fault(only, format!("the message requests a secret in `{}`", only.0)));
    }
    Report::of(faults)
}

/// The only field, if it takes free text.
fn only_text(fields: &Map<String, Value>) -> Option<(&String, &Value)> {
    let free = |field: &Value| {
        field["type"] == "string" && ["enum", "oneOf", "anyOf", "format"].iter().all(|name| field.get(*name).is_none())
    };
    fields.iter().next().filter(|(_, field)| fields.len() == 1 && free(field))
}

fn is_secret(text: &str) -> bool {
    // Splits camel case: `openaiApiKey` is an API key.
    let mut apart = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            apart.push('_');
        }
        apart.push(c);
        before = c;
    }
    SECRET.as_ref().is_some_and(|secret| secret.is_match(&apart))
}

fn demands_secret(message: &str) -> bool {
    let finds = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(message));
    finds(&DEMAND) && !finds(&OTHERWISE)
}

#[cfg(test)]
mod tests {
    use super::{demands_secret, is_secret};

    #[test]
    fn names_of_secrets_are_told_from_names_about_them() {
        for secret in [
            "password",
            "user_password",
            "API key",
            "apiKey",
            "access_token",
            "Card number",
            "my-cvv",
            "openaiApiKey",
            "userPassword",
            "githubAccessToken",
            "OpenAI API key",
        ] {
            assert!(is_secret(secret), "{secret}");
        }
        for harmless in [
            "password_hint",
            "api_key_name",
            "max_tokens",
            "token",
            "card",
            "name",
            "cvvs",
            "apiKeyName",
            "nextToken",
            "library_card_number",
        ] {
            assert!(!is_secret(harmless), "{harmless}");
        }
    }

    #[test]
    fn a_message_that_asks_for_a_secret_is_told_from_one_that_mentions_it() {
        for asks in [
            "Please enter your API key",
            "Enter your OpenAI API key:",
            "What is your password?",
            "Paste the access token for this account.",
        ] {
            assert!(demands_secret(asks), "{asks}");
        }
        for mentions in [
            "Enter the name of the API key",
            "Type the API key name",
            "Do not enter your password.",
            "Enter a password hint",
            "Why do you want a new password?",
            "Enter the number of the ticket about your password.",
            "Your password was reset.",
            "Enter your library card number",
            "Enter the reason for your password change",
        ] {
            assert!(!demands_secret(mentions), "{mentions}");
        }
    }
}
