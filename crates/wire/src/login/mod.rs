//! Logs a user in at an authorization server, up to the redirect to the client.
//!
//! Of its pages only method, URL and status are recorded: forms, cookies and queries have the values of the user.

mod command;
mod cookies;
mod form;

use std::time::Duration;

use reqwest::{
    Method, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, COOKIE, LOCATION},
};
use tokio::time::{Instant, timeout};

use super::{
    HttpRequest, PutOff,
    channel::Carrier,
    failure,
    http::{Core, Http},
    redirect,
};
use conform_model::evidence::{HttpHead, HttpStatus};

/// Pages and redirects of one login. Most need three; providers with a page for each choice need six.
const PAGES: usize = 8;
/// Login pages with their scripts and styles in them have up to 300 KiB.
const LONGEST: usize = 1 << 20;
/// Accounts are locked after five or more wrong passwords, and others may have tried before.
const WRONG_AT_MOST: usize = 2;
/// Headers that rules may see. Others can have secrets.
const SHOWN: [&str; 5] =
    ["content-type", "cache-control", "content-security-policy", "x-frame-options", "referrer-policy"];
const FORM: &str = "application/x-www-form-urlencoded";
/// How much of a page's text is in a message.
const TEXT: usize = 120;

/// What the logins of a connection share.
#[derive(Default)]
pub struct State {
    cookies: cookies::Cookies,
    /// How often the values of the user were not accepted.
    wrong: usize,
}

/// How a login ended.
#[derive(Default)]
pub struct LoggedIn {
    /// The response that led to the client, or the last one.
    pub http: Option<HttpStatus>,
    pub frames: Vec<u64>,
    /// The pages that a user would have seen.
    pub pages: Vec<HttpStatus>,
    /// Whether the last response was that to a form.
    pub posted: bool,
    /// Why it did not lead to the client.
    pub why: Option<String>,
}

/// A request of the browser.
struct Visit {
    method: Method,
    url: Url,
    body: Option<String>,
}

impl Visit {
    fn get(url: Url) -> Self {
        Self { method: Method::GET, url, body: None }
    }
}

pub async fn login(http: &Http, request: &HttpRequest, denies: bool) -> LoggedIn {
    let mut done = LoggedIn::default();
    // One at a time, as one user would.
    let mut state = http.core.logins.lock().await;
    if let Err(why) = run(&http.core, &mut state, request, denies, &mut done).await {
        done.why = Some(http.core.channel.hide(why));
    }
    done
}

async fn run(
    core: &Core,
    state: &mut State,
    request: &HttpRequest,
    denies: bool,
    done: &mut LoggedIn,
) -> Result<(), String> {
    let login = core.login.as_deref().ok_or("no login is configured")?;
    let given = request.url.as_deref().unwrap_or_default();
    let mut url = core.url.join(given).map_err(|error| format!("{given}: {error}"))?;
    url.query_pairs_mut().extend_pairs(&request.query);
    let target = request.query.iter().find(|(name, _)| name == "redirect_uri").map_or("", |(_, value)| value);
    let target = base(target);
    if !login.command.is_empty() {
        if denies {
            return Err("the command logs in, and denies nothing".to_owned());
        }
        let last = command::last_url(&login.command, login.cwd.as_ref(), url.as_str(), COMMAND).await?;
        if base(&last) != target {
            return Err(format!("the last URL of the command is {}", base(&last)));
        }
        done.http = Some(status_of(302, Vec::new(), Some(&masked(core, &last))));
        return Ok(());
    }
    if denies && login.deny.is_none() {
        return Err("`deny` names no button".to_owned());
    }
    let mut has_denied = false;
    let hosts = [core.url.host_str().map(str::to_owned), url.host_str().map(str::to_owned)];
    let mut visit = Visit::get(url);
    // The names of the fields that were filled last.
    let mut filled_before: Vec<String> = Vec::new();
    for nth in 0..PAGES {
        if !hosts.contains(&visit.url.host_str().map(str::to_owned)) {
            return Err(format!("it leads to {}, which is not a host of the issuer", base(visit.url.as_str())));
        }
        let is_first = nth == 0;
        done.posted = visit.body.is_some();
        let response = page(core, state, request, &visit, is_first, done).await?;
        let status = response.status().as_u16();
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if let Some(location) = location.filter(|_| (300..400).contains(&status)) {
            if base(&location) == target && has_denied == denies {
                return Ok(());
            }
            if base(&location) == target {
                done.http = None;
                return Err("no page had the button to deny".to_owned());
            }
            let next = visit.url.join(&location).map_err(|error| format!("`Location` is not a URL: {error}"))?;
            visit = match status {
                307 | 308 => Visit { url: next, ..visit },
                _ => Visit::get(next),
            };
            continue;
        }
        let html = whole(response, core.patience).await?;
        done.pages.extend(done.http.clone());
        let shown = |html: &str| {
            let values = login.fields.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
            values
                .fold(form::text(html), |text, value| text.replace(value, "..."))
                .chars()
                .take(TEXT)
                .collect::<String>()
        };
        let forms = form::forms(&html);
        let Some(meant) = form::meant(&forms, login, denies) else {
            return Err(format!("a page with status {status} has {} forms: {}", forms.len(), shown(&html)));
        };
        // A provider may have a consent page after the login, so the button to deny need not be on every page.
        has_denied |= denies && meant.can_deny(login);
        let filled = meant.filled(login, denies && meant.can_deny(login))?;
        if filled.is_personal {
            let names: Vec<String> = filled.pairs.iter().map(|(name, _)| name.clone()).collect();
            if names == filled_before {
                state.wrong += 1;
                return Err(format!("the login page was shown again: {}", shown(&html)));
            }
            if state.wrong >= WRONG_AT_MOST {
                return Err(format!("{WRONG_AT_MOST} logins failed, so no other is tried"));
            }
            filled_before = names;
        }
        let mut next = visit.url.join(&filled.action).map_err(|error| format!("`action` is not a URL: {error}"))?;
        next.set_fragment(None);
        let pairs = form_urlencoded::Serializer::new(String::new()).extend_pairs(&filled.pairs).finish();
        visit = if filled.is_post {
            Visit { method: Method::POST, url: next, body: Some(pairs) }
        } else {
            next.set_query(Some(&pairs));
            Visit::get(next)
        };
    }
    Err(format!("it does not end after {PAGES} pages"))
}

