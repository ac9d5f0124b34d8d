//! The actions of the client.

use std::{rc::Rc, time::Duration};

use serde_json::{Map, Value, json};
use tokio::{
    task::{JoinHandle, spawn_local},
    time::{Instant, sleep},
};

use crate::{
    behaviour::decisions::Moment,
    lists, message,
    options::strings,
    report::{Failure, Outcome},
    requests::Ask,
    skills,
    state::Client,
    tasks,
};

/// The actions of a client without instructions.
fn everything() -> Vec<Value> {
    ["tools", "prompts", "resources", "templates"].map(|of| json!({ "do": "list", "of": of, "quiet": true })).into()
}

/// Performs all actions; false if there was no connection.
pub async fn perform(client: &Rc<Client>) -> bool {
    let told = client.options.actions.clone();
    let mut actions = told.clone().unwrap_or_else(everything);
    if client.ways.habits.parallel && told.is_none() {
        actions = vec![json!({ "do": "parallel", "actions": actions, "quiet": true })];
    }
    let connects_itself = actions.first().is_none_or(|action| action["do"] != "connect");
    if connects_itself && let Err(failure) = connect(client).await {
        client.outside.say(&format!("error: no connection: {}", failure.message));
        client.close().await;
        return false;
    }
    let ticking = client.ways.unasked.is_some().then(|| spawn_local(tick(Rc::clone(client))));
    let mut background = Vec::new();
    let mut connected = true;
    for (at, action) in actions.iter().enumerate() {
        unasked(client, Moment::BeforeAction).await;
        let name = at.to_string();
        if action["background"] == true {
            let (client, action) = (Rc::clone(client), action.clone());
            background.push(spawn_local(async move { drop(act(&client, &action, &name).await) }));
            // It is in progress before the next action begins.
            sleep(Duration::from_millis(50)).await;
            continue;
        }
        let outcome = act(client, action, &name).await;
        if action["do"] == "connect" && outcome.is_err() {
            connected = false;
            break;
        }
        unasked(client, Moment::AfterAction).await;
        let again = client.ways.habits.reconnects && told.is_some() && at + 1 < actions.len();
        // A subscription needs its connection.
        let again = again && client.state.borrow().listens.is_empty();
        if again && background.is_empty() && !matches!(action["do"].as_str(), Some("connect" | "close" | "listen")) {
            client.close().await;
            connected = connect(client).await.is_ok();
        }
    }
    finish(background).await;
    if client.ways.habits.pings && connected && !client.is_modern() && client.transport.borrow().is_some() {
        client.request("ping", Value::Null, &Ask::default()).await.ok();
    }
    if connected && client.transport.borrow().is_some() {
        unasked(client, Moment::BeforeClose).await;
    }
    if let Some(ticking) = ticking {
        ticking.abort();
    }
    client.close().await;
    connected
}

/// Waits for background actions, which end by their own time limits.
async fn finish(background: Vec<JoinHandle<()>>) {
    for task in background {
        task.await.ok();
    }
}

async fn connect(client: &Rc<Client>) -> Result<(), Failure> {
    client.open().await?;
    unasked(client, Moment::Connected).await;
    Ok(())
}

async fn unasked(client: &Rc<Client>, moment: Moment) {
    let Some(hook) = client.ways.unasked else { return };
    for action in client.with(|memory, scene| hook(memory, scene, moment)) {
        Box::pin(execute(client, &action, "unasked")).await.ok();
    }
}

async fn tick(client: Rc<Client>) {
    loop {
        sleep(Duration::from_millis(200)).await;
        unasked(&client, Moment::Tick).await;
    }
}

/// Performs one action and reports it.
async fn act(client: &Rc<Client>, action: &Value, name: &str) -> Outcome {
    let mut outcome = Box::pin(execute(client, action, name)).await;
    if let Some(hook) = client.ways.outcome {
        hook(&mut client.memory.borrow_mut(), action, &mut outcome);
    }
    if action["quiet"] != true {
        let number = name.parse::<u64>().map_or_else(|_| json!(name), |number| json!(number));
        client.report.write(&number, &outcome);
    }
    outcome
}

