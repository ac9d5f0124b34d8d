//! Obtains the bearer tokens of a run: given directly, by a command, or by an OAuth client.
//!
//! Tokens are not recorded. Suites and records see a placeholder, which is replaced when a request is sent.

use std::{io::ErrorKind, path::Path, process::Stdio, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{process::Command, time::timeout};

use super::{
    grant::{self, Granted},
    minted::{Minted, mint},
};
use crate::{
    error::Error,
    target::{Inside, Limits, Source, Start, Target, Token},
};

/// A command may have to wait for a keyring or the network. A guess.
const COMMAND: Duration = Duration::from_secs(60);
/// A shorter token may equal its modified copies.
const LONG_ENOUGH: usize = 16;

pub async fn obtain(target: &mut Target, facts: &mut Value, limits: &Limits) -> Result<(), Error> {
    let (auth, inside) = (target.auth.take().unwrap_or_default(), target.inside.clone());
    let Start::Url { url, headers, .. } = &mut target.start else { return Ok(()) };
    let mut auth = auth;
    if let Some(issuer) = &auth.issuer {
        let Minted { tokens, issuing } = mint(issuer, url)?;
        target.issuing = Some(Arc::new(issuing));
        for (name, token) in tokens {
            match name {
                "own" => auth.own = Some(Source::Token(token)),
                name if auth.others.iter().any(|(given, _)| given == name) => {}
                name => auth.others.push((name.to_owned(), Source::Token(token))),
            }
        }
    }
    let typed = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let own = match (typed, &auth.own) {
        (Some((_, value)), _) => {
            let (scheme, token) = value.split_once(' ').unwrap_or_default();
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        }
        (None, Some(source)) => {
            let token = token(source, inside.as_ref(), url, limits, facts).await?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
            Some(token)
        }
        (None, None) => None,
    };
    if let Some(Source::Client(client)) = &auth.own {
        target.secrets.push(client.secret.clone());
        set(facts, "client_id", json!(client.id));
    }
    let url = url.clone();
    let mut add = |name: &str, value: String| target.tokens.push(Token { name: name.to_owned(), value });
    if let Some(own) = own {
        if !auth.others.iter().any(|(name, _)| name == "forged")
            && let Some(forged) = forged(&own)
        {
            add("forged", forged);
        }
        add("own", own);
    }
    for (name, source) in &auth.others {
        add(name, token(source, inside.as_ref(), &url, limits, facts).await?);
    }
    Ok(())
}

async fn token(
    source: &Source,
    inside: Option<&Arc<dyn Inside>>,
    url: &str,
    limits: &Limits,
    facts: &mut Value,
) -> Result<String, Error> {
    match source {
        Source::Token(token) => Ok(token.clone()),
        Source::Command { argv, cwd } => printed(argv, cwd.as_deref()).await,
        Source::Client(client) => {
            let Granted { token, described } = grant::request(client, inside, url, limits.request).await?;
            set(facts, "grant", described);
            Ok(token)
        }
    }
}

fn set(facts: &mut Value, name: &str, value: Value) {
    if !facts.is_object() {
        *facts = json!({});
    }
    facts[name] = value;
}

/// The output of a command. Its arguments may hold a secret, so messages contain only its name.
async fn printed(argv: &[String], cwd: Option<&Path>) -> Result<String, Error> {
    let (program, arguments) = argv.split_first().ok_or_else(|| Error::usage("the command for the token is empty"))?;
    let failed = |why: String| Error::Usage {
        message: format!("`{program}` printed no token: {why}"),
        help: Some("run it by hand; it must print only the token".into()),
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    if let Some(cwd) = cwd.filter(|cwd| !cwd.as_os_str().is_empty()) {
        command.current_dir(cwd);
    }
    let output = match timeout(COMMAND, command.output()).await {
        Ok(Ok(output)) if output.status.success() => output.stdout,
        Ok(Ok(output)) => return Err(failed(format!("it exited with {}", output.status))),
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::Usage {
                message: format!("`{program}`, which prints the token, was not found"),
                help: Some("install it, or set the path of another command".into()),
            });
        }
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Err(_) => return Err(failed(format!("it took longer than {} s", COMMAND.as_secs()))),
    };
    let text = String::from_utf8(output).map_err(|_| failed("its output is not text".into()))?;
    let token = text.trim().trim_start_matches("Bearer ");
    if token.is_empty() || token.contains(char::is_whitespace) {
        return Err(failed("it printed nothing, or more than one word".into()));
    }
    Ok(token.to_owned())
}

/// The token with one character changed, in the signature or else at the end.
fn forged(token: &str) -> Option<String> {
    let signature = token.rfind('.').map_or(0, |dot| dot + 1);
    let at = signature + (token.len() - signature) / 2;
    let changed = |c| if c == 'x' { 'y' } else { 'x' };
    let is_long = token.is_ascii() && token.len() >= LONG_ENOUGH && at < token.len();
    is_long.then(|| token.char_indices().map(|(index, c)| if index == at { changed(c) } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        evidence::Transport,
        target::{Auth, Client},
    };

    fn obtained(auth: Auth, headers: &[(&str, &str)]) -> Result<Target, Error> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut target = Target::new("t", Start::over(Transport::Http, "http://127.0.0.1:9/mcp".into(), headers));
        target.auth = Some(Box::new(auth));
        let limits = Limits::default();
        crate::run::process::runtime::block_on(obtain(&mut target, &mut json!({}), &limits)).map(|()| target)
    }

    fn command(argv: &[&str]) -> Source {
        Source::Command { argv: argv.iter().map(|&word| word.to_owned()).collect(), cwd: None }
    }

    #[test]
    fn a_command_gives_the_token_and_the_command_line_gives_way_to_no_one() {
        let auth = || Auth { own: Some(command(&["echo", "abcdefgh.ijklmnop.qrstuvwx"])), ..Auth::default() };
        let target = obtained(auth(), &[]).unwrap();
        let headers = target.start.headers();
        assert_eq!(headers, &[("Authorization".to_owned(), "Bearer abcdefgh.ijklmnop.qrstuvwx".to_owned())]);
        let tokens: Vec<_> = target.tokens.iter().map(|token| (token.name.as_str(), token.value.as_str())).collect();
        assert_eq!(tokens, [("forged", "abcdefgh.ijklmnop.qrstxvwx"), ("own", "abcdefgh.ijklmnop.qrstuvwx")]);
        let typed = obtained(auth(), &[("authorization", "Bearer typed")]).unwrap();
        assert_eq!(typed.tokens.len(), 1);
        assert_eq!(typed.tokens[0].value, "typed");
    }

    #[test]
    fn what_goes_wrong_is_told_without_secrets() {
        let told = |source| obtained(Auth { own: Some(source), ..Auth::default() }, &[]).unwrap_err().to_string();
        let failed = told(command(&["sh", "-c", "exit 3; geheim"]));
        assert!(failed.contains("`sh`") && failed.contains("exit status: 3") && !failed.contains("geheim"), "{failed}");
        assert!(told(command(&["echo", "two words"])).contains("more than one word"));
        let client = Client {
            id: "me".into(),
            secret: "geheim".into(),
            scopes: Vec::new(),
            token_endpoint: Some("http://127.0.0.1:9/token".into()),
        };
        let refused = told(Source::Client(Box::new(client)));
        assert!(refused.contains("/token") && !refused.contains("geheim"), "{refused}");
    }
}
