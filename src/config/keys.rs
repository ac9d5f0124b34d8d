//! The keys of the file, with the texts that editors show.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{client, levels};
use crate::{
    cli::MOST_RETRIES,
    evidence::Transport,
    outcome::{Flaky, Level},
    suite::{
        decode::{Decode, OneOrMany, Pairs, WithTree, keys, mapping, refuse_unknown, schema_like},
        diagnostic::Problems,
        facts::Facts,
        yaml::{At, Tree, Yaml},
    },
    target::Limits,
};

keys! { snake_case
    /// The configuration of mcp-conform.
    File, "the configuration" {
        /// Files whose values this one overrides; paths in them start at their own directory
        extends: OneOrMany<At<String>>,
        /// Custom suites: files or directories
        suites: OneOrMany<String>,
        /// A violated SHOULD fails the run too, like --strict
        strict: bool,
        /// What is written if --report is not given: human, or FORMAT=PATH
        report: OneOrMany<String>,
        /// The file of known failures
        baseline: String,
        /// Failures that are accepted
        accept: Accept,
        /// How often the rules that fail are tested again, like --retries
        #[schemars(extend("maximum" = MOST_RETRIES))]
        retries: At<usize>,
        /// Whether a rule that fails and then passes fails the run, like --flaky
        flaky: Flaky,
        /// What named hosts make of the servers, like --profile
        profiles: Profiles,
        /// Servers to test, by name
        targets: Pairs<WithTree<Target>>,
        /// Clients to test, by name
        clients: Pairs<Client>,
        /// Authorization servers to test, by name
        auth_servers: Pairs<AuthServer>,
        /// `mcp-conform docs limits` describes them
        limits: LimitTable,
        /// Levels that rules have here in place of their own
        rules: Pairs<RuleLevel>,
        /// Facts about the server: each lets more rules be tested
        facts: WithTree<Facts>,
        /// Tools that may be called, with these arguments
        tools: WithTree<Pairs<Usable>>,
        /// Prompts that may be used, with these arguments
        prompts: WithTree<Pairs<Usable>>,
    }
}

keys! { snake_case
    /// Failures that are accepted.
    Accept, "`accept`" {
        /// Those that come from the SDK, like --accept sdk
        sdk: bool,
    }
}

keys! { snake_case
    /// Profiles of hosts.
    Profiles, "`profiles`" {
        /// Their names, with a date after `@` if it matters, or paths of files
        names: OneOrMany<String>,
        /// A rule of a profile that fails also fails the run, like --fail-on profile
        fail: bool,
    }
}

keys! { snake_case
    /// A server.
    #[schemars(extend("oneOf" = [{ "required": ["stdio"] }, { "required": ["http"] }, { "required": ["sse"] }]))]
    Target, "a target" {
        /// The program and its arguments
        stdio: Argv,
        /// The URL of a server over Streamable HTTP
        http: At<String>,
        /// The URL of a server over HTTP+SSE, the transport of 2024-11-05
        sse: At<String>,
        /// Variables of the process; ${NAME} reads the environment, and is never shown
        env: Pairs<At<String>>,
        /// Headers of each request; ${NAME} reads the environment, and is never shown
        headers: Pairs<At<String>>,
        /// Where bearer tokens come from: token, command, or an OAuth client
        auth: Auth,
        /// The working directory of the process
        cwd: String,
        /// The SDK that it is built on, if it is not found: PACKAGE or PACKAGE@VERSION
        sdk: At<String>,
        /// Tested if the command line names no target
        default: bool,
        /// Facts about this server
        facts: WithTree<Facts>,
        /// Tools of this server that may be called, with these arguments
        tools: WithTree<Pairs<Usable>>,
        /// Prompts of this server that may be used, with these arguments
        prompts: WithTree<Pairs<Usable>>,
    }
}

keys! { snake_case
    /// How the bearer tokens of a server are obtained.
    Auth, "`auth`" {
        token: At<String>,
        command: Vec<String>,
        client_id: At<String>,
        client_secret: At<String>,
        scopes: Vec<String>,
        token_endpoint: String,
        /// Sign the tokens of the run: the address where mcp-conform listens as the authorization server that this server trusts
        issuer: String,
        /// The audience of these tokens [default: the URL of the server]
        audience: String,
        /// Tokens besides the one for the run, each for a test of its own
        others: Pairs<Tree>,
    }
}

