use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a rule that applies has nothing to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexercised {
    pub needs: Needs,
    /// As a report shows it.
    pub text: String,
}

impl Unexercised {
    /// The subject offers or sends nothing that the rule tests.
    pub fn nothing_to_test(text: impl Into<String>) -> Self {
        Self { needs: Needs::Nothing, text: text.into() }
    }

    /// This run did not get as far.
    pub fn in_this_run(text: impl Into<String>) -> Self {
        Self { needs: Needs::AnotherRun, text: text.into() }
    }

    /// The command lacks `option`.
    pub fn without_option(option: &str) -> Self {
        Self { text: format!("give {option}"), needs: Needs::Option(option.to_owned()) }
    }

    /// The configuration lacks `key`.
    pub fn without(key: impl Into<String>) -> Self {
        let key = key.into();
        Self { text: format!("give {key} in mcp-conform.toml"), needs: Needs::Configuration(key) }
    }
}

/// What it takes to exercise a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// A key of mcp-conform.toml.
    Configuration(String),
    /// An option of the command.
    Option(String),
    /// A run without what cut this one short, or that sends requests of its own. The reason says which.
    AnotherRun,
    /// No action: the subject offers or sends nothing that the rule tests.
    Nothing,
}
