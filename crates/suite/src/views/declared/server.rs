//! What a server says, message by message.

use super::wire::{HTTP, ORIGIN};

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
        /// About clients: whether an earlier request on the connection got a result.
        served_before,
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
        /// The number of the frame with which the session first had the id, if it had it before.
        repeats,
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
}
