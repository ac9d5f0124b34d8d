//! The floor under a run: sends recorded requests again, with the concurrency that they had, and only reads the answers.
//!
//! Nothing is judged, parsed or kept, so no client that asks the same can be much faster. `run.py` writes the plan and
//! compiles this with `rustc -O`: it is a program of its own, so that it shares nothing with what it is measured against.
//!
//! A plan is lines of three fields apart by tabs, and after each line the bytes to send. Over stdio the fields are a link, the
//! ids that were answered on it since the line before (apart by the unit separator, or `-`), and the length of the bytes; over HTTP the
//! number of a request, those that were answered since the one before, and the length.

use std::{
    collections::{BTreeMap, HashSet},
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio, exit},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

/// A server that answers otherwise than it did would be waited for without end.
const LONGEST: Duration = Duration::from_secs(60);

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let (plan, target) = (fs::read(&args[0]).expect("a plan"), &args[1..]);
    thread::spawn(|| {
        thread::sleep(LONGEST);
        eprintln!("the server does not answer as it was recorded");
        exit(1);
    });
    match target {
        [address] if address.contains(':') => http(&plan, address),
        command => stdio(&plan, command),
    }
}

struct Link {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    answered: HashSet<String>,
}

/// The fields of the next line, and the bytes after it.
fn step<'a>(plan: &mut &'a [u8]) -> ([String; 2], &'a [u8]) {
    let mut line = String::new();
    plan.read_line(&mut line).expect("a line");
    let mut fields = line.trim_end().split('\t').map(str::to_owned);
    let mut field = || fields.next().expect("a field");
    let (first, second) = (field(), field());
    let (bytes, rest) = plan.split_at(field().parse().expect("a length"));
    *plan = rest;
    ([first, second], bytes)
}

fn stdio(mut plan: &[u8], command: &[String]) {
    let mut links: BTreeMap<String, Link> = BTreeMap::new();
    let mut line = Vec::new();
    while !plan.is_empty() {
        let ([name, after], bytes) = step(&mut plan);
        let link = links.entry(name).or_insert_with(|| {
            let mut start = Command::new(&command[0]);
            start.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = start.spawn().expect("the server starts");
            let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
            Link { child, input, output: BufReader::new(output), answered: HashSet::new() }
        });
        for id in after.split('\u{1f}').filter(|id| *id != "-") {
            while !link.answered.contains(id) {
                line.clear();
                if link.output.read_until(b'\n', &mut line).expect("an answer") == 0 {
                    break;
                }
                link.answered.extend(id_of(&line));
            }
        }
        // A server that was made to end does not read on.
        let _ = link.input.write_all(bytes).and_then(|()| link.input.write_all(b"\n"));
    }
    for (_, Link { mut child, input, mut output, .. }) in links {
        drop(input);
        output.read_to_end(&mut line).expect("an end");
        child.wait().expect("an end");
    }
}

/// The first id in a line; the server that is measured writes it near the front.
fn id_of(line: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\"id\":";
    let start = line.windows(NAME.len()).position(|part| part == NAME)? + NAME.len();
    let id = &line[start..];
    let length = match id.strip_prefix(b"\"") {
        Some(text) => text.iter().position(|byte| *byte == b'"')? + 2,
        None => id.iter().position(|byte| matches!(byte, b',' | b'}'))?,
    };
    Some(String::from_utf8_lossy(&id[..length]).into_owned())
}

struct Post {
    number: u64,
    after: Vec<u64>,
    request: Vec<u8>,
}

fn http(mut plan: &[u8], address: &str) {
    let mut posts = Vec::new();
    while !plan.is_empty() {
        let ([number, after], request) = step(&mut plan);
        let parsed = |text: &str| text.parse::<u64>().expect("a number");
        let after = after.split('\u{1f}').filter(|text| *text != "-").map(parsed).collect();
        posts.push(Post { number: parsed(&number), after, request: request.to_owned() });
    }
    let done = Arc::new((Mutex::new(HashSet::<u64>::new()), Condvar::new()));
    let idle = Arc::new(Mutex::new(Vec::<BufReader<TcpStream>>::new()));
    let mut under_way = Vec::new();
    for Post { number, after, request } in posts {
        {
            let (answered, changed) = &*done;
            let mut answered = answered.lock().expect("no panic");
            while !after.iter().all(|number| answered.contains(number)) {
                answered = changed.wait(answered).expect("no panic");
            }
        }
        let (done, idle, address) = (done.clone(), idle.clone(), address.to_owned());
        under_way.push(thread::spawn(move || {
            let kept = idle.lock().expect("no panic").pop();
            let mut connection = kept.unwrap_or_else(|| {
                let stream = TcpStream::connect(address).expect("the server listens");
                stream.set_nodelay(true).expect("a socket");
                BufReader::new(stream)
            });
            connection.get_mut().write_all(&request).expect("the server reads");
            if read_response(&mut connection) {
                idle.lock().expect("no panic").push(connection);
            }
            done.0.lock().expect("no panic").insert(number);
            done.1.notify_all();
        }));
        under_way.retain(|thread| !thread.is_finished());
    }
    for thread in under_way {
        thread.join().expect("an answer");
    }
}

/// Whether the connection can be used again.
fn read_response(connection: &mut BufReader<TcpStream>) -> bool {
    let line = |connection: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        connection.read_line(&mut line).expect("a response");
        line.trim_end().to_ascii_lowercase()
    };
    let status = line(connection);
    let (mut length, mut chunked) = (None, false);
    loop {
        let header = line(connection);
        match header.split_once(": ") {
            Some(("content-length", value)) => length = value.parse::<usize>().ok(),
            Some(("transfer-encoding", "chunked")) => chunked = true,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    let mut take = |connection: &mut BufReader<TcpStream>, length: usize| {
        body.resize(length, 0);
        connection.read_exact(&mut body).expect("a body");
    };
    if chunked {
        loop {
            let size = usize::from_str_radix(&line(connection), 16).expect("a size");
            take(connection, size + 2);
            if size == 0 {
                return true;
            }
        }
    }
    match length {
        Some(length) => take(connection, length),
        None if status.contains(" 202") || status.contains(" 204") => {}
        None => {
            connection.read_to_end(&mut Vec::new()).expect("a body");
            return false;
        }
    }
    true
}
