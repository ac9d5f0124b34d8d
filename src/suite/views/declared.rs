//! Every view with its fields.

use super::{Field, Holds, View};

macro_rules! views {
    ($(#[doc = $about:literal] $name:ident $called:literal {
        $(#[doc = $said:literal] $field:ident $(: $kind:ident $($view:ident)?)?,)*
    })*) => {
        $(pub const $name: View = View {
            called: $called,
            about: $about,
            fields: &[$(Field { name: plain(stringify!($field)), about: $said, holds: views!(@ $($kind $($view)?)?) }),*],
        };)*
    };
    (@) => { Holds::Anything };
    (@ list) => { Holds::List };
    (@ one $view:ident) => { Holds::One(&$view) };
    (@ many $view:ident) => { Holds::Many(&$view) };
}

/// A field that is a word of the language is written `r#do`.
const fn plain(field: &str) -> &str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

views! {
    /// `$exchanges[*]`: one request of the client and the response to it.
    EXCHANGE "an exchange" {
        /// The method of the request.
        method,
        /// The id of the request.
        id,
        /// The params of the request; null without any.
        params,
        /// The suite that sent it, or `handshake` or `probe`.
        by,
        /// The number of the connection.
        link,
        /// `stdio`, `http` or `sse`.
        transport,
        /// The revision of the connection.
        revision,
        /// Whether the server has to respond.
        expects_reply,
        /// Whether the request lacks something on purpose.
        deviant,
        /// The numbers of its frames: of the request, then of the response.
        frames: list,
        /// `result`, `error`, `malformed`, `none` or, beyond the limits, `unread`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// The other fields of the response.
        reply,
        /// How many responses were received.
        replies,
        /// The HTTP response.
        http: one HTTP,
        /// How often the server reported progress after it was cancelled.
        worked_on,
        /// How the server exited while it handled the request.
        killed,
        /// Why the response was not read.
        why,
        /// About clients: whether an earlier request had the same method, params and id.
        repeats,
    }
    /// `$messages[*]`: one message of the server.
    MESSAGE "a message of the server" {
        /// The message itself.
        message,
        /// `request`, `notification`, `result`, `error` or `other`.
        kind,
        /// Where it was received.
        origin: one ORIGIN,
        /// How far the handshake was: `closed`, `opening` or `open`.
        phase,
        /// The capabilities that the client declared in the handshake.
        declared,
        /// Of a request: whether the server used the id before in this session.
        id_repeated,
        /// Of a notification: whether the server announced its `elicitationId` before.
        elicited,
        /// Of a response: `request`, `unreadable input`, `refused HTTP request` or `nothing`.
        answers,
        /// Of a notification: `subscription` or `request`.
        on,
        /// On a subscription: whose id it carries, of a `subscription`, of `another subscription` or of `nothing`.
        tag,
        /// On a subscription: whether it was acknowledged before.
        acknowledged,
        /// On a subscription: whether it was cancelled before.
        after_cancel,
        /// On a subscription: whether it was requested. Of a log message: whether its level was.
        wanted,
        /// Of progress: `running request`, `completed request`, `failed request`, `cancelled request` or `nothing`.
        reports_on,
        /// Of progress: whether `progress` is greater than before.
        grows,
        /// Of progress: how many of the same token were received in the last second.
        in_last_second,
        /// Of a log message: `running request`, `answered request` or `nothing that asked for logs`.
        logs,
        /// Of a log message: whether a level was set for the session.
        level_set,
        /// Of a cancellation: `own request`, `subscription`, `request` or `nothing`.
        cancels,
        /// Of an update, until 2025-11-25: whether the client subscribed to the resource.
        subscribed,
        /// Of such an update: whether the subscription has ended for certain.
        unsubscribed,
        /// Of a request with a progress token: whether another open request has the same.
        token_in_use,
    }
    /// `$streams[*]`: one event stream of Streamable HTTP.
    STREAM "a stream" {
        /// The number of the connection.
        link,
        /// The HTTP method of the request that opened it.
        verb,
        /// The method of the JSON-RPC request that opened it.
        method,
        /// The suite that sent it, or `handshake` or `probe`.
        by,
        /// The revision that the request names in its header.
        version,
        /// Whether it was opened by a JSON-RPC request.
        asks,
        /// Whether the client cancelled that request.
        cancelled,
        /// The HTTP response.
        http: one HTTP,
        /// Its events, at most 1,000.
        events: many EVENT,
        /// Whether the response to the request was on it.
        answered,
        /// `complete`, `broken`, `dropped` or `open`.
        end,
        /// Whether it had an event with an id, in a revision with polling.
        resumable,
        /// Whether the session was over when it ended.
        session_over,
        /// The id after which it resumes another stream.
        resumes,
        /// How long it stayed open after the response, in milliseconds.
        lingered_ms,
        /// The numbers of its first and last frame.
        frames: list,
    }
    /// `events` of a stream.
    EVENT "an event" {
        /// What it carries: `message`, `junk`, `unread` or `none`.
        data,
        /// The number of its frame.
        frame,
        /// The id of the event.
        id,
        /// Whether the session had the id before.
        id_repeated,
        /// Its `retry`, in milliseconds.
        retry,
        /// `request`, `notification`, `result`, `error` or `batch`.
        kind,
        /// The method of the message.
        method,
        /// What the message belongs to: `this` request, `another`, one that was `dropped`, or `changes`.
        about,
    }
    /// `$asked[*]`: something that the server requested from the client.
    ASKED "a request to the client" {
        /// `request`, or `input` inside a result.
        via,
        /// The method.
        method,
        /// The params.
        params,
        /// The id of the request.
        id,
        /// The key in `inputRequests`.
        key,
        /// The capabilities that the client declared.
        declared,
        /// The capabilities that it needs and the client did not declare.
        undeclared: list,
        /// The methods of the client's requests that were open.
        during: list,
        /// Whether it was received on a stream opened by GET.
        on_get,
        /// Where it was received.
        origin: one ORIGIN,
    }
    /// `$calls[*]`: one call that `mcp-conform generate` made, and its outcome.
    GENERATED "a generated call" {
        /// What was called: `tool`, `prompt`, `template`, `completion` or `list`.
        what,
        /// The tool, prompt, template or list by its name.
        name,
        /// It, as the server lists it.
        listed,
        /// The method of the request.
        method,
        /// The params of the request.
        params,
        /// The generated values.
        arguments,
        /// `valid`, `invalid` (they violate exactly one keyword of the schema) or `hostile` (valid, and odd).
        kind,
        /// The keyword of the schema that the arguments violate, or whose bound they are at.
        keyword,
        /// Where in the arguments, as a JSON Pointer.
        at,
        /// What is wrong or odd, as part of a sentence.
        odd,
        /// `result`, `error`, `timeout`, `closed`, `malformed` or, beyond the limits, `unread`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// Whether it is an error, or a result with `isError`.
        failed,
        /// Of a failure: all that it says, in one text.
        said,
        /// How long it took, in milliseconds.
        ms,
        /// The numbers of its frames.
        frames: list,
        /// What happened, where `end` does not say it.
        why,
        /// How the process exited while it handled the call, or right after it.
        killed,
        /// Whether the server responded to a harmless request after it.
        responds,
        /// Without a response: whether other calls of the same thing are responded to.
        usual,
        /// Without a response: whether there is one with smaller numbers.
        by_number,
        /// Of a value at a bound that is rejected: the same call with a value inside the bound, the first one that is rejected too.
        inside: one INSIDE,
        /// Of a slow call: whether half of the text takes an eighth of the time, or less.
        explodes,
        /// Of a tool with `readOnlyHint`: what differs in the lists and resources after it, twice in a row.
        changed: list,
        /// Of a tool with `idempotentHint`: what differs in them after it was called again.
        changed_again: list,
        /// Whether another session showed what was sent in this one.
        seen_elsewhere,
        /// Of a template: whether what is read shows a value decoded twice, or with its bytes as characters.
        misread,
        /// Whether the result has `undefined`, `NaN` or `[object Object]`, and has none if all arguments are given.
        unfilled,
        /// Of a failure: whether it has the directory of the server's program.
        discloses,
        /// Of calls that were made at the same time: whether the response to one had the result of another, twice in a row.
        mixed_up,
        /// Of calls that were made at the same time: whether one of them had no response, twice in a row.
        ignored,
    }
    /// `inside` of a generated call.
    INSIDE "a call next to the bound" {
        /// How it ended.
        end,
        /// Whether it is an error, or a result with `isError`.
        failed,
        /// The value next to the bound.
        value,
    }
    /// `$growth[*]`: how the process of the server grew with the number of calls.
    GROWTH "the growth of a process" {
        /// `memory` in bytes, or open `files`.
        of,
        /// The first and the last value after the start.
        first,
        /// The last one.
        last,
        /// How many calls were made in between.
        calls,
        /// The values in between.
        curve: list,
        /// Whether it grew all the time.
        grows,
        /// What is measured, for a report.
        name,
    }
    /// `$sequences[*]`: calls that belong together, with what one of them returned as the argument of another.
    SEQUENCE "a sequence of calls" {
        /// `deleted`, `created`, `created together`, `updated`.
        kind,
        /// The tools that were called, in order.
        name,
        /// Whether what should hold was found.
        holds,
        /// What was received.
        received,
        /// The calls, each with `name`, `arguments` and how it ended.
        calls: list,
        /// The numbers of their frames.
        frames: list,
    }
    /// `$transcript[*]`: one frame. Over HTTP those of a response have the `request` and the head of the `response`.
    FRAME "a frame" {
        /// Its number in the run.
        frame,
        /// Microseconds since the start of the run.
        at,
        /// The number of the connection.
        link,
        /// `client` or `server`.
        from,
        /// `message`, `junk`, `unread`, `http-request`, `http-response`, `document`, `visit`, `cut-short` or `note`.
        kind,
        /// Of the client: the suite that caused it, or `handshake`, `probe` or `answer`.
        by,
        /// Its length in bytes.
        bytes,
        /// The message or document.
        message,
        /// The beginning of what is not JSON.
        text,
        /// What is wrong with it.
        why,
        /// What `why` says, as one word: `not-json`, `trailing-data`, `empty-line` and others.
        cause,
        /// `crlf`, `bom`, `invalid-utf8`, `duplicate-key`, `unterminated` or `blank-lines`.
        flaws: list,
        /// The head of the HTTP request or response.
        http,
        /// The number of the HTTP exchange.
        post,
        /// The `id`, `name` and `retry` of the event.
        event: one EVENT_HEAD,
        /// Of a note: how something ended.
        ended,
        /// `stdio`, `http` or `sse`.
        transport,
        /// Whether the connection was opened for one request.
        brief,
        /// Its number in the event stream.
        nth,
        /// The HTTP request: its `method`, the suite as `by`, and what it `carries`.
        request: one REQUEST_HEAD,
        /// The HTTP response: its `status` and `media` type.
        response: one RESPONSE_HEAD,
    }
    /// `event` of a frame.
    EVENT_HEAD "the head of an event" {
        /// The id.
        id,
        /// The name.
        name,
        /// The time in milliseconds.
        retry,
    }
    /// `request` of a frame.
    REQUEST_HEAD "the head of an HTTP request" {
        /// The HTTP method.
        method,
        /// The suite that sent it, or `handshake` or `probe`.
        by,
        /// `request`, `notification`, `response`, `batch`, `other` or `nothing`.
        carries,
    }
    /// `response` of a frame.
    RESPONSE_HEAD "the head of an HTTP response" {
        /// The status code.
        status,
        /// The media type.
        media,
    }
    /// `origin` of a message.
    ORIGIN "an origin" {
        /// The number of the frame.
        frame,
        /// Where in the frame.
        pointer,
        /// The frame of the notification to which it responds.
        to,
    }
    /// `http` of an exchange, a stream or a reply.
    HTTP "an HTTP response" {
        /// The status code.
        status,
        /// The headers by their names in lower case.
        headers,
        /// Of a reply: each WWW-Authenticate, with `scheme`, `scopes` and its parameters.
        challenges: list,
    }
    /// What `call`, `send`, `http` and `notify` save.
    REPLY "a reply" {
        /// `result`, `error`, `timeout`, `closed`, `malformed`, `open`, or beyond the limits `unread`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// The HTTP response.
        http: one HTTP,
        /// Of HTTP+SSE: where the stream takes messages.
        endpoint,
        /// A JSON document that is not a message.
        body,
        /// The notifications that belong to the request.
        notifications: list,
        /// How long it took, in milliseconds.
        ms,
        /// The numbers of its frames.
        frames: list,
        /// What happened, where `end` does not say it.
        why,
        /// What the server requested meanwhile, each with its `method` and `params`.
        wanted: list,
        /// The replies before this one that required input.
        rounds: list,
        /// The params of the last retry.
        retried,
        /// The request in short.
        asked,
        /// What fits as `inputResponses` to the `inputRequests` of the result.
        answers,
        /// Of a probe: how the same request without the deviation ended.
        control: one CONTROL,
        /// Of `send`: the reply to the harmless request after it.
        sentinel,
        /// Of `http`: the events of an event stream.
        events: list,
    }
    /// `control` of a reply.
    CONTROL "the control of a probe" {
        /// Whether it ended as it has to.
        holds,
        /// How it ended.
        end,
        /// The error.
        error,
        /// The HTTP status.
        status,
        /// The numbers of its frames.
        frames: list,
    }
    /// What `list` saves.
    LIST "a list" {
        /// `complete`, `page-limit`, `cursor-repeats`, or as of a reply.
        end,
        /// The items of all pages.
        items: list,
        /// Where each item was received.
        origins: list,
        /// The reply of each page, with its `cursor`.
        pages: list,
        /// The error of the last page.
        error,
        /// What happened, where `end` does not say it.
        why,
        /// The numbers of the frames of the last page.
        frames: list,
        /// The last request in short.
        asked,
    }
    /// What `walk` saves.
    WALK "a walk" {
        /// `complete`, or the limit that was reached.
        end,
        /// The limits.
        limits: one WALK_LIMITS,
        /// How many nodes there are.
        nodes,
        /// How many edges there are.
        edges,
        /// Edges that were listed more than once.
        repeats,
        /// Cycles.
        cycles,
        /// The depth that was reached.
        depth,
        /// How many pages were read.
        pages,
        /// How many nodes were listed; `every` and `observe` go over all of them.
        visited,
        /// The first 2,000 of them, each with its `key`, `depth`, `children` and `reply`.
        visits,
    }
    /// `limits` of a walk.
    WALK_LIMITS "limits" {
        /// How many nodes.
        nodes,
        /// How deep.
        depth,
        /// How many pages.
        pages,
        /// Maximum time in seconds.
        seconds,
    }
    /// What `await` saves.
    AWAIT "a wait" {
        /// `message` or `timeout`.
        end,
        /// The notification.
        message,
        /// How long it took, in milliseconds.
        ms,
        /// The number of its frame.
        frames: list,
    }
    /// What `change` saves.
    CHANGE "a change" {
        /// `done` or `failed`.
        end,
        /// Why it failed.
        why,
        /// The reply of the tool.
        reply: one REPLY,
        /// How long it took, in milliseconds.
        ms,
        /// The numbers of its frames.
        frames: list,
    }
    /// `$survey`: what `survey.yaml` saved.
    SURVEY "the survey" {
        /// The list of resources.
        resources: one LIST,
        /// The list of resource templates.
        templates: one LIST,
        /// The list of tools.
        tools: one LIST,
        /// The list of prompts.
        prompts: one LIST,
        /// Reads of some listed resources.
        reads: many READ,
    }
    /// `reads` of the survey.
    READ "a read" {
        /// The resource, as it was listed.
        resource,
        /// The reply to `resources/read`.
        reply: one REPLY,
    }
    /// `$sent[*]`, about clients: one message of the client; the elements of a batch count singly.
    SENT "a message of the client" {
        /// The message itself.
        message,
        /// `request`, `notification`, `result`, `error` or `other`.
        kind,
        /// Where it was sent.
        origin: one ORIGIN,
        /// The number of the connection.
        link,
        /// `stdio`, `http` or `sse`.
        transport,
        /// The revision of the connection.
        revision,
        /// How far the handshake was: `closed`, `opening` or `open`.
        phase,
        /// Whether its `_meta` names a revision since 2026-07-28.
        modern,
        /// Whether it was an element of a batch.
        batch,
        /// Of a request: whether the client used the id before in this session.
        id_repeated,
        /// Of a request: whether another open request has the same id.
        id_open,
        /// Of a request: how often it was sent on the connection, ids and `_meta` aside.
        times,
        /// Of a request with a progress token: whether another open request has the same.
        token_repeated,
        /// Of a response: `request`, `answered request`, `cancelled request` or `nothing`.
        replies_to,
        /// Of a cancellation: `open request`, `initialize`, `subscription`, `ending request` (up to 2 s after its end), `ended request` or `nothing`.
        cancels,
        /// Of progress: `open request`, `ended request` or `nothing`.
        reports_on,
        /// Of progress: whether `progress` is greater than before.
        grows,
        /// The capabilities that the server declared before.
        declared,
        /// The capabilities that the client declared for it.
        offered,
        /// Whether the server's response to `initialize` was sent before.
        answered_initialize,
        /// Of a list request: `first` without a cursor, `next` page, an `earlier` cursor, one after the list had `ended`, one of a `foreign` list, or an `unknown` one.
        list,
        /// Of `resources/unsubscribe`: whether the client was subscribed to the resource.
        subscribed,
        /// Over HTTP: the request that carried it.
        http: one POST_HEAD,
        /// Milliseconds since the last message of the server on the connection.
        shown_after_ms,
    }
    /// `http` of a message of the client.
    POST_HEAD "an HTTP request head" {
        /// The HTTP method.
        method,
        /// The path.
        path,
        /// The headers by their names in lower case.
        headers,
    }
    /// `$handled[*]`, about clients, until 2025-11-25: one request of the server and the response of the client.
    HANDLED "a request that the client handled" {
        /// The method of the request.
        method,
        /// The params of the request.
        params,
        /// The id of the request.
        id,
        /// `result`, `error` or `none`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// The other fields of the response.
        reply,
        /// How many responses were sent.
        replies,
        /// Milliseconds until the response.
        ms,
        /// The methods of the client's requests that were open.
        open: list,
        /// Whether the response was sent while one of them was still open.
        responded_while_open,
        /// The capabilities that the client declared.
        offered,
        /// Whether the server cancelled it.
        cancelled,
        /// Without a response: how long the connection stayed open after it, in milliseconds.
        waited_ms,
        /// The numbers of its frames.
        frames: list,
        /// The revision of the connection.
        revision,
        /// `stdio`, `http` or `sse`.
        transport,
        /// The number of the connection.
        link,
    }
    /// `$served[*]`, about clients: what the server requested, as `$handled` and as `$inputs`, and what the client returned.
    SERVED "something that the server requested" {
        /// The method.
        method,
        /// The params.
        params,
        /// The id of the request, or the key in `inputRequests`.
        id,
        /// `result`, `error` or `none`.
        end,
        /// The result.
        result,
        /// The error.
        error,
        /// The capabilities that the client declared.
        offered,
        /// Whether it was inside of a result.
        input,
        /// The numbers of the frames.
        frames: list,
        /// The number of the connection.
        link,
    }
    /// `$inputs[*]`, about clients, since 2026-07-28: one input that a result requires, and what the retry has for it.
    INPUT "a required input" {
        /// The key in `inputRequests`.
        key,
        /// The method.
        method,
        /// The params.
        params,
        /// What the retry has under the key in `inputResponses`.
        response,
        /// Whether the client sent the request again.
        retried,
        /// The params of the retry.
        retry,
        /// The params of the first request.
        first,
        /// The `requestState` of the result.
        state,
        /// Whether the retry has another id.
        retry_id_new,
        /// The capabilities that the client declared with the first request.
        offered,
        /// The numbers of the frames.
        frames: list,
        /// The number of the connection.
        link,
    }
    /// `$posts[*]`, about clients: one HTTP request of the client.
    POST "an HTTP request of the client" {
        /// The HTTP method.
        method,
        /// The path.
        path,
        /// The query.
        query,
        /// The headers by their names in lower case.
        headers,
        /// `request`, `notification`, `response`, `batch`, `other` or `nothing`.
        carries,
        /// The message in its body.
        message,
        /// The method of that message.
        rpc,
        /// The status of the response.
        status,
        /// The media type of the response.
        media,
        /// How far the handshake was: `closed`, `opening` or `open`.
        phase,
        /// The session id that the server gave before.
        session,
        /// Whether that session was deleted or answered by 404.
        session_over,
        /// The revision that was negotiated before.
        negotiated,
        /// Its Last-Event-ID.
        resumes,
        /// Whether the server gave that event id.
        known_event,
        /// Milliseconds since the last event stream ended.
        since_stream_ms,
        /// The last `retry` that the server gave, in milliseconds.
        retry_ms,
        /// With Last-Event-ID: the last id on the stream that the id belongs to.
        last_event,
        /// How many requests with this HTTP method and this method of the message there were in the last 10 s.
        recent,
        /// How many open requests with the same method and params there were before it.
        repeats,
        /// Over HTTP+SSE: the `path` and `query` that the server gave for messages.
        endpoint,
        /// What the header Mcp-Name says.
        mirrors,
        /// What each header Mcp-Param-* says, by the rest of its name in lower case.
        mirrored,
        /// Where it was sent.
        origin: one ORIGIN,
        /// The numbers of its frames.
        frames: list,
        /// The number of the connection.
        link,
        /// The revision of the connection.
        revision,
    }
    /// `$passed[*]`, about gateways: one message that a client or the upstream sent, and what the other end received for it.
    PASSED "a message that passes a gateway" {
        /// `request`, `notification`, `result` or `error`.
        kind,
        /// The method; of a response that of its request.
        method,
        /// The `uri` and the `name` of the request.
        params,
        /// `client` or `server`: who sent it.
        from,
        /// The message as it was sent.
        message,
        /// The message as it was received; null if it was not.
        received,
        /// What was received: `request`, `notification`, `result`, `error` or `nothing`.
        received_kind,
        /// How often it was received, by the same party.
        times,
        /// How many received it that it was not for.
        others,
        /// The length of the message.
        bytes,
        /// Whether both sides are in the same revision.
        same_revision,
        /// The number of the connection of the client.
        link,
        /// Whether the gateway has a stream on which it can send the message to the client.
        channel,
        /// The numbers of its frames: as it was sent, then as it was received.
        frames: list,
        /// Where it was received.
        origin: one ORIGIN,
        /// What differs, besides ids, tokens, cursors and the handshake that a gateway may have of its own.
        differences: many DIFFERENCE,
        /// Of a request: what was returned for it: `result`, `error` or `nothing`.
        response,
        /// Of a request: how many responses were received for it.
        responses,
        /// Of `resources/read`: whether the error for a resource that does not exist was received.
        not_found,
        /// Of a request: whether it had a progress token and was received without.
        token_lost,
        /// Of a request: whether its id was used before on the connection where it was received.
        id_repeated,
        /// Of a notification: whether there is somebody that it is for, as far as the capabilities say.
        wanted,
        /// Of a notification: milliseconds until it was received.
        delay_ms,
        /// Of a notification during a call: whether it was sent at least 1.5 s before the response.
        early,
        /// Of such a notification: whether it was received only when the response had been sent.
        held,
        /// Of a notification during a call: whether it was received after the response on the same stream.
        overtaken,
        /// Of progress: whether earlier progress of the same request was received after it on the same stream.
        disordered,
    }
    /// One of the `differences` of `$passed[*]`.
    DIFFERENCE "a difference" {
        /// `lost`, `changed`, `added`, or `rounded` of an integer beyond 2^53.
        what,
        /// The field of `params`, `result` or `error`; `inner _meta` of a `_meta` further inside.
        part,
        /// The path of the field.
        path,
        /// The same as a JSON Pointer.
        pointer,
        /// The value that was sent.
        sent,
        /// The value that was received.
        received,
    }
    /// `$upstream[*]`, about gateways: one HTTP request of the gateway to its upstream.
    UPSTREAM "an HTTP request to the upstream" {
        /// Its head.
        http: one POST_HEAD,
        /// Headers with a credential of the client in front.
        leaks: list,
        /// The method of the message in it.
        carries,
        /// The session that the response to `initialize` began, if it did.
        session,
        /// Whether the gateway ended this session later.
        session_ended,
        /// Whether it is a request of the client that an HTTP proxy passed on: its session is that of the client.
        forwarded,
        /// Where it was sent.
        origin: one ORIGIN,
    }
    /// `$lists[*]`, about clients: the pages that the client requested of one list, from a request without a cursor.
    PAGES "a walk through pages" {
        /// The method.
        method,
        /// Of a scoped list: its URI.
        uri,
        /// How many pages the server sent.
        pages,
        /// How many requests the client sent.
        requests,
        /// The cursors that the client sent.
        cursors: list,
        /// `complete`, `stopped` before a further page, `error` or `open`.
        end,
        /// Requests with a cursor that was sent before.
        repeated,
        /// Whether a page had an empty cursor.
        empty_cursor,
        /// Whether the client sent an empty cursor.
        followed_empty,
        /// How many items there were.
        items,
        /// The numbers of the frames.
        frames: list,
        /// The number of the connection.
        link,
    }
    /// `$actions[*]`, about clients: one action of the drive. Only clients that follow actions report them.
    ACTION "an action" {
        /// Its number.
        nr,
        /// What it does.
        r#do,
        /// The whole action.
        action,
        /// `ok`, `failed`, or `none` where nothing was reported.
        end,
        /// What the client reported as the result.
        result,
        /// Of a failure: `error`, `timeout`, `closed`, `invalid`, `unsupported` or `cancelled`.
        kind,
        /// What the client says about the failure.
        message,
        /// The numbers of frames.
        frames: list,
    }
    /// `$runs[*]`, about clients: one start of the client.
    START "a start of the client" {
        /// What it met.
        world,
        /// Whether the client takes instructions.
        follows,
        /// Whether the client takes no instructions and was given the name of an official scenario, which may expect another world.
        carried,
        /// Whether it sent anything, be it a message or not.
        connected,
        /// `exited`, `signal`, or `hung` where it had to be killed.
        end,
        /// The exit code.
        code,
        /// The signal that ended it.
        signal,
        /// How many messages it sent.
        sent,
        /// How many of them were requests.
        requests,
        /// How often it sent the request that it sent most often, ids and `_meta` aside.
        storm,
        /// The method of that request.
        storm_of,
        /// How often it sent server/discover.
        probes,
        /// How often it sent ping.
        pings,
        /// Whether it declared `roots.listChanged`.
        declares_root_changes,
        /// How often it said that its roots changed.
        root_changes,
        /// Whether the last list of roots differs from the first.
        roots_differ,
        /// The params of the requests that it cancelled by a notification.
        cancelled: list,
        /// The methods of the notifications that the server sent.
        notified: list,
        /// How many handshakes led to a published revision.
        sessions,
        /// How often it sent notifications/initialized.
        initialized,
        /// How many of its requests were open at the end.
        open,
        /// The last 4 kB of its stderr.
        stderr,
        /// Whether stderr shows an unhandled exception or a panic.
        trace,
        /// Whether the server assigned a session id, and the session was not over at the end.
        session,
        /// Whether it sent DELETE for a session.
        deleted,
        /// How long it ran, in milliseconds.
        ms,
        /// The numbers of frames.
        frames: list,
    }
    /// `$spawns[*]`, about clients: one process that the client started as its server.
    SPAWN "a process that the client started" {
        /// Its number, from 0.
        nr,
        /// The method of the first message that it received.
        first,
        /// Whether stdin ended in the middle of a line.
        cut,
        /// Its arguments.
        arguments: list,
        /// Whether its stdin was closed.
        stdin_closed,
        /// The signals that it received.
        signals: list,
        /// Milliseconds from the end of stdin to the first signal.
        ms_to_signal,
        /// `stdin`, `signal`, `kill` or `server`.
        ended_by,
        /// Whether the client sent subscriptions/listen to it.
        listens,
        /// Whether the client sent subscriptions/listen to a process before it.
        listened,
        /// How long it ran, in milliseconds.
        ms,
        /// The number of the connection.
        link,
        /// The numbers of frames.
        frames: list,
    }
}
