//! The server on stdin and stdout: one message a line.
//!
//! One thread reads, so that a cancellation is heard while something slow is under way; the other thinks and writes.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use crate::reference::{
    faults::Reading,
    options::{Options, Transport},
    server::Server,
    session::Session,
    turn::Outgoing,
};

/// A longer line is read to its end and refused.
const LONGEST_LINE: usize = 16 << 20;
/// What a pipe holds.
const ONE_READ: usize = 64 << 10;
/// Lines that wait to be handled; further ones stay in the pipe.
const LINES_AHEAD: usize = 64;
/// Messages that wait for their time; further ones go out at once.
const MOST_WAITING: usize = 10_000;

/// Serves until stdin ends.
pub fn stdio(options: Options) -> Result<(), String> {
    let server = Server::new(options)?;
    server.faults.start()?;
    let (lines, arrived) = mpsc::sync_channel(LINES_AHEAD);
    let reading = server.faults.reading();
    thread::spawn(move || match reading {
        Reading::ByLine | Reading::FirstLine => {
            read_lines(BufReader::new(io::stdin()), reading == Reading::FirstLine, &lines);
        }
        Reading::AsItComes => read_pieces(io::stdin(), &lines),
        Reading::Decoded => read_decoded(io::stdin(), &lines, |bytes| String::from_utf8_lossy(bytes).into_owned()),
        Reading::Latin1 => {
            read_decoded(io::stdin(), &lines, |bytes| bytes.iter().copied().map(char::from).collect());
        }
    });
    // If nobody reads what is written, there is nobody left to serve.
    match serve(server, &arrived, io::stdout().lock()) {
        Ok(Ended::Crashed) => Err("stopped by its fault".to_owned()),
        Ok(Ended::Quietly) | Err(_) => Ok(()),
    }
}

enum Ended {
    Quietly,
    /// As its fault would have it.
    Crashed,
}

fn read_lines(mut input: BufReader<impl Read>, one_line_a_read: bool, lines: &SyncSender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        let limit = LONGEST_LINE as u64;
        match input.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.last() != Some(&b'\n') && line.len() == LONGEST_LINE && input.skip_until(b'\n').is_err() {
            return;
        }
        // Only behind a ping, or what is lost would depend on how fast the client writes.
        let loses = one_line_a_read && line.windows(6).any(|word| word == b"\"ping\"");
        if !line.trim_ascii().is_empty() && lines.send(line).is_err() {
            return;
        }
        if loses {
            input.consume(input.buffer().len());
        }
    }
}

/// As if each read began and ended with a line.
fn read_pieces(mut input: impl Read, lines: &SyncSender<Vec<u8>>) {
    let mut piece = vec![0; ONE_READ];
    while let Ok(length @ 1..) = input.read(&mut piece) {
        let mut read = piece[..length].split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        if read.any(|line| lines.send(line.to_owned()).is_err()) {
            return;
        }
    }
}

/// As if each read began and ended with a character.
fn read_decoded(mut input: impl Read, lines: &SyncSender<Vec<u8>>, decode: fn(&[u8]) -> String) {
    let (mut piece, mut rest) = (vec![0; ONE_READ], String::new());
    while let Ok(length @ 1..) = input.read(&mut piece) {
        rest += &decode(&piece[..length]);
        while let Some((line, further)) = rest.split_once('\n') {
            let line = line.as_bytes().to_owned();
            rest = further.to_owned();
            if !line.trim_ascii().is_empty() && lines.send(line).is_err() {
                return;
            }
        }
    }
}

