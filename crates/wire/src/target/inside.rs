//! A server inside this process, instead of the program or URL of a target.

use std::{
    fmt, io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};

/// The usual capacity of a pipe.
const CAPACITY: usize = 64 << 10;

/// Client and server share one thread and communicate in memory. So a runtime with a paused clock knows when both wait,
/// and advances the clock to the next event. No wait takes real time, and none depends on the machine.
pub trait Inside: fmt::Debug + Send + Sync {
    /// Starts the equivalent of a process.
    fn start(&self) -> Running;
    /// A connection to a port of a host, if the server listens there.
    fn connect(&self, authority: &str) -> Option<DuplexStream>;
}

/// The client's ends of the pipes, and the task at the other ends. The task returns the exit status.
pub struct Running {
    pub stdin: In,
    pub stdout: DuplexStream,
    pub stderr: DuplexStream,
    pub work: Pin<Box<dyn Future<Output = u8> + Send>>,
}

/// The server's ends of stdin, stdout and stderr.
pub type Ends = (Out, DuplexStream, DuplexStream);

impl Running {
    pub fn new<W: Future<Output = u8> + Send + 'static>(serve: impl FnOnce(Ends) -> W) -> Self {
        let [(stdin, read), (written, stdout), (said, stderr)] = [(); 3].map(|()| duplex(CAPACITY));
        let unread = Arc::<AtomicUsize>::default();
        let stdin = In { pipe: stdin, unread: unread.clone() };
        Self { stdin, stdout, stderr, work: Box::pin(serve((Out { pipe: read, unread }, written, said))) }
    }
}

pub fn connection() -> (DuplexStream, DuplexStream) {
    duplex(CAPACITY)
}

/// The write end of stdin.
pub struct In {
    pipe: DuplexStream,
    /// Bytes in the pipe.
    pub unread: Arc<AtomicUsize>,
}

/// The read end of stdin.
pub struct Out {
    pipe: DuplexStream,
    unread: Arc<AtomicUsize>,
}

impl AsyncRead for Out {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(context, into))?;
        self.unread.fetch_sub(into.filled().len() - before, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for In {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.pipe).poll_write(context, bytes))?;
        self.unread.fetch_add(written, Ordering::Relaxed);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(context)
    }
}
