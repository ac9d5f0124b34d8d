//! Two clients send different requests with the same id at overlapping times.
//!
//! Ids of different clients have nothing to do with each other, but a server that keeps all open requests in one table
//! by id confuses them: a client gets the response for another one, or none. SDKs have had this defect where one
//! transport serves all clients.
//!
//! A missing response counts only if the ids are its cause. The same two requests with different ids must both get a
//! result, then the same ids must fail again with more time, and then each request alone must get its result again. So a
//! server that is slow, handles one request at a time or limits the number of requests shows nothing.

use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{call::filled, param_headers::param_headers, step::Stage};
use conform_model::evidence::{End, Reply};
use conform_session::{CallOptions, Session};
use conform_suite::{Overlap, Scope};

/// A request that takes this long is still open when the second one arrives; others overlap by chance. Observed: requests
/// on this machine take less than 2 ms, with a server of the TypeScript SDK up to 10 ms.
const SURELY_OPEN: Duration = Duration::from_millis(20);
/// How often the requests are sent, alternately in either order.
const TIMES: usize = 2;
const TIMES_BY_CHANCE: usize = 6;
/// Minimum time for responses, at first and to confirm that one is missing, and the factors for slow requests.
const SOON: (Duration, u32) = (Duration::from_secs(1), 4);
const CONFIRMED: (Duration, u32) = (Duration::from_secs(5), 10);

struct Request {
    method: String,
    params: Option<Value>,
    headers: Vec<(String, String)>,
}

/// The client, its request, and how long that takes alone.
struct Party<'a> {
    session: &'a Session,
    request: Request,
    took: Duration,
}

pub async fn overlap(stage: &Stage<'_>, overlap: &Overlap, scope: &Scope<'_>) -> Option<Value> {
    let method = overlap.method.resolve(scope).ok()?;
    let params = filled(overlap.with.as_ref(), scope)?;
    let others = overlap.others.resolve(scope).ok()?;
    let own = request(stage, method.as_str()?, params)?;
    let first = stage.session().await?;
    let second = stage.beside.second().await?.session().await;
    let one = party(stage, &first, own).await?;
    let mut other = None;
    for method in others.as_array()?.iter().filter_map(Value::as_str).filter(|method| *method != one.request.method) {
        if let Some(request) = request(stage, method, None) {
            other = party(stage, &second, request).await;
        }
        if other.is_some() {
            break;
        }
    }
    let pair = Pair { stage, parties: [one, other?] };
    Some(json!({ "exchanges": pair.exchanges().await }))
}

/// `None` if the server does not declare the capability for it.
fn request(stage: &Stage<'_>, method: &str, params: Option<Value>) -> Option<Request> {
    let (of, _) = method.split_once('/').unwrap_or_default();
    let needs = matches!(of, "tools" | "resources" | "prompts");
    let declared = stage.context.server["capabilities"].get(of).is_some();
    let headers = param_headers(stage.context, method, params.as_ref().unwrap_or(&Value::Null));
    (declared || !needs).then(|| Request { method: method.to_owned(), params, headers })
}

/// `None` if the request gets no result.
async fn party<'a>(stage: &Stage<'_>, session: &'a Session, request: Request) -> Option<Party<'a>> {
    let party = Party { session, request, took: Duration::ZERO };
    let reply = party.send(stage, &unused_id(stage, "alone"), stage.limits.request).await;
    (reply.end == End::Result).then(|| Party { took: Duration::from_millis(reply.ms), ..party })
}

impl Party<'_> {
    async fn send(&self, stage: &Stage<'_>, id: &str, within: Duration) -> Reply {
        let Request { method, params, headers } = &self.request;
        let (id, headers, patience) = (Some(json!(id)), headers.clone(), Some(within));
        let options = CallOptions { id, headers, patience, ..CallOptions::default() };
        self.session.call(&stage.suite.id, method, params.clone(), options).await
    }
}

/// An id that no other client of this run uses: other suites run concurrently, and number their requests.
fn unused_id(stage: &Stage<'_>, what: &str) -> String {
    format!("mcp-conform-{what}-{}", stage.recorder.frames_so_far())
}

struct Pair<'a> {
    stage: &'a Stage<'a>,
    parties: [Party<'a>; 2],
}

impl Pair<'_> {
    /// What both clients receive, each time.
    async fn exchanges(&self) -> Vec<Value> {
        let (mut exchanges, limit) = (Vec::new(), self.stage.limits.request);
        let took = self.parties.iter().map(|party| party.took).sum::<Duration>();
        let within = |(least, factor): (Duration, u32)| least.max(took * factor).min(limit);
        // A server that handles one request at a time needs the sum of both times.
        if took * 2 > limit {
            return exchanges;
        }
        let surely = self.parties.iter().any(|party| party.took >= SURELY_OPEN);
        let slower = usize::from(self.parties[1].took > self.parties[0].took);
        for nr in 0..if surely { TIMES } else { TIMES_BY_CHANCE } {
            let first = (slower + nr) % 2;
            let same = unused_id(self.stage, "same");
            let replies = self.send([&same, &same], first, within(SOON)).await;
            if replies.iter().all(is_answered) {
                exchanges.extend(self.describe(&replies));
                continue;
            }
            let different = ["one", "other"].map(|which| unused_id(self.stage, which));
            let apart = self.send([&different[0], &different[1]], first, within(CONFIRMED)).await;
            if apart.iter().any(|reply| reply.end != End::Result) {
                break;
            }
            let again = unused_id(self.stage, "same");
            let replies = self.send([&again, &again], first, within(CONFIRMED)).await;
            if replies.iter().all(is_answered) || self.still_serves().await {
                exchanges.extend(self.describe(&replies));
            }
            break;
        }
        exchanges
    }

    /// Sends both requests, the second while the first is open as far as its duration shows.
    async fn send(&self, ids: [&str; 2], first: usize, within: Duration) -> [Reply; 2] {
        let send = |which: usize| self.parties[which].send(self.stage, ids[which], within);
        let later = async {
            sleep(self.parties[first].took / 4).await;
            send(1 - first).await
        };
        let (one, other) = join(send(first), later).await;
        if first == 0 { [one, other] } else { [other, one] }
    }

    /// Whether each request alone still gets its result.
    async fn still_serves(&self) -> bool {
        for party in &self.parties {
            let id = unused_id(self.stage, "alone");
            if party.send(self.stage, &id, self.stage.limits.request).await.end != End::Result {
                return false;
            }
        }
        true
    }

    fn describe(&self, replies: &[Reply; 2]) -> [Value; 2] {
        [0, 1].map(|which| {
            let methods = [which, 1 - which].map(|which| &self.parties[which].request.method);
            let (reply, other) = (&replies[which], &replies[1 - which]);
            json!({ "method": methods[0], "beside": methods[1], "frames": reply.frames, "reply": reply, "other": other })
        })
    }
}

/// An error is a response, too; why the server rejects the request is no matter here.
fn is_answered(reply: &Reply) -> bool {
    !matches!(reply.end, End::Timeout | End::Closed)
}
