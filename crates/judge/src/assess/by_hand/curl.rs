//! Recipes over HTTP: curl requests, with the sessions they belong to.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::rerun::ALWAYS,
    PATIENCE, RecipeContext, body, discovers,
    history::{History, Post, SESSION},
    is_request, method, names_what_was_made_up, opens, quoted, seconds,
};
use conform_model::evidence::SHOWN_INSTEAD;

/// Prefix of a token's placeholder.
const TOKEN: &str = "mcp-conform-token-";

pub fn requests(shown: &BTreeSet<u64>, history: &History, past: RecipeContext) -> Option<String> {
    let asked = history.exchanges(shown);
    let needed = needed(shown, &asked, history, past)?;
    let posts: Vec<&Post> = needed.iter().map(|number| &history.posts[number]).collect();
    // A shell script cannot respond to requests of the server.
    if posts[..posts.len() - 1].iter().any(|post| post.asks) {
        return None;
    }
    let sessions = sessions(&posts);
    let mut lines = Vec::new();
    let mut in_background = false;
    for (index, post) in posts.iter().enumerate() {
        let is_asked = needed.iter().nth(index).is_some_and(|number| asked.contains(number));
        let mut line = curl(post, &sessions)?;
        if let Some(name) = post.session.as_ref().and_then(|session| sessions.get(session)) {
            let shown = if is_asked { " | tee /dev/stderr" } else { "" };
            let silent = line.replacen("curl -i", "curl -si", 1);
            line = format!("{name}=$({silent}{shown} | tr -d '\\r' | sed -n 's/^{SESSION}: //Ip')");
        } else if posts.get(index + 1).is_some_and(|next| stays_open(post) || is_open_under(post, next)) {
            line += " & sleep 1";
            in_background = true;
        } else if let Some(next) = posts.get(index + 1).filter(|next| next.at[0] > post.at[1] + 500_000) {
            line += &format!("; sleep {}", seconds((next.at[0] - post.at[1]) / 2));
        }
        lines.push(line);
    }
    if in_background {
        lines.push("wait".to_owned());
    }
    Some(lines.join("\n"))
}

/// The exchanges that must precede the requested ones so that the server is in the same state.
fn needed(
    shown: &BTreeSet<u64>,
    asked: &BTreeSet<u64>,
    history: &History,
    past: RecipeContext,
) -> Option<BTreeSet<u64>> {
    let mut needed = asked.clone();
    for number in asked {
        let post = history.posts.get(number)?;
        // Other requests cause the messages on such a stream, except for the acknowledgment of a subscription.
        let only = if verb(post) == "GET" { None } else { post.first_message };
        let later = |frame: &u64| history.is_message_of(*frame, *number) && Some(*frame) != only;
        if stays_open(post) && shown.iter().any(later) {
            return None;
        }
        if history.stateful.contains(&post.by) || past.requests && !ALWAYS.contains(&post.by.as_str()) {
            let everywhere = history.beside.contains(&post.by);
            let before = history.posts.range(..number).filter(|(_, earlier)| everywhere || earlier.link == post.link);
            needed.extend(before.filter(|(_, earlier)| earlier.by == post.by).map(|(number, _)| *number));
        }
    }
    let used: BTreeSet<&str> = needed.iter().filter_map(|number| session(history.posts.get(number)?)).collect();
    let mut declared_already = false;
    for (number, post) in &history.posts {
        let is_of = |session: Option<&str>| session.is_some_and(|session| used.contains(session));
        let begins = is_of(post.session.as_deref()) && post.by == "handshake";
        let follows = post.by == "handshake" && is_of(session(post)) && post.body.as_deref().is_some_and(opens);
        let in_time = needed.last().is_some_and(|last| number < last);
        let declares = past.declaration
            && post.by == "handshake"
            && post.body.as_deref().is_some_and(|frame| opens(frame) || discovers(frame));
        if (begins || follows || declares && !declared_already) && in_time {
            declared_already |= declares;
            needed.insert(*number);
        }
    }
    let made_up = |number: &u64| {
        let body = history.posts.get(number).and_then(|post| post.body.as_deref());
        body.is_some_and(|frame| names_what_was_made_up(frame, history))
    };
    (!needed.iter().any(made_up)).then_some(needed)
}

