//! HTTP as a plain client speaks it: nothing is followed, unpacked, kept or tried again behind the session's back.

use std::{sync::OnceLock, time::Duration};

use reqwest::{Client, redirect, retry, tls::Certificate};

/// Shorter than any server keeps an idle connection: reusing one that is just being closed looks like a fault of the server.
const IDLE: Duration = Duration::from_secs(1);

pub struct Clients {
    connect: Duration,
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Clients {
    pub fn new(connect: Duration) -> Self {
        Self { connect, plain: OnceLock::new(), secure: OnceLock::new() }
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
        let client = self.make(secure)?;
        Ok(slot.get_or_init(|| client))
    }

    fn make(&self, secure: bool) -> Result<Client, String> {
        // It fails where a provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .connect_timeout(self.connect)
            .pool_idle_timeout(IDLE);
        if !secure {
            builder = builder.tls_certs_only(std::iter::empty::<Certificate>());
        }
        builder.build().map_err(|error| super::failure::words(&error))
    }
}
