//! `mcp-conform record`: forwards the messages between a client and a server, and records them.

use std::{
    env,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use reqwest::Url;

use crate::{
    cli::RecordArgs,
    error::{Error, exit},
    evidence::{RunHeader, Side, Tested},
    run::{
        process::{console, runtime::runtime, signals},
        recording::{Between, Output, Proxy, Upstream, Writer, end_as, listen, pass, survive_limit_of_files},
    },
    target::{Limits, command_line, is_path, is_secret, shown_url},
};

pub fn record(args: &RecordArgs) -> Result<u8, Error> {
    match (&args.http, args.listen) {
        (Some(url), Some(address)) => http(args, url, address),
        (None, None) if !args.argv.is_empty() => stdio(args),
        _ => Err(Error::Usage {
            message: "name either the command of a server, or --listen ADDR and --http URL".to_owned(),
            help: Some("`mcp-conform record --out t.jsonl -- ./server`".to_owned()),
        }),
    }
}

fn stdio(args: &RecordArgs) -> Result<u8, Error> {
    // A client passes credentials to a server in its environment.
    let given = env::vars().filter(|(name, value)| is_secret(name) && !is_path(value)).map(|(_, value)| value);
    let secrets: Vec<String> = given.chain(secret_arguments(&args.argv)).collect();
    let shown: Vec<String> = args.argv.iter().map(|word| without(word, &secrets)).collect();
    let name = command_line(&shown);
    let tested = Tested { name, transport: "stdio".to_owned(), ..Tested::default() };
    let output = Output::create(&args.out, args.rotate, header(tested));
    let writer = Writer::start(output, Between::Stdio, secrets);
    let status = pass(&args.argv, &writer.queue);
    writer.close();
    end_as(status?)
}

fn http(args: &RecordArgs, url: &str, address: std::net::SocketAddr) -> Result<u8, Error> {
    let wrong = |why: String| Error::usage(format!("--http {}: {why}", shown_url(url)));
    let url = Url::parse(url).map_err(|why| wrong(why.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("expected a URL such as http://127.0.0.1:3000/mcp".to_owned()));
    }
    let tested = Tested { name: shown_url(url.as_str()), transport: "http".to_owned(), ..Tested::default() };
    let upstream = Upstream::new(url.clone()).map_err(wrong)?;
    runtime().block_on(async {
        // Without it the record may end the program, but everything else goes on as usual.
        let _ = survive_limit_of_files();
        let (listener, bound) = listen(address).await.map_err(|why| Error::Usage {
            message: format!("cannot listen on {address}: {why}"),
            help: Some("another program may use this port; with port 0 a free one is taken".to_owned()),
        })?;
        let output = Output::create(&args.out, args.rotate, header(tested));
        let place = output.path().unwrap_or(Path::new("nothing")).display().to_string();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        console::say(&format!("http://{bound}{}{query}", url.path()));
        console::complain(&format!("mcp-conform record: passes on to {}, records to {place}", shown_url(url.as_str())));
        let writer = Writer::start(output, Between::Http(url.path().to_owned()), Vec::new());
        let proxy = Proxy::new(upstream, writer.queue.clone());
        tokio::select! {
            () = proxy.serve(listener) => {}
            _ = signals::asked() => {}
        }
        writer.close();
        Ok(exit::CONFORMING)
    })
}

fn header(target: Tested) -> RunHeader {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    RunHeader { recorded: true, ..RunHeader::new(Side::Server, target, started, Limits::default().evidence_frames) }
}

/// `--api-key VALUE` and `--api-key=VALUE`.
pub fn secret_arguments(argv: &[String]) -> Vec<String> {
    let option = |word: &str| word.starts_with('-') && is_secret(word);
    let mut found = Vec::new();
    for pair in argv.windows(2) {
        if option(&pair[0]) && !pair[0].contains('=') && !pair[1].starts_with('-') {
            found.push(pair[1].clone());
        }
    }
    let joined = argv.iter().filter_map(|word| word.split_once('=')).filter(|(name, _)| is_secret(name));
    found.extend(joined.map(|(_, value)| value.to_owned()));
    found.retain(|value| !value.is_empty() && !is_path(value));
    found
}

pub fn without(word: &str, secrets: &[String]) -> String {
    secrets
        .iter()
        .filter(|secret| !secret.is_empty())
        .fold(word.to_owned(), |word, secret| word.replace(secret.as_str(), "SECRET"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_arguments_are_known_by_their_names() {
        let argv = ["server", "--api-key", "abc", "--level=high", "--token=def", "--auth", "--quiet"];
        assert_eq!(secret_arguments(&argv.map(str::to_owned)), ["abc", "def"]);
    }
}
