//! What the steps of a suite save.

use super::wire::HTTP;

views! {
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
        rounds: many REPLY,
        /// The params of the last retry.
        retried,
        /// The request in short.
        asked,
        /// What fits as `inputResponses` to the `inputRequests` of the result.
        answers,
        /// Of a probe: how the same request without the deviation ended.
        control: one CONTROL,
        /// Of `send`: the reply to the harmless request after it.
        sentinel: one REPLY,
        /// Of `http`: the events of an event stream.
        events: list,
        /// Of `http` with `login`: what was seen on the way.
        login: one OWN_LOGIN,
        /// Of `http`: what is known of the `code`, `access_token` and `refresh_token` in the response.
        issued: one ISSUED,
    }
    /// `login` of a reply.
    OWN_LOGIN "a login by this program" {
        /// The pages that the user saw.
        pages: many LOGIN_PAGE,
        /// Whether the last response is that to a form.
        posted,
    }
    /// `pages` of a login.
    LOGIN_PAGE "a page of a login" {
        /// The HTTP response.
        http: one HTTP,
    }
    /// `issued` of a reply.
    ISSUED "what was issued" {
        /// The authorization code.
        code: one TOKEN_ISSUED,
        /// The access token.
        access_token: one TOKEN_ISSUED,
        /// The refresh token.
        refresh_token: one TOKEN_ISSUED,
    }
    /// A code or token in `issued`.
    TOKEN_ISSUED "a code or token" {
        /// Its length in characters.
        length,
        /// Claims of a JWT that name no person: `aud`, `exp` and others.
        claims,
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
        pages: many REPLY,
        /// The error of the last page.
        error,
        /// What happened, where `end` does not say it.
        why,
        /// The numbers of the frames of the last page.
        frames: list,
        /// The last request in short.
        asked,
    }
    /// What `overlap` saves.
    OVERLAP "an overlap" {
        /// The requests of both clients, each time.
        exchanges: many OVERLAPPED,
    }
    /// One of two requests with the same id.
    OVERLAPPED "one of two overlapping requests" {
        /// Its method.
        method,
        /// The method of the request of the other client.
        beside,
        /// The numbers of the frames of this client.
        frames: list,
        /// What this client received.
        reply: one REPLY,
        /// What the other client received.
        other: one REPLY,
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
        visits: many VISIT,
    }
    /// `visits` of a walk.
    VISIT "a visit" {
        /// The node, as it was listed.
        node,
        /// The name of the node.
        key,
        /// How deep it is.
        depth,
        /// The keys of the nodes in its list.
        children: list,
        /// The last reply of its list, without the items.
        reply: one NODE_LIST,
    }
    /// `reply` of a visit.
    NODE_LIST "the list of a node" {
        /// As of a list.
        end,
        /// How many pages it has.
        pages,
        /// How many items it has.
        items,
        /// The numbers of the frames of the last page.
        frames: list,
        /// The last request in short.
        asked,
        /// The error of the last page.
        error,
        /// What happened, where `end` does not say it.
        why,
    }
    /// `$server`: what the handshake showed.
    SERVER "the server" {
        /// The reply to the handshake.
        hello: one REPLY,
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
}