/// A browser has to start, and to load pages with their scripts. A guess.
const COMMAND: Duration = Duration::from_secs(60);

/// A URL without query and fragment.
fn base(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

fn status_of(status: u16, headers: Vec<(String, String)>, location: Option<&str>) -> HttpStatus {
    HttpStatus {
        status,
        headers: headers.into_iter().collect(),
        challenges: Vec::new(),
        redirect: location.filter(|_| (300..400).contains(&status)).map(redirect::parse),
    }
}

/// Without its code, and the values of the user.
fn masked(core: &Core, location: &str) -> String {
    core.channel.hide(core.channel.received.keep_in_location(location))
}

/// Fetches a page, and records that.
async fn page(
    core: &Core,
    state: &mut State,
    request: &HttpRequest,
    visit: &Visit,
    is_first: bool,
    done: &mut LoggedIn,
) -> Result<Response, String> {
    let client = core.client(visit.url.scheme())?;
    let mut built = client.request(visit.method.clone(), visit.url.clone()).header(ACCEPT, "text/html");
    if let Some(cookies) = state.cookies.header(&visit.url) {
        built = built.header(COOKIE, cookies);
    }
    if let Some(body) = &visit.body {
        built = built.header(CONTENT_TYPE, FORM).body(body.clone());
    }
    let built = built.build().map_err(|error| failure::reason(&error).words)?;
    let post = core.channel.next_post();
    let url = visit.url.as_str();
    let head = HttpHead {
        method: Some(visit.method.to_string()),
        url: Some(if is_first { url } else { base(url) }.to_owned()),
        status: None,
        headers: Vec::new(),
    };
    let asked = core.channel.http_request(&request.by, post, head);
    let mut put_off = PutOff::default();
    let response = loop {
        let again = built.try_clone().ok_or("the request cannot be sent")?;
        let sent = Instant::now();
        let response = match timeout(core.patience, client.execute(again)).await {
            Ok(response) => response.map_err(|error| failure::reason(&*error).words)?,
            Err(_) => return Err(format!("{} did not respond within {} s", base(url), core.patience.as_secs())),
        };
        match put_off.again(&response, sent, core.channel.unavailable()).filter(|_| core.repeats) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => break response,
        }
    };
    state.cookies.take(&visit.url, response.headers());
    let status = response.status().as_u16();
    let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let mut headers: Vec<_> =
        SHOWN.iter().filter_map(|name| Some(((*name).to_owned(), text(name)?.to_owned()))).collect();
    let target = request.query.iter().find(|(name, _)| name == "redirect_uri").map_or("", |(_, value)| value);
    let location = text(LOCATION.as_str()).map(|location| match base(location) == base(target) {
        true => masked(core, location),
        false => base(location).to_owned(),
    });
    done.http = Some(status_of(status, headers.clone(), location.as_deref()));
    headers.extend(location.map(|location| (LOCATION.to_string(), location)));
    let head = HttpHead { method: None, url: None, status: Some(status), headers };
    let received = core.channel.http_response(Carrier { post: Some(post), told: false }, head).await;
    // The frames of a login are those of its last response.
    done.frames = [asked].into_iter().chain(received).collect();
    Ok(response)
}

async fn whole(mut response: Response, within: Duration) -> Result<String, String> {
    let read = async {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failure::reason(&error).words)? {
            body.extend_from_slice(&chunk[..chunk.len().min(LONGEST - body.len())]);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    };
    timeout(within, read).await.unwrap_or_else(|_| Err("the page did not end in time".to_owned()))
}