fn serve(mut server: Server, arrived: &Receiver<Vec<u8>>, mut output: impl Write) -> io::Result<Ended> {
    let mut session = Session::new(Transport::Stdio);
    let mut waiting: Vec<(Instant, Outgoing)> = Vec::new();
    let held = server.faults.holds_newlines();
    if let Some(banner) = server.faults.banner() {
        writeln!(output, "{banner}")?;
        output.flush()?;
    }
    loop {
        let due = waiting.iter().map(|(due, _)| *due).min();
        let line = match due {
            Some(due) => arrived.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => arrived.recv().map_err(RecvTimeoutError::from),
        };
        match line {
            Ok(line) => {
                write_due(&mut output, &mut waiting, held)?;
                let turn = server.receive(&mut session, &line);
                if let Some(id) = turn.cancelled {
                    let withheld = |out: &Outgoing| out.answer || !server.faults.works_on();
                    waiting.retain(|(_, out)| out.id.as_ref() != Some(&id) || !withheld(out));
                }
                for answer in &turn.settled {
                    waiting.retain(|(_, out)| out.id != answer.id);
                }
                let told = server.announce(&session, &turn.changes);
                for out in told.into_iter().chain(turn.out).chain(turn.settled).chain(turn.later) {
                    if out.after.is_zero() || waiting.len() >= MOST_WAITING {
                        write_line(&mut output, &out, held)?;
                    } else {
                        waiting.push((Instant::now() + out.after, out));
                    }
                }
                if turn.crash {
                    return Ok(Ended::Crashed);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                for out in server.close(&mut session) {
                    write_line(&mut output, &out, held)?;
                }
                output.flush()?;
                while server.faults.outlives_stdin() {
                    thread::sleep(Duration::from_secs(1));
                }
                return Ok(Ended::Quietly);
            }
        }
        write_due(&mut output, &mut waiting, held)?;
        output.flush()?;
    }
}

/// What is due at once goes out in the order in which it was said.
fn write_due(output: &mut impl Write, waiting: &mut Vec<(Instant, Outgoing)>, held: bool) -> io::Result<()> {
    let now = Instant::now();
    waiting.sort_by_key(|(due, _)| *due);
    let due = waiting.iter().take_while(|(due, _)| *due <= now).count();
    waiting.drain(..due).try_for_each(|(_, out)| write_line(output, &out, held))
}

/// The newline belongs to the message; held back, it comes with the next one.
fn write_line(output: &mut impl Write, out: &Outgoing, held: bool) -> io::Result<()> {
    let parts: [&[u8]; 2] = if held { [b"\n", &out.bytes] } else { [&out.bytes, b"\n"] };
    parts.into_iter().try_for_each(|part| output.write_all(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_at_newlines_and_blank_ones_skipped() {
        let (lines, arrived) = mpsc::sync_channel(10);
        let input = || BufReader::new(b"one\n\n  \r\n\"ping\"\nthree".as_slice());
        read_lines(input(), false, &lines);
        read_lines(input(), true, &lines);
        drop(lines);
        let read: Vec<_> = arrived.iter().map(|line| String::from_utf8(line).expect("text")).collect();
        assert_eq!(
            read,
            ["one\n", "\"ping\"\n", "three", "one\n", "\"ping\"\n"],
            "the fault drops what was read with a ping"
        );
    }

    fn said(options: Options, lines: &[&str]) -> Vec<String> {
        let (sender, arrived) = mpsc::sync_channel(10);
        for line in lines {
            sender.send(line.as_bytes().to_vec()).expect("room for the line");
        }
        drop(sender);
        let mut output = Vec::new();
        serve(Server::new(options).expect("a server"), &arrived, &mut output).expect("a buffer takes everything");
        String::from_utf8(output).expect("UTF-8").lines().map(str::to_owned).collect()
    }

    #[test]
    fn subscriptions_are_answered_when_stdin_ends() {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = format!(r#"{{"_meta":{meta},"notifications":{{}}}}"#);
        let listen = format!(r#"{{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{params}}}"#);
        let said = said(Options::default(), &[&listen]);
        assert!(said[0].contains("notifications/subscriptions/acknowledged"), "{said:?}");
        assert!(said[1].contains(r#""id":"s","result""#), "{said:?}");
    }

    #[test]
    fn a_banner_comes_before_everything_and_a_crash_ends_it() {
        let faulty = |fault: &str| Options { fault: Some(fault.to_owned()), ..Options::default() };
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answered = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let banner = said(faulty("stdout-banner"), &[asked]);
        assert_eq!(banner, ["Reference server, ready to serve", answered]);
        assert_eq!(said(faulty("exits-on-bad-json"), &[asked, "{", asked]), [answered]);
    }
}
