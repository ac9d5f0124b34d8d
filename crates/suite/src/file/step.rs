//! Steps as they are typed.

use super::{Applies, Matcher};
use crate::{
    decode::{OneOrMany, Pairs, keys},
    model::{Control, LoginEnd, StepConnection},
};
use conform_model::evidence::Manner;
use conform_source::yaml::{At, Tree};

keys! {
    /// One action: a verb and its arguments.
    Step, "a step" {
        /// Verb: one request, by its method. Saves `{ end, result, error, http, notifications, ms }`.
        call: At<String>,
        /// Verb: a list request and its further pages. Saves `{ end, items, pages }`.
        list: At<String>,
        /// Verb: walk the graph below some nodes, breadth first. Saves `{ end, nodes, visits, edges, cycles }`.
        walk: At<String>,
        /// Verb: one notification, by its method. `notifications/cancelled` for an open subscription saves it, as `call`.
        notify: At<String>,
        /// Verb: wait for a notification of this method. Saves `{ end, message, ms }`.
        r#await: At<String>,
        /// Verb: a message `{ jsonrpc: { id, method, params } }`, completed as the revision requires; a batch, if that is a
        /// list; `{ lines: [...] }` several messages, one per line; raw text, `{ base64: bytes }`, or `{ json: value }` on one line.
        send: Tree,
        /// Verb: a whole HTTP request, by its HTTP method.
        http: At<String>,
        /// Verb: two clients send different requests with the same id at overlapping times, this one and the first of `others`
        /// that the server returns a result for. Saves `{ exchanges }`.
        overlap: At<String>,
        /// Verb: change something by the tool, command or HTTP request of a fact: `$facts.change`. Saves `{ end, ms }`.
        change: At<String>,
        /// Verb: wait so many seconds.
        pause: f64,
        /// `pause`: it ends when the server sends a request other than ping.
        or_request: bool,

        /// `call`, `list`, `walk`, `notify`, `overlap`: the params. A string that is completely a reference is replaced by its value.
        with: Tree,
        /// `call`: a request id to use instead of the next number.
        id: Tree,
        /// `call`: `new`, a connection for this call alone, before any handshake. `list`: `second`, which the suite has for such
        /// lists.
        connection: StepConnection,
        /// `overlap`: a list of methods without params, of which the other client sends one.
        others: Tree,
        /// `call`: another method to call on the same connection over stdio after a result. For a
        /// handshake that is not finished.
        then: At<String>,
        /// `list`, `walk`: the field of the result with the elements.
        take: At<String>,
        /// `list`: the maximum number of pages (default 100).
        pages: usize,
        /// `walk`: the nodes to start from.
        from: Tree,
        /// `walk`: the name of the node in `where` and `with`.
        node: At<String>,
        /// `walk`: the field that identifies a node.
        key: At<String>,
        /// `walk`: the limits.
        limits: Limits,
        /// `await`: the step from whose start on notifications count (default: this step).
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
        /// `call`: repeat until these clauses on `$reply` hold.
        until: Pairs<Matcher>,
        /// `send`: over stdio, split into this number of writes.
        pieces: usize,
        /// `send`: the request id whose response is the reply. Without it, an error without id is.
        reply_to: Tree,
        /// `call`: how the client responds to what the server requests meanwhile: `accept`, `decline`, ...
        respond: Manner,
        /// `http`: headers to add, or to remove with `null`.
        headers: Pairs<Tree>,
        /// `http`: the body, as JSON unless it is a string.
        body: Tree,
        /// `http`: instead of a body, a JSON-RPC message `{ id, method, params }`, completed as the revision requires.
        jsonrpc: Tree,
        /// `http`: query parameters to add to the URL.
        query: Pairs<Tree>,
        /// `http`: a path or URL to use instead of the endpoint.
        url: Tree,
        /// `http`: instead of a body, the parameters of a form.
        form: Pairs<Tree>,
        /// `http`: the URL is opened in a browser, whose user logs in, and approves or denies. It ends at the redirect to the
        /// `redirect_uri` of the query.
        login: LoginEnd,

        /// `call`, `send`, `http`, `notify`: the intended deviation from a complete message:
        /// `{ without: [parts], with: { part: value } }`, or `message` if it is not a JSON-RPC message. The same request without
        /// the deviation is sent first, as `control`.
        deviates: Tree,
        /// `call`, `http`: the params or headers, valid but unusual, in spite of which the request must be served. The same
        /// request without them is sent first, as `control`.
        despite: OneOrMany<At<String>>,
        /// How the control of a probe must end, or its rules are not exercised: `result`, or `error` for a request about
        /// something unknown.
        control: Control,

        /// Run the step once for each item: `{ resource: $survey.resources.items }`.
        each: Pairs<Tree>,
        /// `each`: no more items than this: some from all over the list, or with `in-order` the first.
        at_most: usize,
        /// `each`: no further item when the replies have this size together, roughly.
        at_most_bytes: usize,
        /// `each`: sequentially instead of concurrently.
        in_order: bool,
        /// `each`: an item that equals an earlier one is skipped.
        distinct: bool,
        /// Skip elements (or the step) unless all of these hold.
        r#where: Pairs<Matcher>,
        /// The name under which the result is saved.
        save: At<String>,
        /// Where the step applies.
        applies: Applies,

        /// In place of a step: the steps of a group, which have all other keys in common. A step adds its own `where`, and
        /// completes `applies`; its other keys count instead of those of the group.
        #[schemars(with = "Option<Vec<Step>>")]
        steps: Vec<Tree>,
    }
}

keys! {
    /// All numbers are required.
    Limits, "`limits`" {
        /// Maximum number of nodes.
        #[schemars(required)]
        nodes: usize,
        /// Maximum depth.
        #[schemars(required)]
        depth: usize,
        /// Maximum number of pages.
        #[schemars(required)]
        pages: usize,
        /// Maximum time in seconds.
        #[schemars(required)]
        seconds: usize,
        /// Whether the user can override them, for example with `--limit walk_nodes=N`.
        settable: bool,
    }
}

keys! {
    /// The deviation from a complete message.
    Deviation, "`deviates`" {
        /// The part that is missing, or a list of them: `clientInfo`, `id`, `Mcp-Method`.
        without: Tree,
        /// Other values, by part. `null` removes a header.
        with: Pairs<Tree>,
    }
}
