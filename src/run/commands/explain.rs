//! `mcp-conform explain`: one rule, with an example of a violation.
//!
//! The example cannot go stale: the reference server runs with the rule's first fault and is tested.

use crate::{
    assess::shown::show_frames,
    cli::ExplainArgs,
    embedded::SUITES,
    error::{Error, exit},
    evidence::Side,
    evidence::Transport,
    outcome::{Finding, Held, HostEvidence, RuleResult, Sender, ShownFrame, Status, excerpt::middle},
    plan::{Filter, nearest},
    report::{self, explanation},
    revision::Revision,
    run::{
        inputs::{configured, profiles, suites::load},
        process::{Surroundings, console::say},
        trials::{Conducted, Trial, trials},
    },
    suite::{Applies, Path, Rule, SURVEY, Suite, Test, Untested},
    target::Limits,
};

pub fn explain(args: &ExplainArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let own = configured::with_own_suites(&args.suite, surroundings)?;
    let mut suites = load(&Side::ALL, &own, surroundings.color)?;
    suites.extend(profiles::built_in(surroundings.color)?);
    let known = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    if let Some((suite, rule)) = known.clone().find(|(_, rule)| rule.id == args.rule) {
        say(&told(suite, rule, &suites));
        if let Some(example) = example(suite, rule, &suites, surroundings.width) {
            say(&example);
        }
        return Ok(exit::CONFORMING);
    }
    let is_named = |suite: &&Suite| {
        suite.id == args.rule || suite.profile.as_ref().is_some_and(|profile| profile.name == args.rule)
    };
    if let Some(suite) = suites.iter().find(is_named) {
        say(&rules_of(suite));
        return Ok(exit::CONFORMING);
    }
    let untested = suites.iter().flat_map(|suite| suite.untested.iter().map(move |row| (suite, row)));
    if let Some((suite, row)) = untested.clone().find(|(_, row)| row.id == args.rule) {
        say(&not_tested(suite, row));
        return Ok(exit::CONFORMING);
    }
    let names = suites
        .iter()
        .map(|suite| suite.id.as_str())
        .chain(known.map(|(_, rule)| rule.id.as_str()))
        .chain(untested.map(|(_, row)| row.id.as_str()));
    let meant = nearest(&args.rule, names).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    Err(Error::Usage {
        message: format!("unknown rule or suite `{}`", args.rule),
        help: Some(format!("{meant}`mcp-conform list rules` lists all")),
    })
}

/// The rules of a suite.
fn rules_of(suite: &Suite) -> String {
    let mut lines = vec![format!("{} is a suite", suite.id), format!("  {}", suite.about), String::new()];
    lines.push(format!("applies    {}", scope(&suite.applies, &Applies::default())));
    lines.push(String::new());
    lines.extend(suite.rules.iter().map(|rule| format!("{}\n  {}", rule.id, rule.statement)));
    lines.extend(
        suite.untested.iter().map(|row| format!("{}\n  {} (not tested: {})", row.id, row.statement, row.because)),
    );
    lines.extend(["", "`mcp-conform explain RULE` shows more about each."].map(str::to_owned));
    lines.join("\n")
}

