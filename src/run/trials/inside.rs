//! The reference server inside this process.

use std::fmt;

use tokio::io::{AsyncWriteExt, DuplexStream};

use crate::{
    error::{Error, exit},
    reference,
    reference::server::Listening,
    target::{
        Inside,
        inside::{Running, connection},
    },
};

/// The authority of its URL.
pub const AUTHORITY: &str = "127.0.0.1:3000";

pub struct Reference {
    options: reference::server::Options,
    /// All connections reach the same server, but each process is a separate server.
    listening: Listening,
}

impl Reference {
    pub fn new(options: reference::server::Options) -> Result<Self, Error> {
        let listening = Listening::new(options.clone()).map_err(Error::usage)?;
        Ok(Self { options, listening })
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(formatter)
    }
}

impl Inside for Reference {
    fn start(&self) -> Running {
        let options = self.options.clone();
        Running::new(|(stdin, stdout, mut stderr)| async move {
            let Err(why) = reference::server::serve(options, stdin, stdout, &mut stderr).await else {
                return exit::CONFORMING;
            };
            let error = Error::usage(why);
            let _ = stderr.write_all(format!("{error}\n").as_bytes()).await;
            error.exit_code()
        })
    }

    fn connect(&self, authority: &str) -> Option<DuplexStream> {
        let heard = authority == AUTHORITY || self.listening.is_everywhere();
        heard.then(|| {
            let (client, server) = connection();
            tokio::spawn(self.listening.clone().serve(server));
            client
        })
    }
}