async fn execute(client: &Rc<Client>, action: &Value, name: &str) -> Outcome {
    let ask = Ask {
        timeout: action["timeout"].as_u64().map(Duration::from_millis),
        progress: action["progress"] == true,
        action: name.to_owned(),
        force: action["force"] == true,
        log_level: action["logLevel"].as_str().map(str::to_owned),
        endless: false,
        task: false,
    };
    let modern = client.is_modern();
    let word = action["do"].as_str().unwrap_or_default();
    let only = |legacy: bool| {
        let unsupported = || Failure::unsupported(format!("{} has no action `{word}`", client.revision()));
        if legacy == modern && !ask.force { Err(unsupported()) } else { Ok(()) }
    };
    let with = |names: &[&str]| pick(action, names);
    let uri = action["uri"].as_str().unwrap_or_default();
    match word {
        "connect" => connect(client).await.map(|()| json!({})),
        "close" => {
            unasked(client, Moment::BeforeClose).await;
            client.close().await;
            Ok(json!({}))
        }
        "list" => list(client, action, &ask).await,
        "walk" => lists::walk(client, &ask).await,
        "call" if action["task"] == true => tasks::call(client, with(&["name", "arguments"]), &ask).await,
        "call" => client.request("tools/call", with(&["name", "arguments"]), &ask).await,
        "read" => {
            let read = client.request("resources/read", with(&["uri"]), &ask).await;
            skills::after_reading(client, uri, &ask).await;
            read
        }
        "skill" => skills::get(client, uri, &ask).await,
        "directory" => skills::directory(client, uri, &ask).await,
        "load" => skills::load(client, action, &ask).await,
        "file" => skills::file(client, action, &ask).await,
        "get" => client.request("prompts/get", with(&["name", "arguments"]), &ask).await,
        "complete" => {
            let has_context = client.revision().features().titles;
            let names: &[&str] = if has_context { &["ref", "argument", "context"] } else { &["ref", "argument"] };
            client.request("completion/complete", with(names), &ask).await
        }
        "subscribe" | "unsubscribe" => {
            only(true)?;
            client.request(&format!("resources/{word}"), with(&["uri"]), &ask).await
        }
        "listen" if !client.ways.habits.listens => {
            Err(Failure::unsupported("this client does not subscribe".to_owned()))
        }
        "listen" => {
            only(false)?;
            listen(client, action["notifications"].clone(), name);
            // Long enough for the acknowledgement of a server of the same machine.
            sleep(Duration::from_millis(200)).await;
            Ok(json!({}))
        }
        "setLevel" => {
            only(true)?;
            client.request("logging/setLevel", with(&["level"]), &ask).await
        }
        "ping" => {
            only(true)?;
            client.request("ping", Value::Null, &ask).await
        }
        "discover" => {
            only(false)?;
            client.request("server/discover", json!({}), &ask).await
        }
        "request" => {
            client
                .request(action["method"].as_str().unwrap_or_default(), with(&["params"])["params"].clone(), &ask)
                .await
        }
        "notify" => {
            let params = action.get("params").cloned().unwrap_or_default();
            client.deliver(message::notification(action["method"].as_str().unwrap_or_default(), &params)).await?;
            Ok(json!({}))
        }
        "http" => {
            client.current()?.without_message(client, action["method"].as_str().unwrap_or("GET")).await;
            Ok(json!({}))
        }
        "cancel" => cancel(client, &action["action"], name).await,
        "wait" => {
            let time = action["ms"].as_u64().or_else(|| action["wait"].as_u64()).unwrap_or_default();
            sleep(client.within_deadline(Duration::from_millis(time))).await;
            Ok(json!({}))
        }
        "parallel" => parallel(client, action, name).await,
        "roots" => roots(client, action).await,
        other => Err(Failure::unsupported(format!("unknown action `{other}`"))),
    }
}

/// The fields of an action that are parameters of its request.
fn pick(action: &Value, names: &[&str]) -> Value {
    let named = names.iter().filter_map(|&name| Some((name.to_owned(), action.get(name)?.clone())));
    named.collect::<Map<_, _>>().into()
}

