//! What a client says and does.

use super::wire::ORIGIN;

views! {
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
        /// Of a response: `request`, `answered request`, `cancelled request`, `nothing`, or `malformed message` for an error without an id after something that is no message.
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
        /// Of a request with `requestState` or `inputResponses`: whether a result to this request required them.
        input_required,
        /// Of `resources/unsubscribe`: whether the client was subscribed to the resource.
        subscribed,
        /// Of a message about a task: what is known of it.
        task: one OF_TASK,
        /// Of a request with a progress token: whether a task that has not ended has the same.
        token_of_task,
        /// Over HTTP: the request that carried it.
        http: one POST_HEAD,
        /// Milliseconds since the last message of the server on the connection.
        shown_after_ms,
    }
    /// `task` of a message of the client: of a request about a task, a subscription to tasks, or a cancellation of a call that became one.
    OF_TASK "what is known of a task" {
        /// Whether the server created it.
        known,
        /// Its status as the server last showed it.
        status,
        /// Of tasks/get: whether it is earlier after the one before than the interval allows. It is missing for the first one, after a notification, and without an interval.
        early,
        /// Of tasks/update: the keys that had a response before.
        repeated: list,
        /// Of tasks/update: the keys that the server did not list in the status that it showed last.
        unwanted: list,
    }
    /// `$tasks[*]`, about clients: one task that the server created for a request of the client.
    TASK "a task of the client" {
        /// Its id.
        id,
        /// The method of the request.
        method,
        /// The params of the request.
        params,
        /// The capabilities that the client declared with the request.
        offered,
        /// Its status as the server last showed it.
        status,
        /// How often the client sent tasks/get.
        gets,
        /// How often it sent tasks/result.
        results,
        /// How often it sent tasks/update.
        updates,
        /// How often it sent tasks/cancel.
        cancels,
        /// How many tasks/get followed after the server showed that it has ended.
        gets_after_end,
        /// How many requests about it followed after tasks/get returned -32602.
        after_error,
        /// If it required input: `followed` if tasks/result, tasks/update with all keys or tasks/cancel was sent within 10 s, otherwise `ignored`.
        input,
        /// `outcome` if the server returned its result or error, `gone` after -32602, `cancelled`, `ended` without an outcome, `waiting` for a response, `watched` by a subscription, `left` if other requests followed and none about it, otherwise `open`.
        end,
        /// The numbers of frames.
        frames: list,
        /// The number of the connection.
        link,
        /// `stdio`, `http` or `sse`.
        transport,
        /// The revision of the connection.
        revision,
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
        /// Whether that session was deleted or got status 404.
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
        /// Whether the client reported the result as an object, with all of its fields, and not only what it lists.
        whole,
        /// Of a failure: `error`, `timeout`, `closed`, `invalid`, `unsupported` or `cancelled`.
        kind,
        /// What the client says about the failure.
        message,
        /// Of a call: whether it became a task.
        task,
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
        /// `exited`, `signal`, `hung` where it had to be killed, or `stopped` when its world was over.
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
        /// How many of its calls became tasks, because it requested that or declared the extension.
        tasks,
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
        /// Its requests, each once, as `method` and `uri`.
        requested: list,
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
        /// Whether it used a session id, and the session was not over at the end.
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
        /// Whether the client sent tools/call to a process before it.
        called,
        /// How long it ran, in milliseconds.
        ms,
        /// The number of the connection.
        link,
        /// The numbers of frames.
        frames: list,
    }
}
