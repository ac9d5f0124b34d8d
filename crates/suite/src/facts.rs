//! What can be known about a server beyond what it declares.

use super::{
    decode::{OneOrMany, Pairs, keys},
    yaml::{At, Yaml},
};
use conform_model::revision::Revision;

keys! { snake_case
    /// Facts that `[facts]` in the configuration can set.
    Facts, "`facts`" {
        /// A URI that the server has no resource for.
        missing_uri: String,
        /// A prefix that some of the resources have.
        prefix: String,
        /// A file that exists, outside of what the server may read.
        outside_file: String,
        /// The target that is the same server for another user.
        second_identity: At<String>,
        /// Values for the variables of templates, by template.
        arguments: Pairs<Pairs<OneOrMany<String>>>,
        /// The resources in each resource that can be listed.
        children: Pairs<Vec<String>>,
        /// What changes one resource.
        change: ChangeOfOne,
        /// What changes the list of resources.
        list_change: Change,
        /// A call of a tool that takes some seconds.
        slow: ToolCall,
        /// The protocol revisions that the server supports.
        versions: Vec<Revision>,
        /// What changes the list of tools.
        tool_list_change: Change,
        /// What changes the list of prompts.
        prompt_list_change: Change,
        /// A call of a tool that becomes a task.
        task: ToolCall,
        /// A call that becomes a task of some seconds.
        slow_task: ToolCall,
        /// A call that becomes a task which requires input.
        task_input: ToolCall,
        /// A call that becomes a task whose tool reports an error.
        failing_task: ToolCall,
        /// A call that becomes a task which fails.
        broken_task: ToolCall,
        /// Tools that send requests to the client.
        asking: Asking,
        /// Calls that fail, because they access paths outside of the only root of the client.
        outside_roots: OutsideRoots,
        /// A call that needs more scopes than a narrow token has.
        guarded: GuardedCall,
        /// A call that only one user may make.
        user_owned_call: GuardedCall,
        /// Clients may be registered with the authorization server.
        registration: bool,
        /// The name under which hosts have the server: several of them join it and the name of a tool.
        installed_as: String,
    }
}

keys! { snake_case
    /// The cause of a change: a tool, a command or an HTTP request.
    Change, "a change" {
        uri: String,
        tool: String,
        with: Pairs<Yaml>,
        command: Vec<String>,
        http: HttpCause,
    }
}

keys! { snake_case
    /// The cause of a change of one resource.
    ChangeOfOne, "a change", needs [uri] {
        /// The resource that changes.
        #[schemars(required)]
        uri: String,
        tool: String,
        with: Pairs<Yaml>,
        command: Vec<String>,
        http: HttpCause,
    }
}

keys! { snake_case
    /// An HTTP request that changes something.
    HttpCause, "`http`", needs [url] {
        method: String,
        #[schemars(required)]
        url: String,
        body: Yaml,
    }
}

keys! { snake_case
    /// A tool call.
    ToolCall, "a call", needs [tool] {
        #[schemars(required)]
        tool: String,
        with: Pairs<Yaml>,
    }
}

keys! { snake_case
    /// A tool call that not every token permits.
    GuardedCall, "a call", needs [tool] {
        #[schemars(required)]
        tool: String,
        with: Pairs<Yaml>,
        /// The scopes that a narrow token lacks.
        lacks: Vec<String>,
    }
}

keys! { snake_case
    /// Tools that send requests to the client, by what is known of them.
    Asking, "`asking`" {
        completes: Vec<String>,
        sealed: Vec<String>,
        once: Vec<String>,
    }
}

keys! { snake_case
    /// A tool, and arguments with which it leaves the only root.
    OutsideRoots, "`outside_roots`", needs [root, tool] {
        #[schemars(required)]
        root: String,
        #[schemars(required)]
        tool: String,
        with: Pairs<Yaml>,
        escape: Pairs<Yaml>,
    }
}

/// Facts that come from other parts of the configuration, or from options.
const ELSEWHERE: [&str; 19] = [
    "oauth_client",
    "other_client",
    "login",
    "register",
    "tools",
    "prompts",
    "client_id",
    "grant",
    "own_token",
    "expired_token",
    "forged_token",
    "foreign_token",
    "unbound_token",
    "alien_token",
    "orphaned_token",
    "narrow_token",
    "broad_token",
    "upper_token",
    "second_token",
];

/// The names of all facts that can be given.
pub fn names() -> impl Iterator<Item = &'static str> {
    Facts::keys().iter().map(String::as_str).chain(ELSEWHERE)
}
