//! `mcp-conform report`: processes reports that were written as JSON.

use std::{fs, path::Path};

use indexmap::IndexMap;

use super::bundle;

use crate::{
    assess::verdict::total,
    cli::ReportCommand,
    error::{Error, exit},
    judge::profiles,
    outcome::{Flaky, RuleResult, RunReport, Served, Status},
    partition::Partition,
    report,
    revision::Revision,
    run::{
        process::{Surroundings, console},
        results::outputs,
    },
};

pub fn report(command: &ReportCommand, surroundings: &Surroundings) -> Result<u8, Error> {
    match command {
        ReportCommand::Render { file, forms } => {
            let outputs = outputs::wanted(forms)?;
            let report = read(file)?;
            outputs::write(&outputs, &report, forms, surroundings)?;
            Ok(report.exit_code)
        }
        ReportCommand::Merge { files, forms } => {
            let outputs = outputs::wanted(forms)?;
            let reports = files.iter().map(|file| Ok((file.as_path(), tested(file, read(file)?)?)));
            let reports: Vec<(&Path, RunReport)> = reports.collect::<Result<_, Error>>()?;
            check_all_parts_present(&reports)?;
            let mut reports = reports.into_iter();
            let (_, first) = reports.next().ok_or_else(|| Error::usage("there is no report to merge"))?;
            let mut merged = reports.try_fold(first, join)?;
            merged.partition.clear();
            total(&mut merged);
            merged.settle_profiles();
            outputs::write(&outputs, &merged, forms, surroundings)?;
            Ok(merged.exit_code)
        }
        ReportCommand::Bundle(args) => bundle::bundle(args, surroundings),
        ReportCommand::Verify { file } => bundle::verify(file, surroundings),
        ReportCommand::Diff { old, new } => {
            let (old, new) = (read(old)?, read(new)?);
            let is_shared = |revision: &Revision| old.revisions.contains(revision);
            if !new.revisions.is_empty() && !old.revisions.is_empty() && !new.revisions.iter().any(is_shared) {
                return Err(Error::Usage {
                    message: format!(
                        "the reports are of different revisions: {} and {}",
                        report::revisions(&old.revisions),
                        report::revisions(&new.revisions)
                    ),
                    help: Some("test both with the same --revision".into()),
                });
            }
            console::say(report::compare(&old, &new).trim_end());
            let fresh = new.rules.iter().any(|rule| fails(&new, rule) && !failed(&old, rule));
            // A run that ended early cannot show that nothing got worse.
            let is_incomplete = new.exit_code >= exit::UNREACHABLE;
            if is_incomplete {
                console::say(&format!("the new report is of a run without all results: {}", report::meaning(&new)));
            }
            Ok(match fresh {
                true => exit::FAILED,
                false if is_incomplete => new.exit_code,
                false => exit::CONFORMING,
            })
        }
    }
}

fn failed(old: &RunReport, rule: &RuleResult) -> bool {
    old.rules.iter().any(|known| same(known, rule) && fails(old, known))
}

fn fails(report: &RunReport, rule: &RuleResult) -> bool {
    rule.status == Status::Fail || report.is_flaky_failure(rule)
}

fn same(one: &RuleResult, other: &RuleResult) -> bool {
    one.id == other.id && one.revision == other.revision
}

pub fn read(path: &Path) -> Result<RunReport, Error> {
    let text = fs::read_to_string(path).map_err(|source| console::failed(path, "read", source))?;
    report::read(&text).map_err(|why| Error::Usage {
        message: format!("`{}`: {why}", path.display()),
        help: Some("`mcp-conform run ... --report json=PATH` writes one".into()),
    })
}

/// Rejects a report without results: the merged report would not show that they are missing.
fn tested(path: &Path, report: RunReport) -> Result<RunReport, Error> {
    match report.cause() {
        None => Ok(report),
        Some(cause) => Err(Error::Usage {
            message: format!("`{}` has no results: {cause}", path.display()),
            help: Some("run this part again".into()),
        }),
    }
}

/// Rejects an incomplete set of parts: the merged report would pass requirements that were never tested.
fn check_all_parts_present(reports: &[(&Path, RunReport)]) -> Result<(), Error> {
    // Each revision may have been partitioned separately.
    let mut parts: IndexMap<&[Revision], Vec<Partition>> = IndexMap::new();
    for (_, report) in reports {
        let of_report = report.partition.iter().filter_map(|part| part.parse::<Partition>().ok());
        parts.entry(&report.revisions).or_default().extend(of_report);
    }
    parts.values().find_map(|parts| Partition::gap(parts)).map_or(Ok(()), |gap| {
        Err(Error::Usage {
            message: gap,
            help: Some(
                "pass the JSON report of each part once: `mcp-conform run --partition PART --report json=PATH`".into(),
            ),
        })
    })
}

/// Merges two parts of a run. If both judged a rule, the worse status counts.
fn join(mut merged: RunReport, (path, part): (&Path, RunReport)) -> Result<RunReport, Error> {
    if (&part.target.name, &part.target.transport) != (&merged.target.name, &merged.target.transport) {
        return Err(Error::Usage {
            message: format!(
                "`{}` is a report of {} over {}, not of {} over {}",
                path.display(),
                part.target.name,
                part.target.transport,
                merged.target.name,
                merged.target.transport
            ),
            help: Some("only parts of one run can be merged".into()),
        });
    }
    join_rules(&mut merged.rules, part.rules);
    for profile in part.profiles {
        match merged.profiles.iter_mut().find(|known| known.dated() == profile.dated()) {
            Some(known) => {
                join_rules(&mut known.rules, profile.rules);
                for one in profile.affected {
                    if !known.affected.contains(&one) {
                        known.affected.push(one);
                    }
                }
                profiles::total(known);
            }
            None => merged.profiles.push(profile),
        }
    }
    merged.fail_on_profile |= part.fail_on_profile;
    for note in part.notes {
        if !merged.notes.contains(&note) {
            merged.notes.push(note);
        }
    }
    for limit in part.limits {
        if !merged.limits.contains(&limit) {
            merged.limits.push(limit);
        }
    }
    for served in part.served {
        let same = |known: &&mut Served| (known.offer, known.revision) == (served.offer, served.revision);
        match merged.served.iter_mut().find(same) {
            Some(known) => known.merge(&served),
            None => merged.served.push(served),
        }
    }
    merged.outdated.extend(part.outdated);
    merged.outdated_entries.extend(part.outdated_entries);
    merged.cut_short = merged.cut_short.or(part.cut_short);
    merged.revisions.extend(part.revisions);
    merged.revisions.sort_unstable();
    merged.revisions.dedup();
    merged.started = merged.started.min(part.started);
    merged.ms = merged.ms.saturating_add(part.ms);
    merged.strict |= part.strict;
    // As strict as its strictest part.
    merged.flaky = if part.flaky == Flaky::Fail { part.flaky } else { merged.flaky };
    Ok(merged)
}

fn join_rules(merged: &mut Vec<RuleResult>, rules: Vec<RuleResult>) {
    for rule in rules {
        match merged.iter_mut().find(|known| same(known, &rule)) {
            Some(known) if rule.status < known.status => *known = rule,
            Some(_) => {}
            None => {
                let fellow = |known: &RuleResult| known.suite == rule.suite && known.revision == rule.revision;
                let place = merged.iter().rposition(fellow).map_or(merged.len(), |last| last + 1);
                merged.insert(place, rule);
            }
        }
    }
}
