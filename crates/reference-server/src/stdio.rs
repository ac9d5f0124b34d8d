//! The server on stdin and stdout: one message per line.
//!
//! Reading and handling are separate tasks, so that a cancellation is read while a slow request is handled.

use std::{future::pending, io, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, stderr, stdin, stdout},
    runtime::Builder,
    sync::mpsc::{self, Receiver, Sender},
    time::{Instant, sleep, timeout_at},
};

use crate::{
    dispatch::Server,
    faults::Reading,
    options::{Options, Transport},
    session::Session,
    turn::Outgoing,
};

/// A longer line is read to its end and rejected.
const LONGEST_LINE: u64 = 16 << 20;
/// Capacity of a pipe on Linux.
const ONE_READ: usize = 64 << 10;
/// Lines that wait to be handled; more lines stay in the pipe.
const LINES_AHEAD: usize = 64;
/// Maximum number of pieces of one write.
const MOST_PIECES: usize = 24;
/// Maximum number of delayed messages; more are sent immediately.
const MOST_WAITING: usize = 10_000;

/// Serves until stdin is closed.
pub fn stdio(options: Options) -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_time().build().map_err(|why| why.to_string())?;
    let served = runtime.block_on(serve(options, stdin(), stdout(), stderr()));
    // A thread is still blocked on stdin.
    runtime.shutdown_background();
    served
}

/// Serves until `input` ends. An error is the message of a process that exits by itself.
pub async fn serve(
    options: Options,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    errors: impl AsyncWrite + Unpin,
) -> Result<(), String> {
    let server = Server::new(options)?;
    server.faults.start().await?;
    let (lines, arrived) = mpsc::channel(LINES_AHEAD);
    let reading = read(input, server.faults.reading(), lines);
    tokio::select! {
        biased;
        never = async { reading.await; pending().await } => never,
        // If the output is closed, there is no client left.
        handled = handle(server, arrived, output, errors) => handled.unwrap_or(Ok(())),
    }
}

async fn read(input: impl AsyncRead + Unpin, reading: Reading, lines: Sender<Vec<u8>>) {
    match reading {
        Reading::ByLine | Reading::FirstLine => {
            read_lines(BufReader::new(input), reading == Reading::FirstLine, lines).await;
        }
        Reading::AsItComes => read_pieces(input, lines).await,
        Reading::Decoded => read_decoded(input, lines, |bytes| String::from_utf8_lossy(bytes).into_owned()).await,
        Reading::Latin1 => {
            read_decoded(input, lines, |bytes| bytes.iter().copied().map(char::from).collect()).await;
        }
    }
}

async fn read_lines(mut input: BufReader<impl AsyncRead + Unpin>, one_line_a_read: bool, lines: Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        // Bytes beyond the limit are dropped.
        let mut rest = Vec::new();
        while line.len() as u64 >= LONGEST_LINE && line.last() != Some(&b'\n') && rest.last() != Some(&b'\n') {
            rest.clear();
            match (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut rest).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return,
            }
        }
        // Only after a ping. Otherwise the lost lines would depend on how fast the client writes.
        let loses = one_line_a_read && line.windows(6).any(|word| word == b"\"ping\"");
        if !line.trim_ascii().is_empty() && lines.send(line).await.is_err() {
            return;
        }
        if loses {
            let read = input.buffer().len();
            input.consume(read);
        }
    }
}

/// Simulates a server that treats each read as complete lines.
async fn read_pieces(mut input: impl AsyncRead + Unpin, lines: Sender<Vec<u8>>) {
    let mut piece = vec![0; ONE_READ];
    while let Ok(length @ 1..) = input.read(&mut piece).await {
        for line in piece[..length].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            if lines.send(line.to_owned()).await.is_err() {
                return;
            }
        }
    }
}

/// Simulates a server that treats each read as complete characters.
async fn read_decoded(mut input: impl AsyncRead + Unpin, lines: Sender<Vec<u8>>, decode: fn(&[u8]) -> String) {
    let (mut piece, mut rest) = (vec![0; ONE_READ], String::new());
    while let Ok(length @ 1..) = input.read(&mut piece).await {
        rest += &decode(&piece[..length]);
        while let Some((line, further)) = rest.split_once('\n') {
            let line = line.as_bytes().to_owned();
            rest = further.to_owned();
            if !line.trim_ascii().is_empty() && lines.send(line).await.is_err() {
                return;
            }
        }
    }
}

