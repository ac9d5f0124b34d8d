//! Judges all rules of a plan on the evidence.
//!
//! Most rules judge what the suites saved. Rules over `$transcript`, `$messages`, `$exchanges` and `$asked` judge the
//! whole run, which may not fit in memory: it is streamed once, item by item, and each such rule judges each item.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    thread,
};

use serde_json::{Value, json};

use super::{
    clients::Clients,
    exchange::Assembler,
    fan_out::{FanOut, assign},
    fold::fold,
    gateways::Gateways,
    item::{NOT_ASKED, judge_item, unread},
    located::{Item, save_of},
    open::Open,
    posts::Posts,
    profiles::Seen,
    streams::Streams,
    tally::Tally,
    visits::judge_visit,
};
use conform_model::{
    evidence::{Frame, FrameKind, Link, RunContext, Side},
    outcome::{RuleResult, Unexercised},
};
use conform_suite::{Filter, Node, Scope, ground, plan::Plan, views};

/// Verdicts on every rule of the plan, in plan order. `frames` are those of the run, in order. Frames of connections in
/// another revision are skipped.
pub fn judge(
    plan: &Plan,
    context: &RunContext,
    links: &[Link],
    frames: impl Iterator<Item = Arc<Frame>>,
) -> Vec<RuleResult> {
    let seen = Seen::of(plan, context);
    let grounds: Vec<Scope> = plan
        .suites
        .iter()
        .map(|planned| {
            let mut ground = ground(context, planned.suite);
            seen.iter().filter(|_| planned.suite.profile.is_some()).for_each(|seen| seen.bind(&mut ground));
            ground
        })
        .collect();
    let mut tallies = Tally::all(plan, &grounds);
    let judged = tallies.iter_mut().filter(|tally| tally.is_judged());
    let (audiences, mut still) = assign(judged, context.revision);
    let wanted: Vec<Option<&Filter>> = audiences.iter().flat_map(|audience| audience.filters("transcript")).collect();
    thread::scope(|threads| {
        let fan_out = FanOut::open(threads, audiences);
        for tally in &mut still {
            judge_saved(tally, context);
        }
        if context.subject == Side::Client {
            return other_by(Clients::default(), context, links, frames, fan_out, &wanted);
        }
        if context.subject == Side::Gateway {
            return other_by(Gateways::default(), context, links, frames, fan_out, &wanted);
        }
        pass_by(context, links, frames, fan_out, &wanted, |frame| {
            for tally in still.iter_mut().filter(|tally| Some(&tally.suite.id) == frame.by.as_ref()) {
                judge_visit(tally, context, frame);
            }
        });
    });
    // No finding of a profile hides one of the verdict, or of another profile.
    tallies.chunk_by_mut(|one, next| one.suite.profile == next.suite.profile).for_each(fold);
    tallies.into_iter().map(|tally| tally.finish(context)).collect()
}

fn judge_saved(tally: &mut Tally, context: &RunContext) {
    let (rule, scope) = (tally.rule, tally.ground);
    let Some(every) = &rule.every else {
        judge_item(tally, scope, context.revision, None);
        return;
    };
    for path in &every.over {
        if let Some(why) = save_of(path, scope).and_then(unread) {
            tally.unread.get_or_insert(why);
        }
        let (Some(nodes), Some(root)) = (path.select(scope), scope.lookup(&path.root)) else {
            tally.missing.get_or_insert_with(|| Unexercised::nothing_to_test(NOT_ASKED));
            continue;
        };
        // An array that is selected as a whole stands for its items.
        let whole = matches!(nodes.as_slice(), [only] if only.value.is_array());
        let nodes = if whole { elements(&nodes[0]) } else { nodes };
        for Node { value, location } in &nodes {
            let mut inner = Scope::over(scope);
            inner.bind(every.var.as_str(), value);
            let item = Item { suite: tally.suite, var: &every.var, path, root, value, location: &|| location.clone() };
            judge_item(tally, &inner, context.revision, Some(&item));
        }
    }
}

fn elements<'a>(node: &Node<'a>) -> Vec<Node<'a>> {
    let items = node.value.as_array().into_iter().flatten().enumerate();
    items.map(|(index, value)| Node { value, location: format!("{}/{index}", node.location) }).collect()
}

