//! The ways of reading event streams, correct and wrong, and how streams are followed to their end.

use std::{rc::Rc, time::Duration};

use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::{
    behaviour::{
        Behaviour,
        decisions::{Heard, Lost, Resumption, Standalone},
    },
    report::Failure,
    state::Client,
    transport::{
        event_stream::{Event, EventStream},
        http::Http,
        raw::{self, Answer},
    },
};

/// How an event stream is read; `USUAL` follows the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamWays {
    /// A carriage return is part of the line.
    pub line_feeds_only: bool,
    /// A carriage return stays in the line that it ends.
    pub keeps_returns: bool,
    pub keeps_byte_order_mark: bool,
    pub fails_at_unknown_field: bool,
    /// A comment ends the event around it.
    pub comment_ends_event: bool,
    /// Each chunk is treated as one event.
    pub chunk_is_event: bool,
    /// Of several events in a chunk only the first is used.
    pub first_of_chunk: bool,
    /// Each data line is a message.
    pub each_data_line: bool,
    /// Only the last data line counts.
    pub last_data_line: bool,
    /// `data:x` is not recognized.
    pub needs_space: bool,
    /// Comments count as data.
    pub comments_are_data: bool,
    /// An event without its final empty line is used.
    pub keeps_unfinished: bool,
    pub ignores_ids: bool,
    /// An id is used before its event is complete.
    pub takes_id_at_once: bool,
    pub keeps_empty_id: bool,
    /// Events without data are dispatched.
    pub dispatches_empty: bool,
    /// The id of an event without data is forgotten.
    pub skips_priming: bool,
    pub longest_line: Option<usize>,
    /// Each chunk is decoded separately.
    pub decodes_chunks: bool,
    /// Messages are handled when the stream has ended.
    pub waits_for_end: bool,
    /// Nothing is read after the first event.
    pub first_event_only: bool,
    /// A stream that is idle for this long is closed.
    pub idle: Option<Duration>,
}

impl StreamWays {
    pub const USUAL: Self = Self {
        line_feeds_only: false,
        keeps_returns: false,
        keeps_byte_order_mark: false,
        fails_at_unknown_field: false,
        comment_ends_event: false,
        chunk_is_event: false,
        first_of_chunk: false,
        each_data_line: false,
        last_data_line: false,
        needs_space: false,
        comments_are_data: false,
        keeps_unfinished: false,
        ignores_ids: false,
        takes_id_at_once: false,
        keeps_empty_id: false,
        dispatches_empty: false,
        skips_priming: false,
        longest_line: None,
        decodes_chunks: false,
        waits_for_end: false,
        first_event_only: false,
        idle: None,
    };
}

/// Delay between attempts to resume, if the server sent no time. A guess.
const PAUSE: Duration = Duration::from_millis(500);

/// Longer delays come from a hostile server. A guess.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Maximum number of attempts to resume one stream. A guess: more than any world needs.
const MOST_ATTEMPTS: u32 = 20;

/// Reads events until the stream ends; false if a fault stopped it.
pub async fn read(
    client: &Rc<Client>,
    mut body: Incoming,
    stream: &mut EventStream,
    mut handle: impl FnMut(&Rc<Client>, &Event),
) -> bool {
    let ways = client.ways.streams;
    let mut kept = Vec::new();
    let mut take = |client: &Rc<Client>, events: Vec<Event>, ended: bool| {
        kept.extend(events);
        if ways.waits_for_end && !ended {
            return true;
        }
        std::mem::take(&mut kept).into_iter().all(|mut event| {
            if let Some(hook) = client.ways.event {
                match client.with(|memory, scene| hook(memory, scene, &mut event)) {
                    Heard::Break => return false,
                    heard => {
                        if !client.obey(heard, "an event was not understood") {
                            return true;
                        }
                    }
                }
            }
            handle(client, &event);
            true
        })
    };
    loop {
        let next = raw::frame(&mut body);
        let next = match ways.idle {
            Some(idle) => timeout(idle, next).await.ok().flatten(),
            None => next.await,
        };
        let Some(Ok(frame)) = next else { break };
        let chunk = if ways.decodes_chunks {
            String::from_utf8_lossy(&frame).into_owned().into_bytes()
        } else {
            frame.to_vec()
        };
        let events = stream.push(&chunk);
        let stops = ways.first_event_only && !events.is_empty();
        if !take(client, events, false) || stops || stream.failed {
            return false;
        }
    }
    let rest = stream.finish();
    take(client, rest, true)
}

