//! The authorization servers of the file, each with a client and a login.

use std::sync::Arc;

use super::{Config, Environment, Origin, expand::fill, folder, keys, refused};
use crate::{
    error::Error,
    suite::{
        diagnostic::{Problems, suggestion_or_all},
        yaml::At,
    },
    target::Login,
};

#[derive(Clone, Debug, Default)]
pub struct AuthServer {
    pub issuer: String,
    /// Id and redirect URI.
    pub client: Option<(String, String)>,
    pub register: bool,
    pub resource: Option<String>,
    pub scopes: Vec<String>,
    pub login: Option<Login>,
    /// Values that must not appear in any record.
    pub secrets: Vec<String>,
}

/// An authorization server as in the file, with variables that are not replaced yet.
#[derive(Debug)]
pub struct DescribedAuthServer {
    pub name: String,
    server: AuthServer,
    fields: Vec<(At<String>, At<String>)>,
    origin: Arc<Origin>,
}

pub fn read(
    name: At<String>,
    keys: keys::AuthServer,
    origin: &Arc<Origin>,
    problems: &mut Problems,
) -> Option<DescribedAuthServer> {
    let mut fields = Vec::new();
    let cwd = Some(folder(&origin.file).to_owned());
    let login = keys.login.map(|login| match login {
        keys::Login::Command(command) => Login { command, cwd, ..Login::default() },
        keys::Login::Form(form) => {
            fields = form.fields.map(|pairs| pairs.0).unwrap_or_default();
            Login { submit: form.submit, deny: form.deny, ..Login::default() }
        }
    });
    let issuer = keys.issuer?;
    if !issuer.value.starts_with("http://") && !issuer.value.starts_with("https://") {
        problems.add(issuer.at, "expected an http or https URL");
    }
    let server = AuthServer {
        issuer: issuer.value,
        client: keys.client.and_then(|client| client.id.zip(client.redirect_uri)),
        register: keys.register.unwrap_or(false),
        resource: keys.resource,
        scopes: keys.scopes.unwrap_or_default(),
        login,
        secrets: Vec::new(),
    };
    Some(DescribedAuthServer { name: name.value, server, fields, origin: origin.clone() })
}

impl Config {
    /// The authorization server of that name, with variables of the environment replaced.
    pub fn auth_server(&self, name: &str, environment: &Environment, color: bool) -> Result<AuthServer, Error> {
        let found = self.auth_servers.iter().find(|server| server.name == name);
        let DescribedAuthServer { server, fields, origin, .. } = found.ok_or_else(|| Error::Usage {
            message: format!("{} has no authorization server `{name}`", self.file.display()),
            help: suggestion_or_all(name, self.auth_servers.iter().map(|server| server.name.as_str())),
        })?;
        let mut problems = Problems::new(&origin.file.display().to_string(), &origin.text);
        let mut server = server.clone();
        let fields = fill(fields, environment, &mut server.secrets, &mut problems);
        let mistakes = problems.into_diagnostics();
        if !mistakes.is_empty() {
            return Err(refused(&mistakes, color));
        }
        // Those that the file has in clear text are not shown, either.
        server.secrets = fields.iter().map(|(_, value)| value.clone()).collect();
        if let Some(login) = &mut server.login {
            login.fields = fields;
        }
        Ok(server)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::parse;

    #[test]
    fn values_of_fields_are_secrets_wherever_they_are_from() {
        let text = "[auth_servers.a]\nissuer = \"https://a\"\nlogin = { fields = { user = \"ada\", pass = \"${PW}\" }, deny = \"No\" }\n\
                    [auth_servers.b]\nissuer = \"https://b\"\nlogin = [\"./login\", \"{url}\"]\n";
        let config = parse(Path::new("dir/mcp-conform.toml"), text.to_owned(), false).expect("it is good");
        let environment = Environment::from([("PW".into(), "geheim".into())]);
        let server = config.auth_server("a", &environment, false).expect("no mistake");
        assert_eq!(server.secrets, ["ada", "geheim"]);
        assert_eq!(server.login.expect("a login").fields[1], ("pass".to_owned(), "geheim".to_owned()));
        let login = config.auth_server("b", &environment, false).expect("no mistake").login.expect("a login");
        assert_eq!((login.command.len(), login.cwd.as_deref()), (2, Some(Path::new("dir"))));
        assert!(config.auth_server("a", &Environment::new(), false).is_err());
    }
}