/// Calls back with every item of the streamed names, in run order. Transcript items are skipped if none of the `wanted`
/// filters can match.
fn pass_by(
    context: &RunContext,
    links: &[Link],
    frames: impl Iterator<Item = Arc<Frame>>,
    mut fan_out: FanOut,
    wanted: &[Option<&Filter>],
    mut visited: impl FnMut(&Frame),
) {
    let ours = |link: u32| links.iter().find(|known| known.link == link && known.revision == Some(context.revision));
    let mut assemblers: Vec<(u32, Assembler, Streams)> = Vec::new();
    let mut posts = Posts::default();
    // The last request that a server shared by all connections still received. Its response may arrive after others
    // were lost, if it was on its way.
    let mut heard = 0;
    // The first frame of each HTTP exchange.
    let mut sent = HashMap::new();
    // Requests that got a response, on any connection.
    let mut served = HashSet::new();
    for frame in frames {
        let Some(link) = ours(frame.link) else { continue };
        if frame.from == Side::Server && matches!(frame.kind, FrameKind::HttpResponse | FrameKind::Message) {
            heard = heard.max(frame.post.and_then(|post| sent.get(&post).copied()).unwrap_or(frame.frame));
        } else if let (Side::Client, Some(post)) = (frame.from, frame.post) {
            sent.entry(post).or_insert(frame.frame);
        }
        if frame.kind == FrameKind::Visit {
            visited(&frame);
            continue;
        }
        let index = assemblers.iter().position(|(known, ..)| *known == frame.link).unwrap_or_else(|| {
            let mut assembler = Assembler::new(link);
            assembler.of_other_client = context.server["recorded"] == true;
            assemblers.push((frame.link, assembler, Streams::new(link)));
            assemblers.len() - 1
        });
        let passed = assemblers[index].1.take(&frame);
        let stream = assemblers[index].2.take(&frame);
        let shown = shown(&frame, link, &mut posts, wanted);
        // A frame that is not shared gives up its message without a copy.
        let Frame { bytes, mut message, .. } = Arc::unwrap_or_clone(frame);
        let mut pass = |root, item| {
            debug_assert_eq!(
                views::undeclared(root, &item),
                None,
                "a field of ${root} that crates/suite/src/views lacks"
            );
            fan_out.pass(root, item, bytes);
        };
        for exchange in passed.exchanges {
            served.insert(asked_for(&exchange["method"], &exchange["params"]));
            pass("exchanges", exchange);
        }
        for mut item in passed.messages {
            let place = item.origin.pointer.as_str();
            let last_use = place.is_empty() && shown.is_none();
            let own = item.message.take().or_else(|| {
                if last_use { message.take() } else { message.as_ref().and_then(|whole| whole.pointer(place)).cloned() }
            });
            let mut item = json!(item);
            item["message"] = own.unwrap_or_default();
            pass("messages", item);
        }
        if let Some(stream) = stream {
            pass("streams", stream);
        }
        passed.asked.iter().for_each(|asked| pass("asked", json!(asked)));
        if let Some(mut item) = shown {
            if let Some(message) = message {
                item["message"] = message;
            }
            pass("transcript", item);
        }
    }
    let shares = |link: &u32| ours(*link).is_some_and(|link| link.transport.capabilities().shared);
    let together = assemblers.iter_mut().filter(|(link, ..)| shares(link));
    let lost: Vec<&mut Open> = together.flat_map(|(_, assembler, _)| assembler.lost_behind(heard)).collect();
    let first = lost.iter().filter_map(|open| open.lost).min().unwrap_or_default();
    let (last, after): (Vec<_>, Vec<_>) = lost.into_iter().partition(|open| open.frame < first);
    // The server was gone already.
    for open in after {
        open.killed = None;
    }
    // Nothing shows which of the concurrent requests made the server exit.
    let others = last.len().saturating_sub(1);
    for open in last {
        let was_served = others == 0 && was_served(open, &served);
        let Some(killed) = open.killed.as_mut() else { continue };
        if others > 0 {
            *killed = format!("{killed} (during this or one of {others} other requests; it did not recover)");
        } else if was_served {
            killed.push_str(SERVED_BEFORE);
        }
    }
    for (link, assembler, _) in &mut assemblers {
        if !shares(link) {
            assembler.killed().into_values().for_each(|together| blame(together, &served));
        }
    }
    for (_, mut assembler, streams) in assemblers {
        assembler.unclear().for_each(|message| fan_out.pass("messages", json!(message), 0));
        streams.rest().into_iter().for_each(|stream| fan_out.pass("streams", stream, 0));
        assembler.rest().into_iter().for_each(|exchange| fan_out.pass("exchanges", exchange, 0));
    }
    fan_out.close();
}