/// The inner error is why the server exited by itself.
async fn handle(
    mut server: Server,
    mut arrived: Receiver<Vec<u8>>,
    mut output: impl AsyncWrite + Unpin,
    mut errors: impl AsyncWrite + Unpin,
) -> io::Result<Result<(), String>> {
    let mut session = Session::new(Transport::Stdio);
    let mut waiting: Vec<(Instant, Outgoing)> = Vec::new();
    let mut said = Vec::new();
    let held = server.faults.holds_newlines();
    let in_pieces = server.faults.writes_pieces();
    if let Some(banner) = server.faults.banner() {
        said.extend_from_slice(format!("{banner}\n").as_bytes());
    }
    loop {
        if in_pieces {
            write_pieces(&mut output, &said).await?;
        } else {
            output.write_all(&said).await?;
        }
        output.flush().await?;
        said.clear();
        let due = waiting.iter().map(|(due, _)| *due).min();
        let line = match due {
            Some(due) => timeout_at(due, arrived.recv()).await,
            None => Ok(arrived.recv().await),
        };
        say_due(&mut said, &mut waiting, held);
        match line {
            Ok(Some(line)) => {
                let turn = server.receive(&mut session, &line);
                let stderr = server.faults.stderr();
                if !stderr.is_empty() {
                    errors.write_all(&stderr).await?;
                    errors.flush().await?;
                }
                if let Some(id) = turn.cancelled.filter(|_| !server.faults.answers_cancelled()) {
                    let withheld = |out: &Outgoing| out.answer || !server.faults.works_on();
                    waiting.retain(|(_, out)| out.id.as_ref() != Some(&id) || !withheld(out));
                }
                for answer in &turn.settled {
                    waiting.retain(|(_, out)| out.id != answer.id);
                }
                let told = server.announce(&session, &turn.changes);
                for out in told.into_iter().chain(turn.out).chain(turn.settled).chain(turn.later) {
                    if out.after.is_zero() || waiting.len() >= MOST_WAITING {
                        say(&mut said, &out, held);
                    } else {
                        waiting.push((Instant::now() + out.after, out));
                    }
                }
                if let Some(why) = turn.crash {
                    output.write_all(&said).await?;
                    output.flush().await?;
                    return Ok(Err(why.to_owned()));
                }
                say_due(&mut said, &mut waiting, held);
            }
            // A delayed message is due.
            Err(_) => {}
            Ok(None) => {
                server.close(&mut session).iter().for_each(|out| say(&mut said, out, held));
                output.write_all(&said).await?;
                output.flush().await?;
                sleep(server.faults.outlives_stdin()).await;
                return Ok(Ok(()));
            }
        }
    }
}

/// Writes the first bytes in pieces of one or two, so that characters are split, then the rest.
async fn write_pieces(output: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    // The handshake is written as a whole.
    if !bytes.windows(3).any(|part| part == "\u{2028}".as_bytes()) {
        return output.write_all(bytes).await;
    }
    // The beginnings of characters beyond ASCII, and some positions before.
    let splits = bytes.iter().enumerate().filter(|(at, byte)| *at < 12 || **byte >= 0xC0).map(|(at, _)| at + 1);
    let mut start = 0;
    for end in splits.take(MOST_PIECES).filter(|end| *end < bytes.len()) {
        output.write_all(&bytes[start..end]).await?;
        output.flush().await?;
        // Without a pause, the pieces would be read together.
        sleep(Duration::from_millis(1)).await;
        start = end;
    }
    output.write_all(&bytes[start..]).await
}

/// Sends the messages that are due, in order.
fn say_due(said: &mut Vec<u8>, waiting: &mut Vec<(Instant, Outgoing)>, held: bool) {
    let now = Instant::now();
    waiting.sort_by_key(|(due, _)| *due);
    let due = waiting.iter().take_while(|(due, _)| *due <= now).count();
    waiting.drain(..due).for_each(|(_, out)| say(said, &out, held));
}

/// The newline belongs to the message; if held back, it is written with the next one.
fn say(said: &mut Vec<u8>, out: &Outgoing, held: bool) {
    let parts: [&[u8]; 2] = if held { [b"\n", &out.bytes] } else { [&out.bytes, b"\n"] };
    for part in parts {
        said.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::sink;

    use super::*;

    #[tokio::test]
    async fn lines_are_split_at_newlines_and_blank_ones_skipped() {
        let (lines, mut arrived) = mpsc::channel(10);
        let input = || BufReader::new(b"one\n\n  \r\n\"ping\"\nthree".as_slice());
        read_lines(input(), false, lines.clone()).await;
        read_lines(input(), true, lines).await;
        let mut read = Vec::new();
        while let Some(line) = arrived.recv().await {
            read.push(String::from_utf8(line).expect("text"));
        }
        assert_eq!(
            read,
            ["one\n", "\"ping\"\n", "three", "one\n", "\"ping\"\n"],
            "the fault drops what was read with a ping"
        );
    }

    async fn said(options: Options, lines: &[&str]) -> (Vec<String>, Result<(), String>) {
        let (input, mut output) = (lines.join("\n"), Vec::new());
        let served = serve(options, input.as_bytes(), &mut output, sink()).await;
        (String::from_utf8(output).expect("UTF-8").lines().map(str::to_owned).collect(), served)
    }

    #[tokio::test]
    async fn subscriptions_are_answered_when_stdin_ends() {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = format!(r#"{{"_meta":{meta},"notifications":{{}}}}"#);
        let listen = format!(r#"{{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{params}}}"#);
        let (said, served) = said(Options::default(), &[&listen]).await;
        assert!(said[0].contains("notifications/subscriptions/acknowledged"), "{said:?}");
        assert!(said[1].contains(r#""id":"s","result""#), "{said:?}");
        assert_eq!(served, Ok(()));
    }

    #[tokio::test]
    async fn a_banner_comes_before_everything_and_a_crash_ends_it() {
        let faulty = |fault: &str| Options { fault: Some(fault.to_owned()), ..Options::default() };
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answered = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned();
        let banner = said(faulty("stdout-banner"), &[asked]).await;
        assert_eq!(banner, (vec!["Reference server, ready to serve".to_owned(), answered.clone()], Ok(())));
        let crashed = said(faulty("exits-on-bad-json"), &[asked, "{", asked]).await;
        assert_eq!(crashed, (vec![answered], Err("stopped by its fault".to_owned())));
    }
}
