//! The actions of a scenario: what a client is instructed to do, or what our client does through a gateway.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use conform_model::evidence::{List, Manner};

/// One action. As JSON it is what a client reads that follows instructions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Action {
    #[serde(flatten)]
    pub what: Do,
    #[serde(flatten)]
    pub how: How,
}

/// Every action can have these. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct How {
    /// The client of a gateway that performs it; by default the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<usize>,
    /// The request has a progress token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<bool>,
    /// The next action does not wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    #[serde(rename = "logLevel", skip_serializing_if = "Option::is_none")]
    pub log_level: Option<String>,
    /// The request is cancelled after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel_after: Option<usize>,
    /// Fields of `_meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// The id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Value>,
    /// How the client responds to requests of the upstream meanwhile.
    #[serde(skip)]
    pub respond: Option<Manner>,
    /// More params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub enum Do {
    Connect,
    Close,
    Ping,
    Discover,
    /// Lists all resources, and the children of each that declares `capabilities.list`.
    Walk,
    List {
        #[serde(serialize_with = "by_name")]
        of: &'static List,
        #[serde(skip_serializing_if = "Option::is_none")]
        pages: Option<Pages>,
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
    Call {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
        /// The length of an argument `text`.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<usize>,
        /// It may become a task.
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<bool>,
    },
    Get {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
    },
    Read {
        uri: String,
    },
    /// Gets the entry of a skill.
    Skill {
        uri: String,
    },
    /// Lists a directory of a skill.
    Directory {
        uri: String,
    },
    /// Loads the skill with this SKILL.md.
    Load {
        uri: String,
        #[serde(skip_serializing_if = "Approval::is_usual")]
        approve: Approval,
    },
    /// Reads a file of a loaded skill, by a reference as it stands in its SKILL.md.
    File {
        uri: String,
        path: String,
    },
    Subscribe {
        uri: String,
    },
    Unsubscribe {
        uri: String,
    },
    Complete {
        r#ref: Map<String, Value>,
        argument: Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<Map<String, Value>>,
    },
    Listen {
        notifications: Map<String, Value>,
    },
    /// Sends a notification.
    Notify {
        method: String,
    },
    SetLevel {
        level: String,
    },
    /// The roots change.
    Roots {
        #[serde(skip_serializing_if = "Option::is_none")]
        uris: Option<Vec<String>>,
    },
    /// Cancels the request of an earlier action, or the task that it became.
    Cancel {
        action: usize,
    },
    Wait {
        ms: usize,
    },
    Parallel {
        /// Each call is sent when the upstream has received the one before it.
        #[serde(skip_serializing_if = "Option::is_none")]
        staggered: Option<bool>,
        actions: Vec<Action>,
    },
}

/// What the user says to the loading of a skill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    #[default]
    Once,
    Always,
    No,
}

impl Approval {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Once
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "Value")]
pub enum Pages {
    All,
    First(usize),
}

impl From<Pages> for Value {
    fn from(pages: Pages) -> Self {
        match pages {
            Pages::All => "all".into(),
            Pages::First(count) => count.into(),
        }
    }
}

fn by_name<S: Serializer>(list: &List, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(list.save)
}

impl From<Do> for Action {
    fn from(what: Do) -> Self {
        Self { what, how: How::default() }
    }
}

impl Action {
    /// The actions that are performed at the same time.
    pub fn inner(&self) -> &[Self] {
        match &self.what {
            Do::Parallel { actions, .. } => actions,
            _ => &[],
        }
    }

    /// Whether this is a call that may become a task, or has one inside.
    pub fn may_be_task(&self) -> bool {
        matches!(self.what, Do::Call { task: Some(true), .. }) || self.inner().iter().any(Self::may_be_task)
    }

    /// The arguments of a tool or prompt.
    pub const fn arguments(&self) -> Option<&Map<String, Value>> {
        match &self.what {
            Do::Call { arguments, .. } | Do::Get { arguments, .. } => arguments.as_ref(),
            _ => None,
        }
    }
}
