//! From evidence to verdicts and reports, with all built-in suites.

use std::{
    io::BufReader,
    sync::{Arc, LazyLock},
};

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{evidence::written, report::shown};
use mcp_conform::{
    assess::{Options, assess},
    evidence::{Evidence, Frame, Frames, Recorder, RunContext, RunHeader, Sent, Side, Tested, Transport, transcript},
    outcome::RunReport,
    plan::Filter,
    reference,
    revision::Revision,
    run::built_in,
    suite::Suite,
    target::Limits,
    wire::json::{Reading, read},
};

static SUITES: LazyLock<Vec<Suite>> = LazyLock::new(|| built_in().expect("built-in suites load"));

/// The limit of a run for one message.
const VALUES: usize = 250_000;

/// How many suites judge a conversation: many inputs per second find more than all rules on a few.
const FEW: usize = 7;

fn verdicts(recorded: &Evidence, suites: &[Suite]) -> RunReport {
    let filter = Filter::default();
    assess(recorded, suites, &Options::verdicts(&filter))
}

/// The same evidence gives the same report twice, and the report can be shown.
fn judged_alike(recorded: &Evidence, suites: &[Suite]) {
    let mut report = verdicts(recorded, suites);
    assert!(report == verdicts(recorded, suites), "the second verdict differs");
    // Passed items are not part of a written report.
    report.rules.iter_mut().for_each(|rule| rule.held.clear());
    shown(&report);
}

static RUNS: LazyLock<[Vec<Value>; 2]> = LazyLock::new(|| {
    let runs = [
        include_str!("../../../../tests/fuzz-corpus/run-stdio.jsonl"),
        include_str!("../../../../tests/fuzz-corpus/run-http.jsonl"),
    ];
    runs.map(|run| run.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect())
});

/// Changes what a server sent in a recorded run. Each edit has a number for the line, one for the place in it, and one
/// for the depth and the new value.
pub fn judge(bytes: &[u8]) {
    let Some((&run, edits)) = bytes.split_first() else { return };
    let mut lines = RUNS[usize::from(run) % RUNS.len()].clone();
    for edit in edits.chunks_exact(5).take(20) {
        let number = |at: usize| usize::from(u16::from_be_bytes([edit[at], edit[at + 1]]));
        let value = value(&lines, number(2), edit[4]);
        let line = number(0) % lines.len();
        if let Some(said) = said(&mut lines[line]) {
            *place(said, number(2), 1 + (edit[4] >> 4)) = value;
        }
    }
    let text: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
    // Values that were repeatedly put into themselves exceed the depth that is read.
    let Ok(recorded) = transcript::read(BufReader::new(text.as_slice())) else { return };
    judged_alike(&recorded, &SUITES);
    let mut half: Vec<_> = recorded.frames().collect();
    half.truncate(half.len() / 2);
    verdicts(&Evidence { frames: Frames::Read(half), ..recorded }, &SUITES);
}

/// The message of a frame, or the saved responses of the suites.
fn said(line: &mut Value) -> Option<&mut Value> {
    let places = ["/frame/message", "/context/saves"];
    let place = places.into_iter().find(|place| line.pointer(place).is_some())?;
    line.pointer_mut(place)
}

/// A node of the value; a larger `depth` selects a deeper one.
fn place(value: &mut Value, choice: usize, depth: u8) -> &mut Value {
    let next = choice / 7 + choice % 7 * 31;
    let count = match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if depth == 0 || count == 0 {
        return value;
    }
    let inner = match value {
        Value::Object(members) => members.values_mut().nth(choice % count),
        other => other.get_mut(choice % count),
    };
    place(inner.expect("it is there"), next, depth - 1)
}

/// An unusual value, or one from elsewhere in the run.
fn value(lines: &[Value], choice: usize, what: u8) -> Value {
    match what & 31 {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(1e300),
        6 => json!(""),
        7 => json!("\u{202e}\u{1b}[31m\n\0"),
        8 => json!([]),
        9 => json!({}),
        10 => json!([[[[]]], null, {}]),
        11 => json!("file:///%zz{"),
        12 => json!("a".repeat(5000)),
        13 => (0..60).fold(json!(1), |inner, _| json!([inner])),
        14 => json!({ "": { "/~": [1, 1.0, "1"] } }),
        _ => place(&mut lines[choice % lines.len()].clone(), choice, what & 7).clone(),
    }
}

/// A conversation. The first byte selects revision and transport, the second one the suites (0: all). Then come lines;
/// those of the client begin with `>`.
pub fn conversation(bytes: &[u8]) {
    let &[first, part, ref lines @ ..] = bytes else { return };
    let revision = Revision::ALL[usize::from(first) % Revision::ALL.len()];
    let transport = Transport::ALL[usize::from(first >> 4) % Transport::ALL.len()];
    let recorder = Recorder::new(usize::MAX, usize::MAX, usize::MAX);
    let link = recorder.open_link(transport);
    recorder.settle(link, revision);
    let mut post = None;
    for line in lines.split(|byte| *byte == b'\n') {
        if let Some(sent) = line.strip_prefix(b">") {
            post = (!transport.capabilities().process).then(|| recorder.next_post());
            let by = Sent { link, by: "fuzz".to_owned(), post };
            match read(sent, VALUES) {
                Reading::Message { message, .. } => recorder.sent(&by, &message, sent.len() as u64),
                Reading::Junk { .. } => {
                    recorder.sent_raw(&by, String::from_utf8_lossy(sent).into_owned(), sent.len() as u64)
                }
            };
        } else {
            let length = line.len() as u64;
            match read(line, VALUES) {
                Reading::Message { message, flaws } => recorder.received(link, post, &message, length, flaws, None),
                Reading::Junk { why } => {
                    recorder.received_junk(link, post, String::from_utf8_lossy(line).into_owned(), length, why, None)
                }
            };
        }
    }
    let frames: Vec<Arc<Frame>> =
        recorder.frames().map(|frame| Arc::new(Frame { at: frame.frame, ..(*frame).clone() })).collect();
    let everything = json!({ "tools": {}, "resources": { "subscribe": true }, "prompts": {}, "logging": {}, "completions": {}, "tasks": {} });
    let context = RunContext {
        world: None,
        revision,
        subject: Side::Server,
        scenario: None,
        generated: None,
        transport,
        server: json!({ "capabilities": everything, "info": {}, "hello": {} }),
        client: json!({ "capabilities": {} }),
        facts: reference::server::facts(),
        proposals: reference::server::PROPOSALS.map(str::to_owned).to_vec(),
        extensions: vec!["io.modelcontextprotocol/skills".to_owned()],
        protected: false,
        saves: IndexMap::new(),
        incidents: IndexMap::new(),
        not_run: IndexMap::new(),
        skipped: IndexMap::new(),
    };
    let target = Tested { name: "fuzz".to_owned(), transport: transport.to_string(), ..Tested::default() };
    let header = RunHeader::new(Side::Server, target, 0, Limits::default().evidence_frames);
    let (links, frames) = (recorder.links(), Frames::Read(frames));
    let recorded = Evidence { header, links, frames, contexts: vec![context], retries: Vec::new(), cut_off: None };
    let again = transcript::read(written(&recorded).as_slice()).expect("what was recorded can be read");
    assert!(again.frames().eq(recorded.frames()), "other frames are read than were written");
    let parts = SUITES.len().div_ceil(FEW);
    let few = part.checked_sub(1).and_then(|part| SUITES.chunks(FEW).nth(usize::from(part) % parts));
    judged_alike(&recorded, few.unwrap_or(&SUITES));
}