/// The variables for sessions that one request opens and a later one uses.
fn sessions(posts: &[&Post]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (index, post) in posts.iter().enumerate() {
        let Some(begun) = &post.session else { continue };
        let is_used = posts[index + 1..].iter().any(|later| session(later) == Some(begun));
        if is_used && !names.contains_key(begun) {
            let number = names.len() + 1;
            names.insert(begun.clone(), if number == 1 { "SESSION".to_owned() } else { format!("SESSION{number}") });
        }
    }
    names
}

fn session(post: &Post) -> Option<&str> {
    post.request.http.as_ref()?.value(SESSION)
}

/// Whether an exchange was open while the next request was sent.
fn is_open_under(post: &Post, next: &Post) -> bool {
    let is_get = |post: &Post| verb(post) == "GET";
    let streams = is_get(post) || post.first_message.is_some_and(|came| came < next.first);
    post.last > next.first && (streams || !next.body.as_deref().is_some_and(is_request))
}

/// Whether the response is a stream for messages that other requests cause.
fn stays_open(post: &Post) -> bool {
    let accept = post.request.http.as_ref().and_then(|http| http.value("accept"));
    let listens = post.body.as_deref().and_then(method) == Some("subscriptions/listen");
    listens || verb(post) == "GET" && accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

fn verb(post: &Post) -> &str {
    post.request.http.as_ref().and_then(|http| http.method.as_deref()).unwrap_or_default()
}

fn curl(post: &Post, sessions: &BTreeMap<String, String>) -> Option<String> {
    let http = post.request.http.as_ref()?;
    let mut line = "curl -i".to_owned();
    if post.dropped || !post.responded || post.asks || stays_open(post) {
        // The stream stays open, and this time suffices to see its messages.
        let took = seconds(post.at[1] - post.at[0]);
        line += &format!("N -m {}", if post.responded { took.max(2) } else { PATIENCE });
    }
    let text = post.body.as_deref().map(body);
    match (verb(post), &text) {
        ("GET", None) | ("POST", Some(_)) => {}
        ("HEAD", None) => line += " -I",
        (verb, _) => line += &format!(" -X {verb}"),
    }
    let url = http.url.as_deref()?;
    if url.contains(['[', ']', '{', '}']) {
        line += " -g";
    }
    if url.contains("/.") {
        line += " --path-as-is";
    }
    line += &format!(" {}", filled(url)?);
    let authority = url.split('/').nth(2).unwrap_or_default();
    for (name, value) in &http.headers {
        let lower = name.to_ascii_lowercase();
        if matches!((lower.as_str(), value.as_str()), ("content-length", _) | ("accept", "*/*"))
            || lower == "host" && value == authority
        {
            continue;
        }
        line += " -H ";
        line += &match (lower.as_str(), value.as_str()) {
            (SESSION, session) if sessions.contains_key(session) => format!("\"{name}: ${}\"", sessions[session]),
            // A secret is replaced by its variable.
            (_, SHOWN_INSTEAD) => format!("\"{name}: ${}\"", lower.to_uppercase().replace('-', "_")),
            (_, "") => quoted(&format!("{name};"))?,
            (_, value) => filled(&format!("{name}: {value}"))?,
        };
    }
    if text.is_some() && http.value("content-type").is_none() {
        line += " -H Content-Type:";
    }
    match text {
        Some(text) => {
            let text = text?;
            let data = if text.starts_with('@') { "--data-raw" } else { "-d" };
            Some(format!("{line} {data} {}", quoted(&text)?))
        }
        None => Some(line),
    }
}

/// The text quoted for a shell, with variables for tokens.
fn filled(text: &str) -> Option<String> {
    let Some((before, rest)) = text.split_once(TOKEN) else { return quoted(text) };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
    let variable = rest[..end].to_uppercase().replace('-', "_");
    let is_plain = |text: &str| !text.contains(['"', '$', '`', '\\', '!']);
    let (before, after) = (before, &rest[end..]);
    (is_plain(before) && is_plain(after)).then(|| format!("\"{before}${{TOKEN_{variable}}}{after}\""))
}
