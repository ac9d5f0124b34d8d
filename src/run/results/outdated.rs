//! `--update-baseline`: removes the entries that now pass from a list of known failures.

use std::{fs, path::Path};

use crate::{
    assess::verdict::total,
    error::Error,
    outcome::RunReport,
    run::process::console::{complain, failed},
};

/// Removes the entries that now pass from the file. Nothing else in it changes.
///
/// `count`: the number of entries of a list.
pub fn update(
    path: &Path,
    report: &mut RunReport,
    count: impl Fn(&str) -> Result<usize, toml::de::Error>,
) -> Result<(), Error> {
    let text = fs::read_to_string(path).map_err(|source| failed(path, "read", source))?;
    let lines: Vec<usize> = report.outdated_entries.iter().map(|entry| entry.line).collect();
    let shorter = without(&text, &lines).and_then(|shorter| {
        // A text in an entry may look like the head of another one.
        let left = count(&shorter).map_err(|why| why.to_string())?;
        let is_right = count(&text).is_ok_and(|all| left + lines.len() == all);
        if is_right { Ok(shorter) } else { Err("it is unclear where its entries end".to_owned()) }
    });
    let text = shorter.map_err(|why| Error::Usage {
        message: format!("`{}` cannot be updated: {why}", path.display()),
        help: Some("write each entry as a table [[known]], or use --write-baseline".into()),
    })?;
    fs::write(path, text).map_err(|source| failed(path, "write", source))?;
    let entries = if lines.len() == 1 { "entry that now passes" } else { "entries that now pass" };
    complain(&format!("updated {}: removed {} {entries}", path.display(), lines.len()));
    report.notes.retain(|note| !report.outdated.contains(note));
    report.outdated.clear();
    report.outdated_entries.clear();
    total(report);
    Ok(())
}

/// The text of a list without the entries whose rules are on these lines.
fn without(text: &str, rules: &[usize]) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_head = |line: &&str| line.trim_start().starts_with("[[");
    let mut kept = vec![true; lines.len()];
    for rule in rules {
        let before = lines.get(..*rule).and_then(|before| before.iter().rposition(is_head));
        let head = before.ok_or_else(|| format!("the entry on line {rule} is not a table of its own"))?;
        // Comments right before an entry belong to it.
        let is_comment = |line: &&&str| line.trim_start().starts_with('#');
        let begin = head - lines[..head].iter().rev().take_while(is_comment).count();
        let next = lines[*rule..].iter().position(is_head).map_or(lines.len(), |next| rule + next);
        let is_its_own = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let end = match next < lines.len() {
            true => lines[..next].iter().rposition(is_its_own).map_or(next, |last| last + 1),
            false => next,
        };
        let gap = lines[end..next].iter().take_while(|line| line.trim().is_empty()).count();
        kept[begin..end + gap].fill(false);
    }
    let shorter: String = lines.into_iter().zip(kept).filter_map(|(line, kept)| kept.then_some(line)).collect();
    Ok(shorter.trim_end().to_owned() + "\n")
}
