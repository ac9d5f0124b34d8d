//! Starts a server and writes what it shows about itself as lines of mcp-conform.toml.
//!
//! Only what certainly changes nothing is called: tools with `readOnlyHint`, prompts and completions. A call that works
//! becomes a line that is used, and any other one a comment with the reason.

use std::{sync::Arc, time::Duration};

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::super::listing::{failure, list};
use crate::{
    config::toml_line,
    error::Error,
    evidence::{End, LISTS, Recorder},
    gather::{arguments::minimal, example, placeholders},
    report::{flow, plain},
    run::{
        inputs::target,
        process::{console::counted, runtime::unless_ended},
    },
    session::{CallOptions, Opener, Session, Wish},
    suite::format,
    target::{Limits, Program, Start, Target, command_line},
};

/// Maximum number of items of one list.
const ITEMS: usize = 200;
/// A call that takes this long shows progress and can be cancelled.
const SLOW: Duration = Duration::from_secs(1);
/// Maximum length of a reason.
const WHY: usize = 80;

/// What a server shows.
#[derive(Default)]
pub struct Shown {
    /// As the server states it.
    pub name: Option<String>,
    /// What it lists, in words.
    pub listed: String,
    /// Lines of its table in the configuration.
    pub lines: Vec<String>,
}

pub fn look(argv: &[String]) -> Result<Shown, Error> {
    let start = Start::Program(Program { argv: argv.to_vec(), env: Vec::new(), cwd: None });
    let limits = Limits::default();
    let opener = Opener {
        target: Target::new(command_line(argv), start),
        recorder: Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages),
        limits,
        profile: target::profile(&[])?,
        known: Arc::default(),
    };
    unless_ended(async {
        let session = opener.open(Wish::Newest).await.map_err(|unopened| unopened.error)?;
        let shown = Look { session: &session, lines: Vec::new() }.shown().await;
        session.close().await;
        Ok(shown)
    })
}

struct Look<'a> {
    session: &'a Session,
    lines: Vec<String>,
}

