//! The SDK that a program is built on, and its part in a finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An SDK that the tested program is built on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sdk {
    /// The package, as its registry names it.
    pub package: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Sdk {
    /// `PACKAGE@VERSION`, or a package alone. A package may begin with `@`.
    pub fn parse(text: &str) -> Self {
        match text.rsplit_once('@') {
            Some((package, version)) if !package.is_empty() => {
                Self { package: package.to_owned(), version: Some(version.to_owned()) }
            }
            _ => Self { package: text.to_owned(), version: None },
        }
    }

    /// For people: the package and its version.
    pub fn named(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.package),
            None => self.package.clone(),
        }
    }
}

/// What an SDK does in place of the author's code, which explains a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SdkDefect {
    /// With the version that was found. Without one it was only concluded from what the server sent.
    #[serde(flatten)]
    pub sdk: Sdk,
    /// What it does, after its name.
    pub defect: String,
    /// The first version that is known to do so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The first version that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What an author can do until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workaround: Option<String>,
    /// Where it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
}

impl SdkDefect {
    /// Whether the SDK was found at the program or named by its author, and not only concluded.
    pub fn is_certain(&self) -> bool {
        self.sdk.version.is_some()
    }

    /// What an author can do: the workaround, if there is one.
    pub fn way_out(&self) -> String {
        match (&self.workaround, &self.until) {
            (Some(workaround), _) => workaround.trim().to_owned(),
            (None, Some(until)) => {
                let package = &self.sdk.package;
                format!(
                    "Update to {package} {until} or newer. No option of the SDK avoids it before that; --accept sdk accepts it."
                )
            }
            (None, None) => {
                "No option of the SDK avoids it; --accept sdk accepts it until the SDK is corrected.".to_owned()
            }
        }
    }

    /// Whose the finding is, in one or two sentences.
    pub fn told(&self) -> String {
        let package = &self.sdk.package;
        let since = self.from.iter().map(|from| format!(" since {from}")).collect::<String>();
        let whose = match &self.sdk.version {
            Some(version) => format!("not your code: {package}{since} {} ({version} here)", self.defect),
            None => format!("probably not your code: {package}{since} {}, with the same text", self.defect),
        };
        let corrected = self.until.iter().map(|until| format!("; {until} corrects it")).collect::<String>();
        let reported = self.upstream.iter().map(|place| format!("; reported: {place}")).collect::<String>();
        whose + &corrected + &reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_begin_with_the_sign_before_its_version() {
        for (text, package, version) in [
            ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/sdk", Some("1.32.2")),
            ("@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk", None),
            ("mcp@1.9", "mcp", Some("1.9")),
            ("mcp", "mcp", None),
        ] {
            let sdk = Sdk::parse(text);
            assert_eq!((sdk.package.as_str(), sdk.version.as_deref()), (package, version));
        }
    }

    #[test]
    fn what_was_only_concluded_is_told_as_probable() {
        let mut defect = SdkDefect {
            sdk: Sdk::parse("mcp@1.30.0"),
            defect: "does not respond to invalid JSON".into(),
            from: Some("1.2".into()),
            until: Some("2.0.0".into()),
            workaround: None,
            upstream: None,
        };
        assert_eq!(
            defect.told(),
            "not your code: mcp since 1.2 does not respond to invalid JSON (1.30.0 here); 2.0.0 corrects it"
        );
        assert!(defect.way_out().starts_with("Update to mcp 2.0.0 or newer. "), "{}", defect.way_out());
        defect.workaround = Some("Add a line.\n".into());
        assert_eq!(defect.way_out(), "Add a line.");
        defect.sdk.version = None;
        assert!(!defect.is_certain() && defect.told().starts_with("probably not your code: mcp "), "{}", defect.told());
    }
}
