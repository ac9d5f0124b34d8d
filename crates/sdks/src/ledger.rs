//! What SDKs do whatever the authors of servers write: `suites/sdks/*.yaml`.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde::Deserialize;

use crate::version::is_within;
use conform_model::outcome::{Finding, InSdk, RuleResult, RunReport, Sdk, SdkDefect, Sender, Status, Subject};
use conform_texts::SDKS;

/// The built-in ledger.
pub static LEDGERS: LazyLock<Vec<SdkLedger>> = LazyLock::new(|| {
    let read = |(path, text): &(&str, &str)| serde_saphyr::from_str(text).unwrap_or_else(|why| panic!("{path}: {why}"));
    SDKS.iter().map(read).collect()
});

/// One SDK.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SdkLedger {
    /// The package, as its registry names it.
    pub sdk: String,
    pub language: String,
    pub registry: Registry,
    /// The package of another SDK that this one is built on.
    #[serde(rename = "built-on")]
    pub built_on: Option<String>,
    #[serde(default)]
    pub known: Vec<KnownDefect>,
    /// How an author sets a part of a tool: by the id of a rule about hosts or its end (`type-list`), or else by the word for
    /// the part that the rule has under `fix`.
    #[serde(default)]
    pub writes: BTreeMap<String, String>,
}

/// Where a package is published, which also says how it is found for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    Npm,
    Pypi,
    Crates,
    Go,
    Nuget,
}

/// A defect of some versions, and the findings that it causes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDefect {
    pub rules: Vec<String>,
    /// The first version with it; without one, all versions have it.
    pub from: Option<String>,
    /// The first version without it.
    pub until: Option<String>,
    /// What the finding says, or a message of the server that is shown with it. Without this, an author cannot cause the
    /// finding at all.
    shows: Option<String>,
    pub defect: String,
    pub workaround: Option<String>,
    pub upstream: Option<String>,
}

impl SdkLedger {
    /// The entry that explains a finding of a rule, in any version.
    fn explaining<'l>(&'l self, rule: &'l str, finding: &'l Finding) -> impl Iterator<Item = &'l KnownDefect> {
        self.known.iter().filter(move |known| known.rules.iter().any(|id| id == rule) && known.matches(finding))
    }

    fn defect(&self, known: &KnownDefect, version: Option<&str>) -> SdkDefect {
        SdkDefect {
            sdk: Sdk { package: self.sdk.clone(), version: version.map(str::to_owned) },
            defect: known.defect.clone(),
            from: known.from.clone(),
            until: known.until.clone(),
            workaround: known.workaround.clone(),
            upstream: known.upstream.clone(),
        }
    }
}

impl KnownDefect {
    pub fn has(&self, version: &str) -> bool {
        is_within(version, self.from.as_deref(), self.until.as_deref())
    }

    /// Compiled where it is needed: most runs match a few of a hundred.
    fn pattern(&self) -> Option<Regex> {
        let text = self.shows.as_ref()?;
        Some(Regex::new(text).unwrap_or_else(|why| panic!("suites/sdks: {why}")))
    }

    /// Whether it explains this finding of one of its rules.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.pattern().is_none_or(|pattern| pattern.is_match(&finding.line())) || self.is_in_message(finding, |_| true)
    }

    /// Whether the server itself sent what is characteristic, and this part of its message counts.
    fn is_in_message(&self, finding: &Finding, counts: impl Fn(&str) -> bool) -> bool {
        let mut sent = finding.messages.iter().filter(|shown| shown.from == Sender::Server);
        self.pattern().is_some_and(|pattern| {
            sent.any(|shown| pattern.find(&shown.text).is_some_and(|found| counts(found.as_str())))
        })
    }
}

/// Adds to each finding what the ledger knows about it.
pub fn mark(report: &mut RunReport) {
    if report.target.subject != Subject::Server {
        return;
    }
    for rule in &mut report.rules {
        mark_rule(rule, &report.target.sdks);
    }
}

/// Adds to the rules about hosts how their fix is written with the SDK of the server. Of several SDKs that are installed
/// nothing says which one the tools are written with, unless one is built on the other.
pub fn advise(report: &mut RunReport) {
    let of_server = |of: &&SdkLedger| report.target.sdks.iter().any(|sdk| sdk.package == of.sdk);
    let mut sdks: Vec<&SdkLedger> = LEDGERS.iter().filter(of_server).collect();
    let beneath: Vec<&str> = sdks.iter().filter_map(|sdk| sdk.built_on.as_deref()).collect();
    sdks.retain(|sdk| !beneath.contains(&sdk.sdk.as_str()));
    let [sdk] = sdks.as_slice() else { return };
    for rule in report.profiles.iter_mut().flat_map(|profile| &mut profile.rules) {
        let Some(evidence) = &mut rule.evidence else { continue };
        let of_rule = sdk.writes.iter().find(|(end, _)| format!("-{}", rule.id).ends_with(&format!("-{end}")));
        let code = of_rule.map(|(_, code)| code).or_else(|| sdk.writes.get(evidence.fix.as_ref()?));
        evidence.in_sdk = code.map(|code| InSdk { sdk: sdk.sdk.clone(), code: code.clone() });
    }
}

fn mark_rule(RuleResult { id, findings, .. }: &mut RuleResult, sdks: &[Sdk]) {
    for finding in findings {
        finding.sdk = explanation(&LEDGERS, id, finding, sdks).map(Box::new);
    }
}

