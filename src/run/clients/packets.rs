//! The packets that the stub and the program exchange over a local socket.
//!
//! A packet has a kind (one byte), a length (four bytes, big-endian) and the payload.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The stub never sends longer payloads, so a longer one does not come from the stub.
const LONGEST: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From the stub, first: its arguments as JSON.
    Hello = 1,
    /// Bytes that the client wrote to stdin.
    Stdin = 2,
    /// The client closed stdin.
    End = 3,
    /// The name of a signal that the stub received.
    Signal = 4,
    /// To the stub: bytes for stdout.
    Stdout = 5,
    /// Bytes for stderr.
    Stderr = 6,
    /// Exit with this code.
    Exit = 7,
}

const KINDS: [Kind; 7] = [Kind::Hello, Kind::Stdin, Kind::End, Kind::Signal, Kind::Stdout, Kind::Stderr, Kind::Exit];

pub async fn send(to: &mut (impl AsyncWrite + Unpin), kind: Kind, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(LONGEST).chain(bytes.is_empty().then_some(bytes)) {
        let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
        let mut packet = vec![kind as u8];
        packet.extend_from_slice(&length.to_be_bytes());
        packet.extend_from_slice(piece);
        to.write_all(&packet).await?;
    }
    to.flush().await
}

/// The next packet; `None` at the end.
pub async fn receive(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<(Kind, Vec<u8>)>> {
    let mut head = [0; 5];
    match from.read_exact(&mut head).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => _ = read?,
    }
    let kind = KINDS.into_iter().find(|kind| *kind as u8 == head[0]);
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let (Some(kind), true) = (kind, length <= LONGEST) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a packet of the stub"));
    };
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await?;
    Ok(Some((kind, bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn packets_arrive_as_they_were_sent() {
        let mut bytes = Vec::new();
        send(&mut bytes, Kind::Stdin, &vec![7; LONGEST + 3]).await.expect("memory takes it");
        send(&mut bytes, Kind::End, b"").await.expect("memory takes it");
        let mut read = bytes.as_slice();
        assert_eq!(receive(&mut read).await.expect("a packet"), Some((Kind::Stdin, vec![7; LONGEST])));
        assert_eq!(receive(&mut read).await.expect("a packet"), Some((Kind::Stdin, vec![7; 3])));
        assert_eq!(receive(&mut read).await.expect("a packet"), Some((Kind::End, Vec::new())));
        assert_eq!(receive(&mut read).await.expect("the end"), None);
        assert!(receive(&mut b"\x09\0\0\0\0".as_slice()).await.is_err());
    }
}
