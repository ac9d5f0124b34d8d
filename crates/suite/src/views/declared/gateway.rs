//! What passes a gateway.

use super::client::POST_HEAD;
use super::wire::ORIGIN;

views! {
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
        /// Of a request: the response as it was received.
        reply,
        /// Of a client's request: whether the upstream failed over it: by an error status, no HTTP response or its exit.
        failed,
        /// Of such a request: whether a result without `isError` was received for it.
        invented,
        /// Of a client's request: whether the process of the upstream had exited before.
        exited,
        /// Of a client's request: whether the gateway responded that what it names does not exist, or that its session is over.
        not_found,
        /// Of a request: whether it has no response. If a client sent it, the upstream did not get it or failed over it.
        unanswered,
        /// Of a client's request: whether the upstream received it only after its response to an earlier request.
        waited,
        /// Of a client's request whose stream the client closed, since 2026-07-28: whether the upstream still responded 2 s later.
        kept,
        /// Of a client's request for a list that changed: whether it got the old list, which the gateway requested only once.
        outdated,
        /// Of a request: whether it had a progress token and was received without.
        token_lost,
        /// Of a request: whether its id was used before on the connection where it was received.
        id_repeated,
        /// Of a client's request: whether another client's open request had the same id and has another result.
        id_in_use,
        /// Of such a request: the other client's request, if this client received the result of it.
        other_result: one OTHER_RESULT,
        /// Of a request for the last page of skills: the URIs that the upstream listed and no page of the gateway had.
        missing: list,
        /// Of a client's request: whether an entry of a skill in front had its `uri`.
        listed,
        /// Of `resources/read`: what the entry of a skill in front says of the file.
        file,
        /// Of a notification or of a request of the upstream: whether a party declared the capability to receive it.
        wanted,
        /// Of a request: whether its sender cancelled it.
        cancelled,
        /// Of a request of the upstream: whether the client that received it had declared the capability for it.
        declared,
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
        /// Of progress: whether the client's request had a progress token.
        requested,
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
    /// `other_result` of `$passed[*]`.
    OTHER_RESULT "the result of another client's request" {
        /// The other client's request.
        request,
        /// The result, as this client received it.
        result,
        /// The number of the connection of the other client.
        link,
        /// The numbers of its frames: both requests, the response of the upstream, and what this client received.
        frames: list,
    }
    /// `$upstream[*]`, about gateways: one HTTP request of the gateway to its upstream.
    UPSTREAM "an HTTP request to the upstream" {
        /// Its head.
        http: one POST_HEAD,
        /// Headers with a credential of the client in front.
        leaks: list,
        /// The method of the message in it, or `response`; null without a message.
        carries,
        /// The session that the response to `initialize` began, if it did.
        session,
        /// Whether the gateway ended this session later.
        session_ended,
        /// Whether the header with the session is missing, although each handshake began a session.
        session_missing,
        /// The revision of its session; null if it has none.
        version,
        /// Whether it has a message and a session, and got status 404, and the gateway did not exit.
        rejected_session,
        /// Of a request that resumes a stream: the last `retry` of the upstream; null if it sent none.
        retry_ms,
        /// Of such a request: milliseconds since the stream ended.
        since_stream_ms,
        /// Of such a request: whether `Last-Event-ID` is the last id that the upstream sent on the stream.
        last_event,
        /// Of `initialize` that began a session with other requests: whether `notifications/initialized` followed.
        initialized,
        /// Of `initialize` after the upstream rejected a session: capabilities that the gateway declared only in that one.
        lost_capabilities: list,
        /// Of such a handshake: whether the upstream agreed to another revision than in the session that ended.
        other_revision,
        /// Whether the gateway sent `initialize` later.
        restarted,
        /// The number of the connection.
        link,
        /// The suite whose scenario it belongs to.
        scenario,
        /// Whether it is a request of the client that an HTTP proxy passed on: its session is that of the client.
        forwarded,
        /// Where it was sent.
        origin: one ORIGIN,
    }
}
