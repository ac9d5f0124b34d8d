//! Steps as they are typed.

use super::{Applies, Matcher};
use crate::{
    evidence::Manner,
    suite::{
        decode::{Pairs, keys},
        model::{Control, StepConnection},
        yaml::{At, Tree},
    },
};

keys! {
    /// One action on the wire: one verb and its arguments.
    Step, "a step" {
        /// Verb: one request, by its method. Saves `{ end, result, error, http, notifications, ms }`.
        call: At<String>,
        /// Verb: a list request and its further pages. Saves `{ end, items, pages }`.
        list: At<String>,
        /// Verb: list everything below some nodes, breadth first. Saves `{ end, nodes, visits, edges, cycles }`.
        walk: At<String>,
        /// Verb: one notification, by its method. `notifications/cancelled` for an open subscription saves it, as `call`.
        notify: At<String>,
        /// Verb: wait for a notification of this method. Saves `{ end, message, ms }`.
        r#await: At<String>,
        /// Verb: a message `{ jsonrpc: { id, method, params } }`, completed by what the revision asks for; a batch, if that is a
        /// list; `{ lines: [...] }` several, one a line; raw text, `{ base64: bytes }`, or `{ json: value }` on one line.
        send: Tree,
        /// Verb: a whole HTTP request, by its HTTP method.
        http: At<String>,
        /// Verb: bring about a change, by the tool, command or HTTP request of a fact: `$facts.change`. Saves `{ end, ms }`.
        change: At<String>,
        /// Verb: wait so many seconds.
        pause: f64,

        /// `call`, `list`, `walk`, `notify`: the params. A string that is wholly a reference stands for its value.
        with: Tree,
        /// `call`: a request id to use instead of the next number.
        id: Tree,
        /// `call`: `new`, a connection for this call alone, before any handshake. `list`: `second`, which the suite has for such
        /// lists.
        connection: StepConnection,
        /// `call`: another method, asked on the same connection over stdio once this was answered by a result. For a
        /// handshake that is not finished.
        then: At<String>,
        /// `list`, `walk`: the member of the result that holds the items.
        take: At<String>,
        /// `list`: how many pages to follow, 100 if not said.
        pages: usize,
        /// `walk`: the nodes to start from.
        from: At<String>,
        /// `walk`: the name of the node in `where` and `with`.
        node: At<String>,
        /// `walk`: the member that tells nodes apart.
        key: At<String>,
        /// `walk`: where to stop, in any case.
        limits: Limits,
        /// `await`: the step from whose start on the notification counts. Without it: this one.
        since: At<String>,
        /// `await`: conditions on the notification, which is `$message`.
        matching: Pairs<Matcher>,
        /// `await`: how many seconds to wait, 5 if not said.
        within: f64,
        /// `await`: in the place of `within`, where nothing is to be received: how many seconds at most. A quick server is not
        /// waited for that long.
        none_within: f64,
        /// `call`: after how many seconds it is cancelled.
        cancel_after: f64,
        /// `call` with `until`: for how many seconds it is repeated, 5 if not said.
        poll_for: f64,
        /// `http`: after how many seconds it is dropped.
        drop_after: f64,
        /// `call`: ask again and again until this holds of the answer, which is `$reply`.
        until: Pairs<Matcher>,
        /// `send`: in so many pieces over stdio, each when the one before has been read.
        pieces: usize,
        /// `send`: the request id whose response is the reply. Without it, an error without id is.
        reply_to: Tree,
        /// `call`: how the client responds to what the server requests meanwhile: `accept`, `decline`, ...
        respond: Manner,
        /// `http`: headers to add, or with `null` to leave out.
        headers: Pairs<Tree>,
        /// `http`: the body, as JSON unless it is a string.
        body: Tree,
        /// `http`: in the place of a body, a JSON-RPC message `{ id, method, params }`, completed by what the revision asks for.
        jsonrpc: Tree,
        /// `http`: what to add to the query of the URL.
        query: Pairs<Tree>,
        /// `http`: a path or URL to use instead of the endpoint.
        url: Tree,

        /// `call`, `send`, `http`, `notify`: how it differs from a complete message of its revision, on purpose:
        /// `{ without: [parts], with: { part: value } }`, or `message` where it is no JSON-RPC message at all. The same without
        /// that is sent first, as `control`.
        deviates: Tree,
        /// How the control of a probe has to end, or its rules are not exercised: `result`, or `error` where it is about
        /// something that nobody has.
        control: Control,

        /// Run the step once for each item: `{ resource: $survey.resources.items }`.
        each: Pairs<Tree>,
        /// `each`: no more items than this: some from all over the list, or with `in-order` the first.
        at_most: usize,
        /// `each`: one after another instead of concurrently.
        in_order: bool,
        /// Leave out items (or the step) unless all of this holds.
        r#where: Pairs<Matcher>,
        /// The name of what came of it.
        save: At<String>,
        /// Where the step counts.
        applies: Applies,
    }
}

keys! {
    /// All of the numbers are needed.
    Limits, "`limits`" {
        /// How many nodes to visit.
        #[schemars(required)]
        nodes: usize,
        /// How far from the start.
        #[schemars(required)]
        depth: usize,
        /// How many pages to fetch in all.
        #[schemars(required)]
        pages: usize,
        /// How long.
        #[schemars(required)]
        seconds: usize,
        /// Whether the user may set others, by `--limit walk_nodes=N` and its like.
        settable: bool,
    }
}

keys! {
    /// The parts in which a message differs from a complete one.
    Deviation, "`deviates`" {
        /// The part that is missing, or a list of them: `clientInfo`, `id`, `Mcp-Method`.
        without: Tree,
        /// What is there instead, by part. A header is left out by `null`.
        with: Pairs<Tree>,
    }
}
