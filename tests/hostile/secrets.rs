//! Servers that repeat credentials in every place and form: no output of the program contains them.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Result, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::exit,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use libtest_mimic::{Failed, Trial};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{
    good::answer,
    http::{Request, read},
    run::start,
};

/// With characters that JSON, URLs and Base64 encode.
const TOKEN: &str = r#"Qx7/zR+9"LmK2vTe_W"#;
const HALVES: [&str; 2] = ["Qx7/zR+9", "LmK2vTe_W"];
const GRANTED: &str = "granted-Hj5-kPw8sVn";
const SHOWN_INSTEAD: &str = "(given by the user)";
/// How much is shown of text that is not a message.
const SHOWN: usize = 4096;

pub fn all() -> Vec<Trial> {
    let encoded = utf8_percent_encode(TOKEN, NON_ALPHANUMERIC).to_string();
    let basic = format!("Authorization: Basic {}", STANDARD.encode(format!("me:{TOKEN}")));
    let header = |text: String| move |url: &str| http(url, &["--header", &text]);
    let me = || env::current_exe().expect("a program knows where it is").display().to_string();
    vec![
        trial("header", header(format!("X-Api-Key: {TOKEN}"))),
        trial("bearer", header(format!("Authorization: Bearer {TOKEN}"))),
        trial("cookie", header(format!("Cookie: theme=dark; session={TOKEN}"))),
        trial("basic", header(basic)),
        trial("command", |url| http(url, &["--bearer-token-command", &format!("echo '{TOKEN}'")])),
        trial("url", {
            let encoded = encoded.clone();
            move |url| http(&url.replace("//", &format!("//me:{encoded}@")), &[])
        }),
        trial("query", move |url| http(&format!("{url}?api_key={encoded}"), &[])),
        trial("events", |url| vec!["--sse".into(), url.into(), "--header".into(), format!("X-Api-Key: {TOKEN}")]),
        trial("client", |url| {
            let auth = format!("client_id = 'me'\nclient_secret = '{TOKEN}'\ntoken_endpoint = '{url}'");
            configured(&format!("[targets.a]\nhttp = '{url}'\n[targets.a.auth]\n{auth}"))
        }),
        trial("client refused", |url| {
            let auth = format!("client_id = 'nobody'\nclient_secret = '{TOKEN}'\ntoken_endpoint = '{url}'");
            configured(&format!("[targets.a]\nhttp = '{url}'\n[targets.a.auth]\n{auth}"))
        }),
        trial("env", move |_| {
            let over_stdio = ["--", &me(), "behave", "echoes"].map(str::to_owned);
            [&["--env".to_owned(), format!("API_KEY={TOKEN}")], over_stdio.as_slice()].concat()
        }),
    ]
}

fn http(url: &str, more: &[&str]) -> Vec<String> {
    ["--http", url].iter().chain(more).map(|&word| word.to_owned()).collect()
}

/// `@` is replaced by a file with this text.
fn configured(text: &str) -> Vec<String> {
    vec!["--config".into(), format!("@{text}")]
}

fn trial(name: &str, arguments: impl FnOnce(&str) -> Vec<String> + Send + 'static) -> Trial {
    let over_stdio = name == "env";
    Trial::test(format!("secrets::{name}"), move || {
        let directory = tempfile::tempdir()?;
        let (url, saw) = serve()?;
        let mut arguments = arguments(&url);
        for argument in &mut arguments {
            if let Some(text) = argument.strip_prefix('@') {
                let file = directory.path().join("mcp-conform.toml");
                fs::write(&file, text)?;
                *argument = file.display().to_string();
            }
        }
        let place = |name: &str| directory.path().join(name).display().to_string();
        let mut line = vec!["--verbose".to_owned(), "--timeout=2".into(), "--transcript".into(), place("transcript")];
        for format in ["html", "json", "junit", "tap", "sarif", "markdown", "github"] {
            line.push(format!("--report={format}={}", place(format)));
        }
        let line: Vec<&str> = line.iter().chain(&arguments).map(String::as_str).collect();
        let met = start(&line).meet();
        let _ = fs::remove_file(directory.path().join("mcp-conform.toml"));
        shows_nothing("the terminal", &met.said)?;
        for file in fs::read_dir(directory.path())? {
            let file = file?.path();
            shows_nothing(&file.display().to_string(), &String::from_utf8_lossy(&fs::read(&file)?))?;
        }
        let carried = over_stdio || saw.load(Ordering::Relaxed);
        let told = Path::new(&place("transcript")).exists() || met.said.contains(SHOWN_INSTEAD);
        if carried && told { Ok(()) } else { Err(format!("carried: {carried}, told: {told}\n{}", met.said).into()) }
    })
}