/// Whether everything that the rule found certainly comes from one of these SDKs.
pub fn is_of_sdk(rule: &RuleResult, sdks: &[Sdk]) -> bool {
    let mut rule = rule.clone();
    mark_rule(&mut rule, sdks);
    rule.is_in_sdk()
}

/// Whether a part of a message has words that its author chose. Fields and `null` are what any other server sends too.
fn has_own_words(part: &str) -> bool {
    static SHAPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""[^"]*":|null|true|false"#).expect("a regular expression"));
    SHAPE.replace_all(part, "").contains(char::is_alphabetic)
}

fn explanation(ledger: &[SdkLedger], rule: &str, finding: &Finding, sdks: &[Sdk]) -> Option<SdkDefect> {
    let with_version = |sdk: &Sdk| {
        let (of, version) = (ledger.iter().find(|of| of.sdk == sdk.package)?, sdk.version.as_deref()?);
        let known = of.explaining(rule, finding).find(|known| known.has(version))?;
        Some(of.defect(known, Some(version)))
    };
    if let Some(certain) = sdks.iter().find_map(with_version) {
        return Some(certain);
    }
    // Of several SDKs with the same text none is more probable.
    let has_no_version =
        |of: &&SdkLedger| sdks.is_empty() || sdks.iter().any(|sdk| sdk.package == of.sdk && sdk.version.is_none());
    let mut probable = ledger.iter().filter(has_no_version).filter_map(|of| {
        let known = of.explaining(rule, finding).find(|known| known.is_in_message(finding, has_own_words))?;
        Some(of.defect(known, None))
    });
    probable.next().filter(|_| probable.next().is_none())
}

/// Makes the failures that certainly come from an SDK known ones; how many there are.
pub fn accept(report: &mut RunReport) -> usize {
    let strict = report.strict;
    let fails = |rule: &RuleResult| rule.status == Status::Fail || (strict && rule.status == Status::Warn);
    let mut accepted = 0;
    for rule in report.rules.iter_mut().filter(|rule| fails(rule) && rule.is_in_sdk()) {
        rule.reason = Some(rule.part_of_sdk().join("; "));
        rule.status = Status::Known;
        accepted += 1;
    }
    accepted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ledger() -> Vec<SdkLedger> {
        let of = |sdk: &str, until: &str| {
            let known =
                format!("{{ rules: [one], from: '1.2', until: '{until}', shows: 'Unknown tool', defect: does it }}");
            let text = format!("{{ sdk: {sdk}, language: Python, registry: pypi, known: [{known}] }}");
            serde_saphyr::from_str(&text).expect("a ledger")
        };
        vec![of("fast", "2.0"), of("mcp", "3.0")]
    }

    fn finding(from: &str, text: &str) -> Finding {
        let message = json!({ "frame": 1, "from": from, "text": text });
        let finding = json!({ "subject": "echo", "message": "received a result", "messages": [message] });
        serde_json::from_value(finding).expect("a finding")
    }

    fn explained(rule: &str, finding: &Finding, sdks: &[&str]) -> Option<String> {
        let sdks: Vec<Sdk> = sdks.iter().map(|sdk| Sdk::parse(sdk)).collect();
        explanation(&ledger(), rule, finding, &sdks).map(|defect| defect.sdk.named())
    }

    #[test]
    fn a_finding_is_an_sdk_s_by_rule_version_and_shape() {
        let finding = finding("server", "{\"text\":\"Unknown tool: x\"}");
        assert_eq!(explained("one", &finding, &["mcp@1.2.0"]).as_deref(), Some("mcp 1.2.0"));
        for (rule, sdk) in [("one", "mcp@1.1"), ("one", "mcp@3.0.0"), ("two", "mcp@1.2.0"), ("one", "other@1.2.0")] {
            assert_eq!(explained(rule, &finding, &[sdk]), None, "{rule} {sdk}");
        }
        assert_eq!(explained("one", &self::finding("server", "No such tool"), &["mcp@1.2.0"]), None);
        assert_eq!(explained("one", &self::finding("client", "Unknown tool"), &["mcp@1.2.0"]), None);
        // Of two SDKs the first in the ledger that explains it.
        assert_eq!(explained("one", &finding, &["mcp@2.1", "fast@2.1"]).as_deref(), Some("mcp 2.1"));
    }

    #[test]
    fn patterns_can_be_compiled() {
        let patterns = LEDGERS.iter().flat_map(|ledger| &ledger.known).filter_map(KnownDefect::pattern);
        assert!(patterns.count() > 50);
    }

    #[test]
    fn without_a_version_it_is_probable_at_most() {
        let finding = finding("server", "{\"text\":\"Unknown tool: x\"}");
        assert_eq!(explained("one", &finding, &["mcp"]).as_deref(), Some("mcp"));
        assert_eq!(explained("one", &finding, &[]), None, "two SDKs have this text");
    }

    #[test]
    fn a_shape_of_the_specification_suggests_no_sdk() {
        for part in [r#""id":null"#, r#""completion":{"values":[]"#, r#""isError":true"#, r#""result":{}"#] {
            assert!(!has_own_words(part), "{part}");
        }
        for part in [r#""id":"server-error""#, r#""code":-32603,"message":"Unknown"#, "UnicodeDecodeError"] {
            assert!(has_own_words(part), "{part}");
        }
    }
}