/// Builds the items for rules about a client or a gateway.
trait Items<'a> {
    fn take(&mut self, frame: &Arc<Frame>, link: &'a Link) -> Vec<(&'static str, Value)>;

    /// The items that are complete only at the end of the run.
    fn rest(self) -> Vec<(&'static str, Value)>;
}

impl<'a> Items<'a> for Clients<'a> {
    fn take(&mut self, frame: &Arc<Frame>, link: &'a Link) -> Vec<(&'static str, Value)> {
        self.take(frame, link)
    }

    fn rest(self) -> Vec<(&'static str, Value)> {
        self.rest()
    }
}

impl<'a> Items<'a> for Gateways {
    fn take(&mut self, frame: &Arc<Frame>, link: &'a Link) -> Vec<(&'static str, Value)> {
        self.take(frame, link);
        Vec::new()
    }

    fn rest(self) -> Vec<(&'static str, Value)> {
        self.rest()
    }
}

/// As [`pass_by`], for a client or a gateway.
fn other_by<'a>(
    mut items: impl Items<'a>,
    context: &RunContext,
    links: &'a [Link],
    frames: impl Iterator<Item = Arc<Frame>>,
    mut fan_out: FanOut,
    wanted: &[Option<&Filter>],
) {
    let mut posts = Posts::default();
    let mut pass = |root, item, bytes| {
        debug_assert_eq!(views::undeclared(root, &item), None, "a field of ${root} that crates/suite/src/views lacks");
        fan_out.pass(root, item, bytes);
    };
    for frame in frames {
        let ours = |known: &&Link| known.link == frame.link && known.revision == Some(context.revision);
        let Some(link) = links.iter().find(ours) else { continue };
        for (root, item) in items.take(&frame, link) {
            pass(root, item, frame.bytes);
        }
        if let Some(mut item) = shown(&frame, link, &mut posts, wanted) {
            if let Some(message) = &frame.message {
                item["message"] = message.clone();
            }
            pass("transcript", item, frame.bytes);
        }
    }
    items.rest().into_iter().for_each(|(root, item)| pass(root, item, 0));
    fan_out.close();
}

/// Identifies a request by its method and params; sender and id do not matter. Params about the request itself are
/// excluded.
fn asked_for(method: &Value, params: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    method.to_string().hash(&mut hasher);
    for (name, value) in params.as_object().into_iter().flatten().filter(|(name, _)| *name != "_meta") {
        (name, value.to_string()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Added to the message if this request alone does not make the server exit.
const SERVED_BEFORE: &str =
    "; the server responded to the same request before, so an earlier request or a timer may be the cause";

fn was_served(open: &Open, served: &HashSet<u64>) -> bool {
    served.contains(&asked_for(&json!(open.method), &open.params))
}

/// Of the requests that were open when a process exited, those that got a response elsewhere are not blamed, unless all
/// did.
fn blame(mut together: Vec<&mut Open>, served: &HashSet<u64>) {
    let all_served = together.iter().all(|open| was_served(open, served));
    if !all_served {
        together.retain_mut(|open| {
            let innocent = was_served(open, served);
            open.killed = open.killed.take().filter(|_| !innocent);
            !innocent
        });
    }
    let others = together.len().saturating_sub(1);
    for killed in together.into_iter().filter_map(|open| open.killed.as_mut()) {
        if others > 0 {
            *killed = format!("{killed} (during this or one of {others} other requests)");
        }
        if all_served {
            killed.push_str(SERVED_BEFORE);
        }
    }
}

/// The frame as an item of the transcript, without its message; `None` if no filter can match.
fn shown(frame: &Frame, link: &Link, posts: &mut Posts, wanted: &[Option<&Filter>]) -> Option<Value> {
    if wanted.is_empty() {
        return None;
    }
    let mut item = serde_json::to_value(frame.head()).ok()?;
    item["transport"] = json!(link.transport);
    posts.describe(frame, &mut item);
    item["brief"] = json!(link.brief);
    let rules_it_out = |filter: &Filter| filter.fails_without(&item, &["message"]);
    wanted.iter().any(|filter| filter.is_none_or(|filter| !rules_it_out(filter))).then_some(item)
}
