//! `$logins`: each time the client sends its user to an authorization endpoint.

use serde_json::{Value, json};

use super::{
    requests::{Context, Request, first, object},
    tokens::redirected,
};

/// Requests with the same `state` and `code_challenge` are one: some clients send one themselves before they open the
/// same URL, to find out whether their id is known.
pub fn of(context: &Context, requests: &[Request], tokens: &[Value]) -> Vec<Value> {
    let mut groups: Vec<Vec<(usize, &Request)>> = Vec::new();
    for (at, request) in requests.iter().enumerate().filter(|(_, request)| request.passed.about == "authorization") {
        let key = |request: &Request| {
            let of = |name: &str| first(&request.params, name).map(str::to_owned);
            (request.passed.to, of("state"), of("code_challenge"))
        };
        match groups.iter_mut().find(|group| key(group[0].1) == key(request)) {
            Some(group) => group.push((at, request)),
            None => groups.push(vec![(at, request)]),
        }
    }
    let mut seen: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for (nr, group) in groups.iter().enumerate() {
        let (at, request) = group[0];
        let before = &requests[..at];
        let given = |name: &str| first(&request.params, name);
        let about = |about: &str| before.iter().filter(move |other| other.passed.about == about).collect::<Vec<_>>();
        let id = given("client_id").unwrap_or_default();
        let registrations = about("registration");
        let registration =
            registrations.iter().rev().find(|other| !id.is_empty() && other.passed.response["client_id"] == id);
        let id_from = match registration {
            Some(_) => "registration",
            None if id.starts_with("https://") || id.starts_with("http://") => "document",
            None if id.is_empty() => "nothing",
            None => "elsewhere",
        };
        let served = |about: &str| {
            let found = before.iter().filter(|other| other.passed.about == about && other.passed.status == 200);
            found.map(|other| other.passed).collect::<Vec<_>>()
        };
        let resources = served("resource metadata");
        let published: Vec<&Value> =
            resources.iter().map(|passed| &passed.response["resource"]).filter(|it| it.is_string()).collect();
        let document = served("server metadata").into_iter().rev().find(|passed| {
            let endpoint = passed.response["authorization_endpoint"].as_str().unwrap_or_default();
            endpoint.split('?').next().is_some_and(|url| url.ends_with(&request.passed.path))
        });
        let listed: Vec<String> =
            resources.iter().flat_map(|passed| strings(&passed.response["scopes_supported"])).collect();
        let response = redirected(request);
        let url = full(request);
        let mut visits = context
            .kept
            .visits
            .iter()
            .filter(|visit| visit.url == url || group.iter().any(|(_, one)| full(one) == visit.url));
        let visit = visits.next();
        let codes: Vec<&str> =
            response.iter().filter(|(name, _)| name == "code").map(|(_, code)| code.as_str()).collect();
        let own: Vec<&Value> = tokens
            .iter()
            .filter(|token| token["params"]["code"].as_str().is_some_and(|code| codes.contains(&code)))
            .collect();
        // Some clients request the URL themselves before they open it, so only one that is known to go on by itself has got
        // the response then.
        let delivered = visit.map_or(context.fetches || !own.is_empty(), |visit| visit.delivered.is_some());
        let access = own.iter().find_map(|token| token["response"]["access_token"].as_str());
        let used = access.is_some_and(|access| requests.iter().any(|other| other.token == Some(access)));
        let redirect = given("redirect_uri").unwrap_or_default();
        let challenge = given("code_challenge").unwrap_or_default().to_owned();
        let rejection =
            before.iter().rev().find(|other| other.passed.about == "mcp" && matches!(other.passed.status, 401 | 403));
        let challenges = rejection.map(|other| other.passed.challenges.as_slice()).unwrap_or_default();
        let challenged: Vec<String> = challenges.iter().flat_map(|challenge| strings(&challenge["scopes"])).collect();
        let earlier: Vec<String> = all.iter().flat_map(|login: &Value| words(&login["params"]["scope"])).collect();
        let item = json!({
            "nr": nr,
            "to": request.passed.to.name(),
            "document": document.map(|passed| passed.path.clone()),
            "metadata": document.map(|passed| passed.response.clone()),
            "requests": group.len(),
            "params": object(&request.params),
            "repeated": request.item["repeated"],
            "query": request.passed.query,
            "id_from": id_from,
            "registration": registration.map(|other| other.item["body"].clone()),
            "registered": registration.map(|other| other.passed.response.clone()),
            "endpoint": context.target,
            "published": published.last(),
            "resource": given("resource").map(|resource| kind_of_resource(resource, context.target, &published)),
            "redirect": kind_of_redirect(redirect),
            "redirect_registered": registration.map(|other| is_registered(redirect, &other.passed.response, &other.item["body"])),
            "scopes": words(&json!(given("scope").unwrap_or_default())),
            "listed_scopes": listed,
            "challenged_scopes": challenged,
            "earlier_scopes": earlier,
            "new_challenge": !seen.contains(&challenge),
            "response": object(&response),
            "how": visit.map_or("fetched", |visit| visit.how.word()),
            "delivered": delivered,
            "end": visit.map(|visit| visit.end.clone()),
            "exchanges": own.len(),
            "token": own.first(),
            "used": used,
            "ms": request.item["ms"],
            "frames": [request.passed.frame],
            "link": request.passed.link,
            "world": context.world,
        });
        seen.push(challenge);
        all.push(item);
    }
    all
}

