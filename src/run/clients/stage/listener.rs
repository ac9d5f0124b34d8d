//! Where connections come from.

use std::{future::pending, io};

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::TcpListener,
    sync::mpsc,
};

use crate::run::clients::local;

pub enum Listener {
    Socket(local::Listener),
    Port(TcpListener),
    Memory(mpsc::UnboundedReceiver<DuplexStream>),
}

pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    pub async fn accept(&mut self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Socket(listener) => Box::new(local::accept(listener).await?),
            Self::Port(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true).ok();
                Box::new(stream)
            }
            Self::Memory(connected) => match connected.recv().await {
                Some(stream) => Box::new(stream),
                None => pending().await,
            },
        })
    }
}
