//! `mcp-conform check`: validates suite files, offline.

use crate::{
    cli::CheckArgs,
    error::{Error, exit},
    evidence::Side,
    run::{
        inputs::{
            configured, profiles,
            suites::{self, load_texts},
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
    let (of_profiles, own): (Vec<_>, Vec<_>) =
        suites::read(&own)?.into_iter().partition(|(_, text)| profiles::is_profile(text));
    let mut suites = load_texts(&Side::ALL, &own, surroundings.color)?;
    suites.extend(profiles::built_in(surroundings.color)?);
    for (file, text) in &of_profiles {
        let profile = profiles::from_text(file, text);
        suites.push(profile.map_err(|mistakes| suites::refused(&mistakes, surroundings.color))?);
    }
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