fn full(request: &Request) -> String {
    format!("http://{}{}?{}", request.passed.header("host"), request.passed.path, request.passed.query)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn words(value: &Value) -> Vec<String> {
    value.as_str().unwrap_or_default().split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Scheme and host in any case, and one final slash more or less.
fn alike(one: &str, other: &str) -> bool {
    let normal = |url: &str| {
        let url = url.strip_suffix('/').unwrap_or(url);
        let after = url.find("://").map_or(0, |at| at + 3);
        let end = url[after..].find('/').map_or(url.len(), |slash| after + slash);
        url[..end].to_ascii_lowercase() + &url[end..]
    };
    normal(one) == normal(other)
}

/// `published` or `endpoint` if it is one of those, `origin` of the endpoint alone, or `other`.
fn kind_of_resource(resource: &str, endpoint: &str, published: &[&Value]) -> &'static str {
    let after = endpoint.find("://").map_or(0, |at| at + 3);
    let origin = endpoint[after..].find('/').map_or(endpoint, |slash| &endpoint[..after + slash]);
    match () {
        () if published.iter().any(|it| it.as_str() == Some(resource)) => "published",
        () if published.iter().any(|it| it.as_str().is_some_and(|it| alike(it, resource))) => "like published",
        () if alike(resource, endpoint) => "endpoint",
        () if alike(resource, origin) => "origin",
        () => "other",
    }
}

/// `loopback`, `https`, `private` for a scheme of the client's own, or `other`.
fn kind_of_redirect(uri: &str) -> &'static str {
    let (scheme, rest) = uri.split_once(':').unwrap_or(("", uri));
    let host = rest.trim_start_matches("//").split(['/', '?', '#']).next().unwrap_or_default();
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(host, _)| host);
    match scheme {
        "https" => "https",
        "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => "loopback",
        "http" | "" => "other",
        _ => "private",
    }
}

/// The port of a loopback IP address may differ.
fn is_registered(redirect: &str, response: &Value, request: &Value) -> bool {
    let all = [strings(&response["redirect_uris"]), strings(&request["redirect_uris"])].concat();
    all.iter().any(|known| {
        known == redirect || without_port(known).is_some_and(|known| without_port(redirect) == Some(known))
    })
}

fn without_port(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("http://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = ["127.0.0.1", "[::1]"].into_iter().find(|host| authority.starts_with(host))?;
    Some(format!("{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_told_apart() {
        let published = json!("http://127.0.0.1:3000/mcp");
        let of = |resource: &str| kind_of_resource(resource, "http://127.0.0.1:3000/mcp", &[&published]);
        assert_eq!(of("http://127.0.0.1:3000/mcp"), "published");
        assert_eq!(of("HTTP://127.0.0.1:3000/mcp/"), "like published");
        assert_eq!(of("http://127.0.0.1:3000/"), "origin");
        assert_eq!(of("http://127.0.0.1/mcp"), "other");
        assert_eq!(of("http://127.0.0.1:3000/MCP"), "other");
    }

    #[test]
    fn redirect_uris_are_told_apart() {
        assert_eq!(kind_of_redirect("http://localhost:1/c"), "loopback");
        assert_eq!(kind_of_redirect("http://[::1]:1/c"), "loopback");
        assert_eq!(kind_of_redirect("http://localhost.example/c"), "other");
        assert_eq!(kind_of_redirect("https://app.example/c"), "https");
        assert_eq!(kind_of_redirect("cursor://c"), "private");
        let known = json!({ "redirect_uris": ["http://127.0.0.1:1/c", "http://localhost:1/c"] });
        assert!(is_registered("http://127.0.0.1:2/c", &known, &Value::Null));
        assert!(!is_registered("http://localhost:2/c", &known, &Value::Null));
        assert!(!is_registered("http://127.0.0.1:2/d", &known, &Value::Null));
    }
}