impl Look<'_> {
    async fn shown(mut self) -> Shown {
        let hello = self.session.hello.as_ref().and_then(|reply| reply.result.clone()).unwrap_or_default();
        let is_offered =
            |capability: &str| hello["capabilities"].get(capability).is_some_and(|declared| !declared.is_null());
        let (mut listed, mut lists) = (Vec::new(), Vec::new());
        for one in &LISTS {
            let named = ("init", one.method, one.field);
            let items =
                if is_offered(one.capability) { list(self.session, named, None, ITEMS).await.0 } else { Vec::new() };
            if !items.is_empty() {
                listed.push(counted(items.len(), one.save.trim_end_matches('s')));
            }
            lists.push(items);
        }
        let [tools, resources, prompts, templates] = <[Vec<Value>; 4]>::try_from(lists).unwrap_or_default();
        self.tools(&tools).await;
        self.prompts(&prompts, is_offered("completions")).await;
        self.templates(&templates, is_offered("completions")).await;
        self.changes(&hello["capabilities"], &tools, &resources);
        let stated = [&hello["serverInfo"]["name"], &hello["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]];
        Shown {
            name: stated.into_iter().find_map(Value::as_str).map(str::to_owned),
            listed: listed.join(", "),
            lines: self.lines,
        }
    }

    /// A read-only tool is called; of any other one the line is a comment.
    async fn tools(&mut self, tools: &[Value]) {
        let (read_only, others): (Vec<_>, Vec<_>) =
            tools.iter().partition(|tool| tool["annotations"]["readOnlyHint"] == true);
        self.head(!read_only.is_empty(), "Read-only tools: results, structured output, errors.");
        for tool in read_only {
            let (Some(name), Some(arguments)) = (tool["name"].as_str(), minimal(&tool["inputSchema"], true)) else {
                continue;
            };
            let needs_none = arguments.as_object().is_some_and(Map::is_empty);
            let took = self.tried(("tools", "tools/call"), name, &arguments, !needs_none).await;
            if took.is_some_and(|took| took >= SLOW) {
                let slow = json!({ "tool": name, "with": arguments });
                self.lines.push(toml_line(&["facts", "slow"], &slow) + "  # progress, cancellation");
            }
        }
        self.head(
            !others.is_empty(),
            "Tools that may have side effects: remove the # where a call may be made, with these arguments.",
        );
        for tool in others {
            let Some(name) = tool["name"].as_str() else { continue };
            self.lines.push(format!("# {}", toml_line(&["tools", name, "with"], &example(&tool["inputSchema"]))));
        }
    }

    async fn prompts(&mut self, prompts: &[Value], completes: bool) {
        let with_arguments: Vec<_> = prompts.iter().map(|prompt| (prompt, placeholders(prompt))).collect();
        let with_arguments: Vec<_> =
            with_arguments.into_iter().filter(|(_, arguments)| !arguments.is_empty()).collect();
        self.head(!with_arguments.is_empty(), "Arguments of prompts: their messages.");
        for (prompt, mut arguments) in with_arguments {
            let Some(prompt) = prompt["name"].as_str() else { continue };
            let of = json!({ "type": "ref/prompt", "name": prompt });
            for (name, value) in arguments.iter_mut().filter(|_| completes) {
                if let Some(offered) = self.offered(&of, name).await {
                    *value = offered.into();
                }
            }
            self.tried(("prompts", "prompts/get"), prompt, &arguments.into(), true).await;
        }
    }

    async fn templates(&mut self, templates: &[Value], completes: bool) {
        self.head(!templates.is_empty(), "Values for the variables of templates: reads of expanded templates.");
        for template in templates.iter().filter_map(|template| template["uriTemplate"].as_str()) {
            let of = json!({ "type": "ref/resource", "uri": template });
            let Some(parsed) = format::template(template) else { continue };
            let names: IndexSet<&str> = parsed.variables().map(|variable| variable.as_str()).collect();
            let mut values = Map::new();
            for name in &names {
                let offered = if completes { self.offered(&of, name).await } else { None };
                values.extend(offered.map(|value| ((*name).to_owned(), json!(value))));
            }
            let filled =
                values.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?.to_owned().into())));
            let is_known = match format::expanded(template, filled).filter(|_| values.len() == names.len()) {
                Some(uri) => {
                    let params = Some(json!({ "uri": uri }));
                    self.session.call("init", "resources/read", params, CallOptions::default()).await.end == End::Result
                }
                None => false,
            };
            for name in names {
                values.entry(name).or_insert_with(|| "…".into());
            }
            let line = toml_line(&["facts", "arguments", template], &values.into());
            self.lines.push(if is_known { line } else { format!("# {line}") });
        }
    }

    /// How something could be made to change: which call does so only the author knows.
    fn changes(&mut self, capabilities: &Value, tools: &[Value], resources: &[Value]) {
        let declares = |path: &str| capabilities.pointer(path).is_some_and(|declared| *declared == true);
        let mut changes = tools.iter().filter(|tool| tool["annotations"]["readOnlyHint"] != true);
        let tool = changes.find_map(|tool| tool["name"].as_str()).unwrap_or("TOOL");
        let uri = resources.iter().find_map(|resource| resource["uri"].as_str()).unwrap_or("URI");
        let wanted = [
            (
                "/resources/subscribe",
                "change",
                json!({ "uri": uri, "tool": tool, "with": {} }),
                "changes this resource: subscriptions",
            ),
            (
                "/resources/listChanged",
                "list_change",
                json!({ "tool": tool, "with": {} }),
                "adds or removes a resource",
            ),
            ("/tools/listChanged", "tool_list_change", json!({ "tool": tool, "with": {} }), "adds or removes a tool"),
            (
                "/prompts/listChanged",
                "prompt_list_change",
                json!({ "tool": tool, "with": {} }),
                "adds or removes a prompt",
            ),
        ];
        let declared: Vec<_> = wanted.into_iter().filter(|(path, ..)| declares(path)).collect();
        self.head(
            !declared.is_empty(),
            "Changes that the server says it announces: which call or `command = [...]` causes them.",
        );
        for (_, fact, value, what) in declared {
            self.lines.push(format!("# {}  # {what}", toml_line(&["facts", fact], &value)));
        }
    }

    fn head(&mut self, has_lines: bool, text: &str) {
        if has_lines {
            self.lines.extend([String::new(), format!("# {text}")]);
        }
    }

    /// Makes the call, and writes its line if that says something. The value is how long it took if it worked.
    async fn tried(
        &mut self,
        (table, method): (&str, &str),
        name: &str,
        arguments: &Value,
        is_written: bool,
    ) -> Option<Duration> {
        let params = json!({ "name": name, "arguments": arguments });
        let reply = self.session.call("init", method, Some(params), CallOptions::default()).await;
        let took = Duration::from_millis(reply.ms);
        let works = reply.end == End::Result && reply.result.as_ref().is_some_and(|result| result["isError"] != true);
        let line = toml_line(&[table, name, "with"], arguments);
        match works {
            true if is_written => self.lines.push(line),
            false if is_written => {
                let why = match &reply.result {
                    Some(result) => result["content"][0]["text"].as_str().unwrap_or("an error").to_owned(),
                    None => failure(reply),
                };
                // A comment of TOML has no control characters.
                let why: String = plain(&flow(&why)).chars().take(WHY).collect();
                self.lines.push(format!("# {line}  # returned: {why}"));
            }
            _ => {}
        }
        works.then_some(took)
    }

    /// The first value that the server offers for an argument.
    async fn offered(&self, of: &Value, argument: &str) -> Option<String> {
        let params = json!({ "ref": of, "argument": { "name": argument, "value": "" } });
        let reply = self.session.call("init", "completion/complete", Some(params), CallOptions::default()).await;
        let values = reply.result?["completion"]["values"].as_array()?.clone();
        values.iter().find_map(Value::as_str).filter(|value| !value.is_empty()).map(str::to_owned)
    }
}
