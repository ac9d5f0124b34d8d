//! A configuration without secrets, which is still a configuration: a value that may be secret is read from a variable.

use toml::{Table, Value};

use crate::{
    outcome::masked,
    run::commands::record::{secret_arguments, without},
    target::{is_secret, shown_url},
};

/// Tables in which any value may be a secret.
const ENTRUSTED: [&str; 3] = ["env", "headers", "others"];

/// Comments are left out: they may have anything in them. `Err` says why the text is no configuration.
pub fn redacted(text: &str) -> Result<String, String> {
    let mut table: Table = toml::from_str(text).map_err(|why| why.to_string())?;
    hide_in(&mut table, false);
    toml::to_string(&table).map_err(|why| why.to_string())
}

fn hide_in(table: &mut Table, is_entrusted: bool) {
    for (name, value) in table.iter_mut() {
        hide(name, value, is_entrusted);
    }
}

fn hide(name: &str, value: &mut Value, is_entrusted: bool) {
    match value {
        Value::Table(table) => hide_in(table, ENTRUSTED.contains(&name)),
        Value::Array(list) => {
            let words: Vec<String> = list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
            let secrets = secret_arguments(&words);
            for item in list {
                hide(name, item, is_entrusted);
                if let Value::String(word) = item {
                    *word = without(word, &secrets);
                }
            }
        }
        Value::String(text) if (is_entrusted || is_secret(name)) && !text.contains("${") => {
            let variable = name.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            *text = format!("${{{variable}}}");
        }
        Value::String(text) => *text = masked(&shown_url(text)).into_owned(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn what_may_be_secret_is_read_from_a_variable() {
        let text = r#"
            # geheim
            [targets.one]
            stdio = ["server", "--api-key", "geheim", "--token=geheim", "--level", "high"]
            env = { MODE = "geheim", KEY = "${MY_KEY}" }
            [targets.two]
            http = "http://me:geheim@host/mcp?token=geheim&a=1"
            headers = { X-Api-Key = "geheim" }
            auth = { client_id = "me", client_secret = "geheim", others = { expired = "geheim" } }
            [tools.login]
            with = { user = "me", password = "geheim", note = "Bearer geheim1234567890" }
        "#;
        let shown = redacted(text).unwrap();
        assert!(!shown.replace("Bearer gehe…", "").contains("geheim"), "{shown}");
        for kept in
            ["high", "${MY_KEY}", "${MODE}", "http://me@host/mcp", "${X_API_KEY}", "client_id = \"me\"", "${EXPIRED}"]
        {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
        assert!(redacted("[").is_err());
    }
}
