//! `mcp-conform check`: validates suite files, offline.

use crate::{
    cli::CheckArgs,
    error::{Error, exit},
    evidence::Side,
    run::{
        inputs::{
            configured,
            suites::{self, load},
        },
        process::{Surroundings, console},
    },
    suite::Suite,
};

pub fn check(args: &CheckArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    // The configuration may name the same files.
    let own = match args.files.is_empty() {
        true => configured::with_own_suites(&[], surroundings)?,
        false => args.files.clone(),
    };
    let suites = load(&Side::ALL, &own, surroundings.color)?;
    let shown: Vec<&Suite> = if args.files.is_empty() {
        suites.iter().collect()
    } else {
        let names: Vec<String> = suites::read(&args.files)?.into_iter().map(|(name, _)| name).collect();
        suites.iter().filter(|suite| names.contains(&suite.file)).collect()
    };
    let rules: usize = shown.iter().map(|suite| suite.rules.len()).sum();
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    console::say(&format!("{} with {}: no mistakes", counted(shown.len(), "suite"), counted(rules, "rule")));
    Ok(exit::CONFORMING)
}
