//! The active configuration file, and its name in reports.

use std::path::{Component, Path, PathBuf};

use crate::{
    cli::{Accept, FailOn, RunArgs, TargetArgs},
    config::{self, Config},
    error::Error,
    run::process::Surroundings,
};

/// The active configuration, if there is one.
pub fn config(args: &TargetArgs, surroundings: &Surroundings) -> Result<Option<Config>, Error> {
    wanted(args, surroundings).map(|file| config::load(&file, surroundings.color)).transpose()
}

/// The options of the command line, completed by the configuration. Its mistakes are reported when it is read again.
pub fn with_settings(args: &RunArgs, surroundings: &Surroundings) -> RunArgs {
    let mut args = args.clone();
    let Ok(Some(Config { settings, .. })) = config(&args.target, surroundings) else { return args };
    let output = &mut args.output;
    output.strict |= settings.strict;
    if args.profiles.profile.is_empty() {
        args.profiles.profile = settings.profiles;
    }
    args.profiles.fail_on.extend(settings.fail_on_profile.then_some(FailOn::Profile));
    output.accept.extend(settings.accept_sdk.then_some(Accept::Sdk));
    if !args.fail_fast {
        args.retries = args.retries.or(settings.retries);
        args.flaky = args.flaky.or(settings.flaky.filter(|_| args.retries.is_some()));
    }
    if output.forms.report.is_empty() {
        output.forms.report = settings.report;
    }
    if output.baseline.is_none() && output.write_baseline.is_none() {
        output.baseline = settings.baseline;
    }
    args
}

/// The reference server has no use for any.
fn wanted(args: &TargetArgs, surroundings: &Surroundings) -> Option<PathBuf> {
    if args.reference { None } else { file(args.config.as_deref(), surroundings) }
}

/// The file of the options, or the one that is found.
pub fn file(typed: Option<&Path>, surroundings: &Surroundings) -> Option<PathBuf> {
    typed.map(Path::to_owned).or_else(|| surroundings.directory.as_deref().and_then(config::find))
}

/// The path of the configuration as seen from here. A file in a parent directory is shown by its name alone.
pub fn shown(args: &TargetArgs, surroundings: &Surroundings) -> Option<String> {
    let file = wanted(args, surroundings)?;
    let here = surroundings.directory.as_deref().unwrap_or(Path::new(""));
    let below = file.strip_prefix(here).unwrap_or(&file);
    let is_below = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let shown = if is_below { below } else { Path::new(file.file_name()?) };
    let parts = shown.components().filter(|part| *part != Component::CurDir);
    Some(parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"))
}

/// These suites, and those that the configuration of the current directory names.
pub fn with_own_suites(named: &[PathBuf], surroundings: &Surroundings) -> Result<Vec<PathBuf>, Error> {
    let file = surroundings.directory.as_deref().and_then(config::find);
    let configured = file.map(|file| config::load(&file, surroundings.color)).transpose()?;
    let configured = configured.map(|config| config.suites).unwrap_or_default();
    Ok(named.iter().cloned().chain(configured).collect())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn typed(line: &[&str]) -> TargetArgs {
        let Ok(Cli { command: Command::Run(args), .. }) = Cli::try_parse_from([&["mcp-conform", "run"], line].concat())
        else {
            panic!("{line:?} is no run");
        };
        args.target
    }

    #[test]
    fn a_configuration_is_named_as_a_checkout_knows_it() {
        let here = Surroundings { directory: Some("/work/here".into()), ..Surroundings::of_process(false, 80) };
        for (file, name) in [
            ("/work/here/mcp-conform.toml", "mcp-conform.toml"),
            ("./conf/a b.toml", "conf/a b.toml"),
            ("/work/mcp-conform.toml", "mcp-conform.toml"),
            ("../other.toml", "other.toml"),
        ] {
            assert_eq!(shown(&typed(&["--config", file]), &here).as_deref(), Some(name));
        }
        assert_eq!(shown(&typed(&["--reference"]), &here), None);
    }
}
