//! The matrix as annotations of GitHub Actions: one for each rule that some servers violate, and for each server without
//! results.

use super::{Common, Matrix, Row, verb};
use crate::{
    github::{data, property},
    text::{flow, plain},
};
use conform_model::outcome::Status;

/// Servers that an annotation names.
const NAMED: usize = 5;

pub fn render(matrix: &Matrix) -> String {
    let rules = matrix.failures.iter().map(rule);
    let untested = matrix.rows.iter().filter_map(untested);
    rules.chain(untested).collect()
}

fn rule(common: &Common) -> String {
    let command = match common.status {
        Status::Fail | Status::Broken => "error",
        Status::Known => "notice",
        _ => "warning",
    };
    let mut named: Vec<String> = common.named.iter().take(NAMED).cloned().collect();
    if common.servers > named.len() {
        named.push(format!("{} more", common.servers - named.len()));
    }
    let on = format!("{} on {}", verb(common.status), named.join(", "));
    annotation(command, &common.rule, &[&common.statement, &on])
}

fn untested(row: &Row) -> Option<String> {
    Some(annotation("error", &row.name, &[row.note.as_ref()?]))
}

fn annotation(command: &str, title: &str, lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| plain(&flow(line)).into_owned()).collect();
    format!("::{command} title={}::{}\n", property(&format!("mcp-conform: {title}")), data(&lines.join("\n")))
}