fn told(suite: &Suite, rule: &Rule, suites: &[Suite]) -> String {
    let mut lines = vec![rule.id.clone(), format!("  {}", rule.statement), String::new()];
    lines.push(format!("suite      {}: {}", suite.id, suite.about));
    lines.push(format!("file       {}", suite.file));
    lines.push(format!("applies    {}", scope(&suite.applies, &rule.applies)));
    let source = report::link(&rule.source, newest(suite, rule)).unwrap_or_else(|| rule.source.clone());
    match &rule.evidence {
        None => lines.push(format!("source     {source}")),
        Some(evidence) => lines.extend(known_by(evidence)),
    }
    lines.extend(rule.derived.as_ref().map(|why| format!("why        {why}")));
    lines.extend(rule.hint.as_ref().map(|hint| format!("hint       {hint}")));
    let steps = steps(suite, rule, suites);
    if !steps.is_empty() {
        lines.extend([String::new(), "Requests:".to_owned(), String::new()]);
        lines.extend(steps.iter().flat_map(|step| step.lines()).map(|line| format!("  {line}")));
    }
    if let Some(text) = written(&rule.id) {
        lines.extend([String::new(), "How it is tested:".to_owned(), String::new()]);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

/// How it is known what a host does.
fn known_by(evidence: &HostEvidence) -> Vec<String> {
    let HostEvidence { lost, sources, seen, certainty, host_version, .. } = evidence;
    let mut lines = vec![format!("lost       {}", lost.told())];
    lines.extend(sources.iter().map(|source| format!("source     {source}")));
    lines.push(format!("seen       {seen}"));
    lines.extend(host_version.iter().map(|version| format!("version    {version}")));
    lines.push(format!("certainty  {certainty}"));
    lines
}

fn not_tested(suite: &Suite, row: &Untested) -> String {
    format!("{}\n  {}\n\nsuite      {}\nnot tested {}", row.id, row.statement, suite.id, row.because)
}

/// Where the rule applies, in words.
pub(super) fn scope(suite: &Applies, rule: &Applies) -> String {
    let since = suite.since.max(rule.since).unwrap_or(Revision::ALL[0]);
    let until = [suite.until, rule.until].into_iter().flatten().min().unwrap_or(Revision::NEWEST);
    let mut parts = vec![if since == until { since.to_string() } else { format!("{since} to {until}") }];
    for applies in [suite, rule] {
        if !applies.transport.is_empty() {
            let names: Vec<_> = applies.transport.iter().map(ToString::to_string).collect();
            parts.push(format!("over {}", names.join(" or ")));
        }
        parts.extend(applies.proposal.iter().map(|proposal| format!("to servers that follow {proposal}")));
        parts.extend(applies.extension.iter().map(|extension| format!("to servers with the extension {extension}")));
        if !applies.server.is_empty() {
            parts.push(format!("to servers with {}", applies.server.join(", ").replace('!', "no ")));
        }
        if applies.protected {
            parts.push("to servers that require authorization".to_owned());
        }
        if !applies.facts.is_empty() {
            parts.push(format!("with {} in mcp-conform.toml", applies.facts.join(", ")));
        }
    }
    parts.join(", ")
}

pub(super) fn newest(suite: &Suite, rule: &Rule) -> Revision {
    [suite.applies.until, rule.applies.until].into_iter().flatten().min().unwrap_or(Revision::NEWEST)
}

/// The steps of built-in suites that save the evidence for the rule, as YAML.
fn steps(suite: &Suite, rule: &Rule, suites: &[Suite]) -> Vec<String> {
    let mut looks_at: Vec<&Path> = rule.every.iter().flat_map(|every| &every.over).collect();
    looks_at.extend(rule.filter.iter().map(|clause| &clause.subject));
    match &rule.test {
        Test::Expect(clauses) => looks_at.extend(clauses.iter().map(|clause| &clause.subject)),
        Test::Observe(paths) => looks_at.extend(paths),
        Test::Check { given, .. } => looks_at.extend(given.iter().flat_map(|(_, given)| given.references())),
    }
    let mut steps: Vec<String> = Vec::new();
    for path in looks_at {
        let of_survey = path.root == SURVEY;
        let gathers = if of_survey { suites.iter().find(|suite| suite.id == SURVEY) } else { Some(suite) };
        let name = if of_survey { path.first_member().unwrap_or_default() } else { &path.root };
        let begin = gathers.map(|suite| format!("suite: {}\n", suite.id)).unwrap_or_default();
        let text = SUITES.iter().map(|(_, text)| *text).find(|text| text.starts_with(&begin));
        for step in text.into_iter().flat_map(|text| blocks(text, "  - ")).filter(|step| saves(step, name)) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
    }
    steps
}

fn saves(step: &str, name: &str) -> bool {
    let saved = step.lines().filter_map(|line| line.split_once("save: "));
    saved.into_iter().any(|(_, rest)| rest.split([' ', ',', '}']).next() == Some(name))
}

/// The YAML of the rule in its suite.
fn written(id: &str) -> Option<String> {
    let begin = format!("  - id: {id}\n");
    let text = SUITES.iter().map(|(_, text)| *text).find(|text| text.contains(&begin))?;
    blocks(text, &begin).into_iter().next()
}

/// The list items that begin with this text, each with its nested lines, unindented.
fn blocks(text: &str, begin: &str) -> Vec<String> {
    let starts = text.match_indices(begin).filter(|(at, _)| *at == 0 || text[..*at].ends_with('\n'));
    let block = |(at, _): (usize, &str)| {
        let mut lines = text[at..].lines();
        let first = lines.next().unwrap_or_default();
        let rest = lines.take_while(|line| line.starts_with("    ") || line.trim().is_empty());
        let whole: Vec<_> =
            std::iter::once(first).chain(rest).map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        whole.join("\n").trim_end().to_owned()
    };
    starts.map(block).collect()
}

/// The commands that show the violation.
fn again(faulty: &Trial, fault: &str, options: &str) -> String {
    const ADDRESS: &str = "127.0.0.1:3000";
    let (transport, known) = (faulty.transport, faulty.transport.capabilities());
    if known.process {
        return format!("mcp-conform run --reference --fault {fault}{options}");
    }
    let path = known.path;
    format!(
        "mcp-conform serve --http {ADDRESS} --fault {fault}, and then mcp-conform run --{transport} http://{ADDRESS}{path}{options}"
    )
}

/// A finding of the rule on the reference server with a fault, next to the same messages of the server without it.
fn example(suite: &Suite, rule: &Rule, suites: &[Suite], width: usize) -> Option<String> {
    let all = trials(&Revision::ALL, &Transport::ALL);
    let alone = (Filter::new(std::slice::from_ref(&rule.id), suites).ok()?, format!(" --filter {}", rule.id));
    // Some rules judge messages that other suites request.
    let beside_all = (Filter::default(), String::new());
    let newest = newest(suite, rule);
    let shows = |fault: &String, filter: &Filter| {
        let fits = |trial: &&Trial| trial.fault.as_ref() == Some(fault) && trial.revision <= newest;
        // A process needs only one command.
        let is_process = |trial: &&Trial| trial.transport.capabilities().process;
        let faulty = all.iter().rfind(|trial| fits(trial) && is_process(trial)).or_else(|| all.iter().rfind(fits))?;
        let wrong = result(&faulty.evidence(suites, filter, None).ok()?, rule)?;
        (!wrong.findings.is_empty()).then_some((faulty, wrong))
    };
    let (filter, only, (faulty, wrong)) = [&alone, &beside_all]
        .into_iter()
        .find_map(|(filter, only)| Some((filter, only, rule.faults.iter().find_map(|fault| shows(fault, filter))?)))?;
    let fault = faulty.fault.as_ref()?;
    let first = RuleResult {
        findings: wrong.findings[..1].to_vec(),
        further: 0,
        hint: None,
        level_reason: None,
        derived: None,
        also: Vec::new(),
        ..wrong.clone()
    };
    let mut lines = vec![
        String::new(),
        format!("Violation by a server with this fault: {}", about(fault)),
        format!("({})", again(faulty, fault, &format!(" --revision {}{only}", wrong.revision))),
        String::new(),
    ];
    lines.extend(
        explanation(&first)
            .lines()
            .take_while(|line| !line.starts_with("source"))
            .map(|line| format!("  {line}").trim_end().to_owned()),
    );
    let healthy = Trial { fault: None, ..faulty.clone() };
    let right = healthy.evidence(suites, filter, None).ok();
    if let Some(right) = right.and_then(|healthy| answered_rightly(&wrong.findings[0], &healthy, rule)) {
        lines.extend(["Correct messages:".to_owned(), String::new()]);
        let room = width.saturating_sub(10);
        lines.extend(right.iter().map(|message| {
            // The important part of an HTTP head can be anywhere in it.
            let room = if message.text.starts_with(['{', '[']) { room } else { 4 * room };
            format!("  {}  {}", message.from, middle(&report::plain(&message.text), room))
        }));
    }
    Some(lines.join("\n").trim_end().to_owned())
}

fn result(conducted: &Conducted, rule: &Rule) -> Option<RuleResult> {
    conducted.report.rules.iter().find(|result| result.id == rule.id).cloned()
}

fn about(fault: &str) -> String {
    crate::reference::server::faults()
        .into_iter()
        .find(|known| known.name == fault)
        .map(|known| known.about)
        .unwrap_or_default()
}

/// The messages of an item that passed the rule: of the same request if there is one, otherwise about the same subject.
fn answered_rightly(finding: &Finding, healthy: &Conducted, rule: &Rule) -> Option<Vec<ShownFrame>> {
    let mut result = result(healthy, rule).filter(|result| result.status == Status::Pass)?;
    result.findings = result.held.iter().map(|held| shown(&finding.subject, held, finding)).collect();
    let mut results = [result];
    show_frames(&mut results, healthy.evidence.frames(), Limits::default().evidence_frames);
    let [RuleResult { findings: candidates, held, .. }] = results;
    let said = |messages: &[ShownFrame], side: Sender| -> Vec<String> {
        messages.iter().filter(|message| message.from == side).map(|message| message.text.clone()).collect()
    };
    let (asked, wrong) = (said(&finding.messages, Sender::Client), said(&finding.messages, Sender::Server));
    let differs = |right: &Finding| {
        let right = said(&right.messages, Sender::Server);
        !right.is_empty() && !right.iter().any(|text| text.starts_with('{') && wrong.contains(text))
    };
    let is_same = |right: &Finding| said(&right.messages, Sender::Client) == asked;
    let usable: Vec<(&Finding, &Held)> = candidates.iter().zip(&held).filter(|(right, _)| differs(right)).collect();
    let best = usable.iter().find(|(right, _)| is_same(right));
    let best = best.or_else(|| usable.iter().find(|(_, held)| held.subject == finding.subject)).or(usable.first());
    best.map(|(right, _)| right.messages.clone())
}

/// An item that passed, in the form of a finding, so that its messages are shown in the same way.
fn shown(subject: &str, held: &Held, like: &Finding) -> Finding {
    Finding {
        subject: subject.to_owned(),
        frames: held.frames.clone(),
        messages: Vec::new(),
        pointer: None,
        ..like.clone()
    }
}
