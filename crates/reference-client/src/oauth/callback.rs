//! The listener that receives the authorization response.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::errand::Pairs;
use crate::outside::Listening;

/// The user of a test consents at once.
const WAIT: Duration = Duration::from_secs(4);
const LONGEST: usize = 64 << 10;

/// The parameters of the first request for the path.
pub async fn received(listener: &mut dyn Listening, path: &str) -> Result<Pairs, String> {
    let receiving = async {
        loop {
            let mut stream = listener.accept().await.map_err(|error| error.to_string())?;
            let (mut head, mut piece) = (Vec::new(), vec![0; 4096]);
            while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST {
                match stream.read(&mut piece).await {
                    Ok(length @ 1..) => head.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            let text = String::from_utf8_lossy(&head).into_owned();
            let target = text.split(' ').nth(1).unwrap_or_default();
            let (found, query) = target.split_once('?').unwrap_or((target, ""));
            let fits = found == path;
            let status = if fits { "200 OK" } else { "404 Not Found" };
            let page = "You can close this page.";
            let reply = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                page.len()
            );
            stream.write_all(reply.as_bytes()).await.ok();
            stream.shutdown().await.ok();
            if fits {
                return Ok(form_urlencoded::parse(query.as_bytes()).into_owned().collect());
            }
        }
    };
    timeout(WAIT, receiving).await.unwrap_or_else(|_| Err("the user did not return".to_owned()))
}
