//! An HTTP request outside of the conversation, which triggers something or fetches private data. It is not recorded.

use std::{str::FromStr, sync::Arc, time::Duration};

use reqwest::{Method, Url};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    challenge,
    client::{Clients, Failed},
    failure::reason,
};
use crate::target::Inside;

/// How much of a response is read.
const LONGEST: usize = 1 << 20;

/// The response.
pub struct Fetched {
    pub status: u16,
    /// In the form of [`conform_model::evidence::HttpStatus`].
    pub challenges: Vec<Value>,
    pub body: Vec<u8>,
}

/// Sends the request and checks only the status.
pub async fn side_request(method: &str, url: &str, body: Option<String>, within: Duration) -> Result<(), String> {
    let json = [("content-type", "application/json")];
    let headers = if body.is_some() { json.as_slice() } else { &[] };
    let fetched = fetch(None, method, url, headers, body, within).await?;
    if (200..300).contains(&fetched.status) {
        return Ok(());
    }
    Err(format!("{url} returned {}", fetched.status))
}

pub async fn fetch(
    inside: Option<&Arc<dyn Inside>>,
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
    within: Duration,
) -> Result<Fetched, String> {
    let method = Method::from_str(method).map_err(|_| format!("{method} is not an HTTP method"))?;
    let url = Url::from_str(url).map_err(|error| format!("{url} is not a URL: {error}"))?;
    let clients = Clients::new(within, inside);
    let client = clients.speaking(url.scheme())?;
    let mut request = client.request(method, url.clone());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(body) = body {
        request = request.body(body);
    }
    let fetched = async {
        let mut response = client.execute(request.build()?).await?;
        let asked = response.headers().get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok());
        let challenges = asked.flat_map(challenge::parse).collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk[..chunk.len().min(LONGEST - body.len())]);
        }
        Ok::<_, Failed>(Fetched { status: response.status().as_u16(), challenges, body })
    };
    match timeout(within, fetched).await {
        Ok(fetched) => fetched.map_err(|error| reason(&*error).words),
        Err(_) => Err(format!("{url} did not respond within {} s", within.as_secs())),
    }
}
