//! How to reproduce a finding: a command, a recipe by hand, and a suite to paste.

use super::{
    findings::{LABEL, label},
    page::{CYAN, FAINT, Page, span},
};
use crate::text::{plain, wrap_command};
use conform_model::outcome::Finding;

pub fn rerun<'a>(page: &mut Page, indent: usize, findings: impl Iterator<Item = &'a Finding>) {
    let mut commands: Vec<_> = findings.filter_map(|finding| finding.reproduce.as_deref()).collect();
    commands.dedup();
    if !page.is_verbose() {
        commands.truncate(1);
    }
    for command in commands {
        let mut word = "rerun";
        for line in wrap_command(command, page.width().saturating_sub(indent + LABEL)) {
            page.line(indent, &[label(std::mem::take(&mut word)), span(CYAN, line)]);
        }
    }
}

/// A command to copy, so it is never wrapped.
pub fn by_hand(page: &mut Page, indent: usize, findings: &[Finding]) {
    let shown = findings.iter().find_map(|finding| finding.by_hand.as_deref());
    for (at, line) in shown.into_iter().flat_map(str::lines).enumerate() {
        page.line(indent, &[label(if at == 0 { "by hand" } else { "" }), span(FAINT, plain(line).into_owned())]);
    }
    let pasted = findings.iter().find_map(|finding| finding.yaml.as_deref());
    for (at, line) in pasted.into_iter().flat_map(str::lines).enumerate() {
        page.line(indent, &[label(if at == 0 { "suite" } else { "" }), span(FAINT, plain(line).into_owned())]);
    }
}
