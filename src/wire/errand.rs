//! An HTTP request beside the conversation, which makes something happen and is not recorded.

use std::{str::FromStr, time::Duration};

use reqwest::{Method, Url};
use tokio::time::timeout;

use super::{client::Clients, failure::words};

/// Sends it and looks at the status alone.
pub async fn errand(method: &str, url: &str, body: Option<String>, within: Duration) -> Result<(), String> {
    let method = Method::from_str(method).map_err(|_| format!("{method} is no HTTP method"))?;
    let url = Url::from_str(url).map_err(|error| format!("{url} is no URL: {error}"))?;
    let clients = Clients::new(within);
    let mut request = clients.speaking(url.scheme())?.request(method, url.clone());
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body);
    }
    match timeout(within, request.send()).await {
        Ok(Ok(response)) if response.status().is_success() => Ok(()),
        Ok(Ok(response)) => Err(format!("{url} answered with {}", response.status())),
        Ok(Err(error)) => Err(words(&error)),
        Err(_) => Err(format!("{url} did not answer within {} s", within.as_secs())),
    }
}