/// Passes the message of an event to the client.
pub fn hear(client: &Rc<Client>, event: &Event) {
    if event.name.is_empty() || event.name == "message" {
        client.hear_bytes(event.data.as_bytes());
    }
}

/// Reads the stream of a POST or GET and resumes it until the requests that wait for it have ended.
pub async fn follow(client: Rc<Client>, http: Rc<Http>, answer: Answer, ids: Vec<Value>, message: Value) {
    let Answer { body, guard } = answer;
    let mut stream = EventStream::new(client.ways.streams, None);
    let mut read_on = read(&client, body, &mut stream, hear).await;
    drop(guard);
    let mut attempts = 0;
    loop {
        let waiting: Vec<Value> = ids.iter().filter(|id| client.is_open(id)).cloned().collect();
        if waiting.is_empty() || !read_on {
            break;
        }
        let lost = Lost {
            ids: waiting,
            method: message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned(),
            last_event_id: stream.last_id.clone(),
            first_event_id: stream.first_id.clone(),
            retry: stream.retry,
            attempts,
        };
        let next = decide(&client, &lost);
        if next.unnoticed {
            return;
        }
        if next.repost {
            sleep(next.wait).await;
            http.repost(&client, &message, next.last_event_id.as_deref()).await;
            return;
        }
        if !next.again {
            break;
        }
        sleep(next.wait).await;
        attempts += 1;
        match http.get(&client, next.last_event_id.clone()).await {
            Ok(Answer { body, guard }) => {
                let before = stream.last_id.clone();
                let mut resumed = EventStream::new(client.ways.streams, before.clone());
                resumed.retry = stream.retry;
                read_on = read(&client, body, &mut resumed, hear).await;
                drop(guard);
                if resumed.last_id != before {
                    attempts = 0;
                }
                stream = resumed;
            }
            Err(failure) => return client.fail(&ids, &failure),
        }
    }
    client.fail(&ids, &Failure::closed("the event stream ended without the response"));
}

fn decide(client: &Client, lost: &Lost) -> Resumption {
    let resumable = lost.last_event_id.is_some() && client.ways.habits.resumes && !client.is_modern();
    let mut next = Resumption {
        again: resumable && lost.attempts < MOST_ATTEMPTS,
        wait: lost.retry.unwrap_or(PAUSE).min(LONGEST_PAUSE),
        last_event_id: lost.last_event_id.clone(),
        repost: false,
        unnoticed: false,
    };
    if let Some(hook) = client.ways.resume {
        client.with(|memory, scene| hook(memory, scene, lost, &mut next));
    }
    next
}

/// Opens the stream for messages of a legacy server that belong to no request, and keeps it open.
pub async fn stand_by(client: Rc<Client>, http: Rc<Http>) {
    let usual: &Behaviour = client.ways;
    let mut last_id: Option<String> = None;
    let (mut attempts, mut status, mut wait) = (0, 0, Duration::ZERO);
    loop {
        let mut next = Standalone {
            // A stream that is closed again and again gets no more attempts.
            disconnect: false,
            open: usual.habits.standalone_stream && matches!(status, 0 | 200) && attempts < 5,
            wait,
            attempts,
            status,
        };
        if let Some(hook) = client.ways.standalone {
            client.with(|memory, scene| hook(memory, scene, &mut next));
        }
        if next.disconnect {
            return client.disconnect("GET was rejected");
        }
        if !next.open {
            return;
        }
        sleep(next.wait).await;
        attempts += 1;
        let began = tokio::time::Instant::now();
        match http.get(&client, last_id.clone().filter(|_| usual.habits.resumes)).await {
            Ok(Answer { body, guard }) => {
                status = 200;
                let mut stream = EventStream::new(client.ways.streams, last_id.clone());
                stream.standalone = true;
                read(&client, body, &mut stream, hear).await;
                drop(guard);
                last_id.clone_from(&stream.last_id);
                if began.elapsed() > LONGEST_PAUSE {
                    attempts = 0;
                }
                wait = stream.retry.unwrap_or(PAUSE * 2 * attempts.max(1)).min(LONGEST_PAUSE);
            }
            Err(failure) => {
                status = failure.status.unwrap_or(599);
                wait = PAUSE * 2;
            }
        }
    }
}
