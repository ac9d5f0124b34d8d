//! What a client does in a world with authorization.

views! {
    /// `$requests[*]`, about clients: one HTTP request at any origin of a world with authorization.
    OAUTH_REQUEST "a request in a world with authorization" {
        /// The origin: `mcp`, the MCP server; `as1` and `as2`, authorization servers; `decoy`, one that nothing valid names; `canary`, which nothing names.
        to,
        /// `mcp`, `resource metadata`, `server metadata`, `registration`, `authorization`, `token`, or `nothing` for what does not exist.
        about,
        /// `client`, or `user` for the browser that the client opened.
        by,
        /// The HTTP method.
        method,
        /// The path.
        path,
        /// The query.
        query,
        /// The parameters in the query of a GET, or in the body of a form, by name.
        params,
        /// The names of parameters that occur more than once.
        repeated: list,
        /// The headers by their names in lower case.
        headers,
        /// Whether the body is a form.
        form,
        /// The body, if it is JSON.
        body,
        /// The method of the message in it.
        rpc,
        /// The status of the response.
        status,
        /// The response, if it is JSON.
        response,
        /// The scheme of Authorization, as it was sent.
        scheme,
        /// `none`, `issued` for an access token that was issued in this world, or `other`.
        credential,
        /// How many Authorization headers it has.
        authorizations,
        /// Whether it has a token that the MCP server accepted.
        accepted,
        /// Whether the MCP server accepted a token more than a second before.
        after_login,
        /// How often the MCP server rejected the token before, with status 401.
        rejections,
        /// The tokens, codes and secrets in it: `kind`, `place` (`query`, `path`, `authorization`, `header` for any other, `body`) and `issuer`.
        secrets: list,
        /// How often it was sent so far, with the same credential.
        times,
        /// Milliseconds since the start of the client.
        ms,
        /// The numbers of frames.
        frames: list,
        /// The number of the connection.
        link,
        /// What the client met.
        world,
    }
    /// `$logins[*]`, about clients: each time the client sent its user to an authorization endpoint. Requests with the same `state` and `code_challenge` are one.
    LOGIN "a login" {
        /// Its number, from 0.
        nr,
        /// The origin.
        to,
        /// The path of the metadata that names the endpoint; null if the client did not read any.
        document,
        /// That metadata.
        metadata,
        /// How many requests it consists of.
        requests,
        /// The parameters of the request, by name.
        params,
        /// The names of parameters that occur more than once.
        repeated: list,
        /// The query.
        query,
        /// Where `client_id` is from: `registration`, `document` if it is a URL, `nothing`, or `elsewhere`.
        id_from,
        /// The body of the registration request.
        registration,
        /// The response to it.
        registered,
        /// The URL of the MCP server.
        endpoint,
        /// `resource` of the metadata that the client read.
        published,
        /// What `resource` is: `published` or `like published` (but for case, or a final slash), the `endpoint`, its `origin`, or `other`.
        resource,
        /// What `redirect_uri` is: `loopback`, `https`, `private` for a scheme of the client's own, or `other`.
        redirect,
        /// Whether it was registered. The port of a loopback IP address may differ.
        redirect_registered,
        /// The scopes that are requested.
        scopes: list,
        /// `scopes_supported` of the resource metadata.
        listed_scopes: list,
        /// The scopes in the last challenge.
        challenged_scopes: list,
        /// The scopes that were requested in earlier logins.
        earlier_scopes: list,
        /// Whether no earlier login has the same `code_challenge`.
        new_challenge,
        /// The parameters of the authorization response.
        response,
        /// How the response reached the client: `opened` or `printed`, and visited by the user; or `fetched` by the client.
        how,
        /// Whether the authorization response reached the client.
        delivered,
        /// How the visit ended.
        end,
        /// How many token requests have its code.
        exchanges,
        /// The first of them.
        token: one TOKEN_REQUEST,
        /// Whether the token was sent to the MCP server.
        used,
        /// Milliseconds since the start of the client.
        ms,
        /// The numbers of frames.
        frames: list,
        /// The number of the connection.
        link,
        /// What the client met.
        world,
    }
    /// `$tokens[*]`, about clients: one token request.
    TOKEN_REQUEST "a token request" {
        /// The origin.
        to,
        /// `grant_type`.
        grant,
        /// The HTTP method.
        method,
        /// The query.
        query,
        /// Whether the body is a form.
        form,
        /// The parameters in the body, by name.
        params,
        /// The names of parameters that occur more than once.
        repeated: list,
        /// The headers by their names in lower case.
        headers,
        /// The client, by parameter or Basic.
        client_id,
        /// How the client authenticates: `client_secret_basic`, `client_secret_post`, `private_key_jwt`; empty without authentication.
        auth: list,
        /// The same of the first token request with a code.
        usual_auth: list,
        /// The response to the registration of this client.
        registered,
        /// `token_endpoint_auth_method` in it.
        assigned,
        /// How the secret is written with Basic: `encoded`, `raw`, or `other`.
        secret_encoding,
        /// The parameters of the authorization request that the code is from.
        login,
        /// Whether `code_verifier` fits the `code_challenge`; null without either.
        proves,
        /// How many earlier requests have the same code.
        same_code,
        /// How many earlier requests have the same refresh token.
        same_refresh,
        /// How many of them got `invalid_grant`.
        rejected_before,
        /// The newest refresh token of the authorization server, with the response to this request.
        newest_refresh,
        /// Of a refresh: whether it has the newest refresh token.
        refreshes_newest,
        /// The status of the response.
        status,
        /// The error in the response.
        error,
        /// The response.
        response,
        /// Milliseconds since the start of the client.
        ms,
        /// The numbers of frames.
        frames: list,
        /// The number of the connection.
        link,
        /// What the client met.
        world,
    }
    /// `$opened[*]`, about clients: one URL that the client opened in a browser, or printed.
    OPENED "an opened URL" {
        /// The URL.
        url,
        /// Its scheme in lower case.
        scheme,
        /// `opened` or `printed`.
        how,
        /// Whether the last redirect led back to the client.
        delivered,
        /// How the visit ended.
        end,
        /// The numbers of frames.
        frames: list,
    }
}
