//! Misbehaving servers over stdio. Each is this program: `behave NAME`.

use std::{
    fs::File,
    io::{self, BufRead, Write},
    process::exit,
    thread::{self, sleep},
    time::Duration,
};

use serde_json::{Value, json};

use crate::good::{answer, twisted};

const SECOND: Duration = Duration::from_secs(1);
const FOREVER: Duration = Duration::from_secs(1000);

pub fn behave(how: &str) -> ! {
    match how {
        "deaf" => sleep(FOREVER),
        "floods-stdout" => flood(io::stdout(), "garbage"),
        "floods-stderr" => _ = thread::spawn(|| flood(io::stderr(), "an error, again")),
        "floods-notifications" | "only-notifies" => {
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } });
            _ = thread::spawn(move || flood(io::stdout(), &text.to_string()));
        }
        "asks-forever" => {
            _ = thread::spawn(|| flood(io::stdout(), r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#));
        }
        "long-notifications" => {
            let data = "x".repeat(512 << 10);
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": data } });
            _ = thread::spawn(move || flood(io::stdout(), &text.to_string()));
        }
        _ => {}
    }
    let (mut requests, mut hoard) = (0, Vec::new());
    for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        let Some(mut answer) = answer(&message) else { continue };
        requests += 1;
        match how {
            "silent" | "only-notifies" => continue,
            "stops" if requests > 5 => continue,
            "stops-once" if requests > 6 && File::create_new("stopped").is_ok() => sleep(FOREVER),
            "dies" if requests == 3 => fail(),
            "pages" => endless_page(&message, &mut answer),
            "grows" if message["method"] == "tools/list" => {
                endless_page(&message, &mut answer);
                let page = answer["result"]["nextCursor"].as_str().unwrap_or_default().to_owned();
                answer["result"]["tools"][0]["name"] = json!(format!("t{page}"));
            }
            "bare" => withhold(&message, &mut answer),
            _ => {}
        }
        let bytes = match &message["method"] {
            method if method == "tools/list" => twisted(how, &answer).unwrap_or_else(|| answer.to_string().into()),
            _ => answer.to_string().into_bytes(),
        };
        let half = bytes.len() / 2;
        match how {
            "drips" => bytes.iter().for_each(|byte| {
                write(&[*byte]);
                sleep(SECOND);
            }),
            "pauses" => {
                write(&bytes[..half]);
                sleep(SECOND / 50);
                write(&bytes[half..]);
            }
            "half" if requests == 4 => {
                write(&bytes[..half]);
                fail();
            }
            "hoards" => {
                hoard.extend([&bytes, b"\n".as_slice()].concat());
                continue;
            }
            "indents" => write(format!("{answer:#}").as_bytes()),
            _ => write(&bytes),
        }
        write(b"\n");
    }
    write(&hoard);
    if how == "stays" {
        sleep(FOREVER);
    }
    exit(0);
}

/// Every list continues with a new cursor.
pub fn endless_page(message: &Value, answer: &mut Value) {
    let lists = message["method"].as_str().is_some_and(|method| method.ends_with("/list"));
    if let Some(result) = answer.get_mut("result").filter(|_| lists) {
        let page: u64 = message["params"]["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        result["nextCursor"] = json!((page + 1).to_string());
    }
}

/// No capability is declared, and no method exists that needs one.
fn withhold(message: &Value, answer: &mut Value) {
    match message["method"].as_str() {
        Some("initialize") => answer["result"]["capabilities"] = json!({}),
        Some("ping") => {}
        _ => {
            *answer = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32601, "message": "no such method" } });
        }
    }
}

fn fail() -> ! {
    eprintln!("\u{1b}[31mfatal: out of cheese\u{1b}[0m");
    exit(3);
}

fn write(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if stdout.write_all(bytes).and_then(|()| stdout.flush()).is_err() {
        exit(0);
    }
}

/// The same line forever, many at once.
fn flood(mut to: impl Write, line: &str) {
    let lines = format!("{line}\n").repeat((64 << 10) / (line.len() + 1) + 1);
    while to.write_all(lines.as_bytes()).is_ok() {}
}