fn shows_nothing(place: &str, text: &str) -> std::result::Result<(), Failed> {
    let small = text.to_ascii_lowercase();
    for half in HALVES.iter().chain(&[GRANTED]) {
        let encoded = utf8_percent_encode(half, NON_ALPHANUMERIC).to_string();
        for form in [half.to_ascii_lowercase(), encoded.to_ascii_lowercase()] {
            if let Some(at) = small.find(&form) {
                let around = String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(200)..]).into_owned();
                return Err(format!("{place} shows {form}: {}", around.chars().take(400).collect::<String>()).into());
            }
        }
    }
    for before in ["", "a", "ab"] {
        let whole = STANDARD.encode(format!("{before}{TOKEN}"));
        let its_own = &whole[4..20];
        if text.contains(its_own) {
            return Err(format!("{place} shows base64: {its_own}").into());
        }
    }
    Ok(())
}

/// The URL of a server that repeats [`TOKEN`], and whether the server received it, or the token that was granted for
/// it.
fn serve() -> Result<(String, Arc<AtomicBool>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let saw = Arc::<AtomicBool>::default();
    let noted = saw.clone();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let noted = noted.clone();
            // The client may disconnect at any moment.
            thread::spawn(move || _ = converse(&stream, &noted));
        }
    });
    Ok((url, saw))
}

fn converse(stream: &TcpStream, saw: &AtomicBool) -> Result<()> {
    let (mut reader, mut out) = (BufReader::new(stream), stream);
    loop {
        let request = read(&mut reader)?;
        // A query is not a header; a client that sends it received it from the user.
        let carried = request.headers.iter().any(|(name, value)| match name.as_str() {
            "authorization" => !value.is_empty(),
            _ => value.contains(TOKEN),
        });
        saw.fetch_or(carried || request.target.contains("api_key="), Ordering::Relaxed);
        out.write_all(&reply(&request))?;
    }
}