async fn list(client: &Rc<Client>, action: &Value, ask: &Ask) -> Outcome {
    let most = action["pages"].as_u64().and_then(|most| usize::try_from(most).ok());
    let method = match action["of"].as_str().unwrap_or("resources") {
        "skills" => return skills::list(client, most, ask).await,
        "tools" => "tools/list",
        "prompts" => "prompts/list",
        "templates" => "resources/templates/list",
        "tasks" if !client.is_modern() => "tasks/list",
        "resources" => "resources/list",
        other => return Err(Failure::unsupported(format!("there is no list of `{other}`"))),
    };
    let Value::Object(scope) = pick(action, &["uri", "prefix"]) else { return Ok(Value::Null) };
    lists::all(client, method, &scope, most, ask).await
}

/// Opens a subscription that lasts until the end, or until its action is cancelled.
pub fn listen(client: &Rc<Client>, filter: Value, name: &str) {
    client.state.borrow_mut().listens.push(filter.clone());
    let client = Rc::clone(client);
    let ask = Ask { endless: true, action: name.to_owned(), ..Ask::default() };
    spawn_local(async move {
        let params = json!({ "notifications": filter });
        client.once("subscriptions/listen", &params, &ask, None).await
    });
}

async fn parallel(client: &Rc<Client>, action: &Value, name: &str) -> Outcome {
    let actions = action["actions"].as_array().cloned().unwrap_or_default();
    let begun = actions.into_iter().enumerate().map(|(at, mut one)| {
        if action["quiet"] == true {
            one["quiet"] = json!(true);
        }
        let (client, name) = (Rc::clone(client), format!("{name}.{at}"));
        spawn_local(async move { act(&client, &one, &name).await.is_ok() })
    });
    let begun: Vec<_> = begun.collect();
    let mut ok = 0;
    for task in begun {
        ok += usize::from(task.await.unwrap_or_default());
    }
    Ok(json!({ "ok": ok }))
}

/// Cancels the request of an earlier action, or the task that it became. A number inside of `parallel` is that of a concurrent action.
async fn cancel(client: &Rc<Client>, target: &Value, name: &str) -> Outcome {
    let number = target.as_str().map_or_else(|| target.to_string(), str::to_owned);
    let beside = name.rsplit_once('.').map(|(parallel, _)| format!("{parallel}.{number}"));
    let until = Instant::now() + Duration::from_secs(1);
    loop {
        for action in beside.iter().chain([&number]) {
            if let Some(outcome) = tasks::cancel(client, action).await {
                return outcome;
            }
        }
        let found = {
            let state = client.state.borrow();
            let of = |action: &str| state.open.iter().find(|open| open.action == action);
            let found = beside.as_deref().and_then(of).or_else(|| of(&number));
            found.map(|open| (open.id.clone(), open.method.clone(), open.since.elapsed()))
        };
        // A request that was just sent may still be in transit.
        if let Some((id, method, _)) = found.filter(|(.., age)| *age > Duration::from_millis(100)) {
            let waiter = {
                let mut state = client.state.borrow_mut();
                let at = state.open.iter().position(|open| message::same_id(&open.id, &id));
                at.map(|at| state.open.remove(at).waiter)
            };
            client.abort(&id, &method, false).await;
            if let Some(waiter) = waiter {
                let _ = waiter.send(Err(Failure::new("cancelled", "the action was cancelled")));
            }
            return Ok(json!({}));
        }
        if Instant::now() > until {
            return Err(Failure::invalid(format!("action {number} has no open request")));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

async fn roots(client: &Rc<Client>, action: &Value) -> Outcome {
    let Some(uris) = strings(&action["uris"]) else {
        return Err(Failure::invalid("`uris` is not an array of strings"));
    };
    client.state.borrow_mut().roots = uris;
    let declared = client.state.borrow().own["roots"]["listChanged"] == true;
    if declared && !client.is_modern() {
        client.deliver(message::notification("notifications/roots/list_changed", &Value::Null)).await?;
    }
    Ok(json!({}))
}