keys! { snake_case
    /// A client.
    Client, "a client" {
        /// The program and its arguments
        #[schemars(required)]
        command: Vec<String>,
        transport: Transport,
        /// Variables of the process; ${NAME} reads the environment, and is never shown
        env: Pairs<At<String>>,
        /// The working directory of the process
        cwd: String,
        /// The maximum number of concurrent processes
        #[schemars(extend("minimum" = 1, "maximum" = client::MOST_AT_ONCE))]
        parallel: At<usize>,
        /// The arguments with which a command line client performs an action
        #[schemars(extend("propertyNames" = { "enum": client::ACTIONS }))]
        actions: Pairs<Vec<OneOrMany<String>>>,
    }
}

keys! { snake_case
    /// An authorization server.
    AuthServer, "an authorization server", needs [issuer] {
        /// Its issuer URL
        #[schemars(required)]
        issuer: At<String>,
        /// A registered public client, like --client-id and --redirect-uri
        client: RegisteredClient,
        /// Clients may be registered, like --register
        register: bool,
        /// The URL of an MCP server, which is sent as `resource`
        resource: String,
        /// The scopes to request; some servers grant nothing without one
        scopes: Vec<String>,
        /// How a user logs in: `fields` of its forms, or a command that prints the last URL
        login: Login,
    }
}

keys! { snake_case
    /// A public client.
    RegisteredClient, "a client", needs [id, redirect_uri] {
        #[schemars(required)]
        id: String,
        #[schemars(required)]
        redirect_uri: String,
    }
}

keys! { snake_case
    /// How a user logs in.
    LoginForm, "a login" {
        /// Values of inputs by their names; ${NAME} reads the environment. None of them is ever shown
        fields: Pairs<At<String>>,
        /// The button to press where a form has several: its name, value, id or text
        submit: String,
        /// The button that denies the client its authorization
        deny: String,
    }
}

keys! { snake_case
    /// The level of a rule, and why it has that one.
    RuleLevel, "a rule", needs [level, reason] {
        #[schemars(required, extend("enum" = levels::LEVELS.map(Level::word)))]
        level: At<String>,
        /// Stands in the report
        #[schemars(required, extend("pattern" = r"\S"))]
        reason: At<String>,
    }
}

keys! { snake_case
    /// How a tool or prompt may be used.
    Usable, "a tool or prompt" {
        with: Pairs<Yaml>,
        /// The call fails
        fails: bool,
    }
}

/// A login by forms or by a command, in whose arguments `{url}` stands for the URL.
#[derive(Debug)]
pub enum Login {
    Form(LoginForm),
    Command(Vec<String>),
}

impl Decode for Login {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        match &tree.value {
            Yaml::List(_) => Vec::decode(tree, problems).map(Self::Command),
            _ => LoginForm::decode(tree, problems).map(Self::Form),
        }
    }
}

schema_like!(Login, "Login", generator => {
    let forms = [LoginForm::json_schema(generator), Vec::<String>::json_schema(generator)];
    json_schema!({ "anyOf": forms })
});

/// A program and its arguments.
#[derive(Debug)]
pub struct Argv(pub Vec<String>);

impl Decode for Argv {
    /// Many tools accept one line here, which would need a shell to split it.
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        let Yaml::String(line) = &tree.value else { return Vec::decode(tree, problems).map(Self) };
        let words = shlex::split(line).unwrap_or_default();
        let help = format!("write `stdio = {}`", Value::from(words).to_string().replace("\",\"", "\", \""));
        problems.add_with(tree.at, "expected a list, received a string", help);
        None
    }
}

schema_like!(Argv, "Argv", generator => Vec::<String>::json_schema(generator));

/// Limits by name, whose values are checked where they are set.
#[derive(Debug)]
pub struct LimitTable(pub Pairs<Tree>);

impl Decode for LimitTable {
    fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
        refuse_unknown(mapping(tree, problems)?, "`limits`", &Limits::NAMES.map(str::to_owned), problems);
        Pairs::decode(tree, problems).map(Self)
    }
}

schema_like!(LimitTable, "Limits", _generator => {
    let limits = Limits::NAMES.map(|name| (name.to_owned(), json!({ "type": ["number", "string"] })));
    let properties: Value = limits.into_iter().collect();
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
});