/// Each method gets a different response.
fn reply(request: &Request) -> Vec<u8> {
    let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let head = format!("x-echo: {TOKEN}\r\nmcp-session-id: {TOKEN}\r\n");
    let whole = |status: &str, media: &str, body: &[u8]| {
        let head =
            format!("HTTP/1.1 {status}\r\n{head}content-type: {media}\r\ncontent-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    if request.headers.get("content-type").is_some_and(|media| media.contains("form")) {
        let refused = json!({ "error": format!("unauthorized {TOKEN}") });
        let granted = json!({ "access_token": GRANTED, "token_type": GRANTED, "expires_in": 60, "scope": TOKEN });
        let credentials = request.headers.get("authorization").and_then(|basic| basic.split_once(' '));
        let credentials = credentials.and_then(|(_, basic)| STANDARD.decode(basic).ok()).unwrap_or_default();
        let body = if credentials.starts_with(b"me:") { granted } else { refused };
        return whole("200 OK", "application/json", body.to_string().as_bytes());
    }
    if request.method == "GET" {
        let elsewhere = utf8_percent_encode(TOKEN, NON_ALPHANUMERIC);
        let body = format!("event: endpoint\ndata: http://elsewhere.example/{elsewhere}\n\ndata: {TOKEN}\n\n");
        return whole("200 OK", "text/event-stream", body.as_bytes());
    }
    let Some(said) = echoed(&message) else {
        return whole("202 Accepted", "text/plain", format!("{}{TOKEN}", "x".repeat(90)).as_bytes());
    };
    match message["method"].as_str() {
        Some("ping") => {
            // The text is truncated inside the token.
            let body = format!("{}{TOKEN}", "x".repeat(SHOWN - TOKEN.len() / 2));
            whole("500 Internal Server Error", &format!("text/{TOKEN}"), body.as_bytes())
        }
        Some("prompts/list") => {
            let challenge = format!("www-authenticate: Bearer error_description=\"{TOKEN}\"\r\n");
            let page = whole("401 Unauthorized", "text/html", format!("<p>{TOKEN}</p>").as_bytes());
            [b"HTTP/1.1 401 Unauthorized\r\n", challenge.as_bytes(), &page["HTTP/1.1 401 Unauthorized\r\n".len()..]]
                .concat()
        }
        Some("resources/read") => {
            let events =
                format!(": {TOKEN}\nid: {TOKEN}\nevent: {TOKEN}\ndata: {TOKEN}\n\nid: {TOKEN}\ndata: {said}\n\n");
            whole("200 OK", "text/event-stream", events.as_bytes())
        }
        _ => whole("200 OK", "application/json", said.to_string().as_bytes()),
    }
}

/// A well-formed response with the token everywhere, and sometimes a mistake that a finding shows.
fn echoed(message: &Value) -> Option<Value> {
    let mut said = answer(message)?;
    if let Some(error) = said.get_mut("error") {
        error["message"] = json!(format!("no: {TOKEN}"));
        error["data"] = json!({ TOKEN: [TOKEN, json!({ "again": TOKEN }).to_string()] });
    }
    match message["method"].as_str() {
        Some("initialize") => {
            said["result"]["serverInfo"] = json!({ "name": TOKEN, "version": 7, "title": TOKEN });
            said["result"]["instructions"] = json!(format!("You are {TOKEN}."));
        }
        Some("tools/list") => {
            let schema = json!({ "type": "object", "properties": { TOKEN: { "type": TOKEN } }, "required": TOKEN });
            let description = STANDARD.encode(format!("you are {TOKEN}, are you not?"));
            said["result"]["tools"] = json!([
                { "name": TOKEN, "description": description, "inputSchema": schema },
                { "name": TOKEN, "description": TOKEN },
            ]);
        }
        Some("resources/list") => {
            let uri = format!("http://h/?t={}", utf8_percent_encode(TOKEN, NON_ALPHANUMERIC));
            said["result"]["resources"] = json!([{ "uri": "a:b", "name": TOKEN, "mimeType": TOKEN }, { "uri": uri }]);
            said["result"]["nextCursor"] = json!(TOKEN);
        }
        Some("resources/read") if said.get("result").is_some() => {
            let blob = STANDARD.encode(format!("as {TOKEN} you may read it"));
            said["result"]["contents"] = json!([{ "uri": "a:b", "blob": blob }, { "uri": TOKEN, "text": TOKEN }]);
        }
        _ => {}
    }
    Some(said)
}

/// The same over stdio, for the environment.
pub fn echo_over_stdio() -> ! {
    if env::var("API_KEY").as_deref() != Ok(TOKEN) {
        exit(3);
    }
    let mut out = io::stdout();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        eprintln!("error: {TOKEN} {}", "x".repeat(1 << 10));
        let said = echoed(&message).map(|said| format!("{said}\n")).unwrap_or_default();
        let junk = format!("{}{TOKEN}\n", "x".repeat(SHOWN - TOKEN.len() / 2));
        if out.write_all(format!("{TOKEN}\n{junk}{said}").as_bytes()).and_then(|()| out.flush()).is_err() {
            break;
        }
        if message["method"] == "resources/read" {
            exit(5);
        }
    }
    exit(0);
}
