//! HTTP as a plain client speaks it: nothing is followed, unpacked, kept or tried again by itself.

use std::{sync::OnceLock, time::Duration};

use reqwest::{Client, ClientBuilder, redirect, retry, tls::Certificate};

/// Shorter than any server keeps an idle connection: reusing one that is just being closed looks like a fault of the server.
const IDLE: Duration = Duration::from_secs(1);

pub struct Clients {
    connect: Duration,
    plain: OnceLock<Client>,
    titled: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Clients {
    pub fn new(connect: Duration) -> Self {
        Self { connect, plain: OnceLock::new(), titled: OnceLock::new(), secure: OnceLock::new() }
    }

    /// One that writes the names of headers in title case, as `Mcp-Method`, where the usual one writes them in lower case.
    /// Over TLS it is the usual one: HTTP/2 knows lower case alone.
    pub fn titled(&self, scheme: &str) -> Result<&Client, String> {
        if scheme != "http" {
            return self.speaking(scheme);
        }
        if let Some(client) = self.titled.get() {
            return Ok(client);
        }
        let client = finish(self.builder().http1_title_case_headers())?;
        Ok(self.titled.get_or_init(|| client))
    }

    /// Made when first needed: loading the root certificates takes longer than a whole run against a local server.
    pub fn speaking(&self, scheme: &str) -> Result<&Client, String> {
        let (slot, secure) = match scheme {
            "http" => (&self.plain, false),
            "https" => (&self.secure, true),
            other => return Err(format!("{other} is neither http nor https")),
        };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let builder = self.builder();
        let client = if secure {
            builder.build().map_err(|error| super::failure::reason(&error).words)
        } else {
            finish(builder)
        }?;
        Ok(slot.get_or_init(|| client))
    }

    fn builder(&self) -> ClientBuilder {
        // It fails where a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .connect_timeout(self.connect)
            .pool_idle_timeout(IDLE)
    }
}

/// Without TLS there is no need for certificates.
fn finish(builder: ClientBuilder) -> Result<Client, String> {
    let client = builder.tls_certs_only(std::iter::empty::<Certificate>()).build();
    client.map_err(|error| super::failure::reason(&error).words)
}
