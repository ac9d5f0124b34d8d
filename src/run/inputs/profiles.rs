//! The profiles of a run: built-in ones by name and date, and files of the user.

use std::{collections::BTreeSet, path::Path, sync::OnceLock};

use super::suites::{known, refused};
use crate::{
    config::is_profile_file,
    error::Error,
    evidence::Side,
    plan::nearest,
    run::process::console::failed,
    suite::{self, Diagnostic, Known, Origin, Suite},
};

/// The name of all built-in profiles, apart from that of the rules that several hosts share.
const ALL: &str = "all";
const PORTABLE: &str = "portable";

/// The profiles with these names, or in these files, each once.
pub fn load(named: &[String], color: bool) -> Result<Vec<Suite>, Error> {
    let mut names: Vec<String> = Vec::new();
    for name in named {
        let of_name = match name.as_str() {
            ALL => this_name(newest()).filter(|name| name != PORTABLE).collect(),
            name => vec![name.to_owned()],
        };
        for name in of_name {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let profiles: Vec<Suite> = names.iter().map(|name| one(name, color)).collect::<Result<_, _>>()?;
    let mut dated = BTreeSet::new();
    for profile in profiles.iter().filter_map(|suite| suite.profile.as_ref()) {
        if !dated.insert(&profile.name) {
            return Err(Error::usage(format!("the profile `{}` is named twice", profile.name)));
        }
    }
    Ok(profiles)
}

/// The newest snapshot of each built-in profile.
pub fn newest() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let all: Vec<_> = suite::profiles().collect();
    // They are ordered by name and date.
    let newest: Vec<_> = all.chunk_by(|a, b| a.0 == b.0).filter_map(<[_]>::last).copied().collect();
    newest.into_iter()
}

fn this_name(
    profiles: impl Iterator<Item = (&'static str, &'static str, &'static str)>,
) -> impl Iterator<Item = String> {
    profiles.map(|(name, ..)| name.to_owned())
}

/// The built-in suites about servers and authorization servers, and all profiles: what faults are proved with.
pub fn with_suites() -> Result<Vec<Suite>, Error> {
    let mut suites = super::suites::load(&[Side::Server, Side::AuthorizationServer], &[], false)?;
    suites.extend(built_in(false)?);
    Ok(suites)
}

/// All built-in profiles, the newest of each.
pub fn built_in(color: bool) -> Result<Vec<Suite>, Error> {
    newest().map(|(_, _, file)| of_file(file, color)).collect()
}

fn of_file(file: &str, color: bool) -> Result<Suite, Error> {
    suite::built_in_profile(file, names).map_err(|mistakes| refused(&mistakes, color))
}

/// What a profile may name: the survey has its lists, whatever the suites of the run are.
fn names() -> Known {
    // Debug builds read the faults from YAML, which takes longer than a profile.
    static NAMES: OnceLock<Known> = OnceLock::new();
    let survey = || ["tools", "resources", "templates", "prompts", "reads"].map(str::to_owned).to_vec();
    NAMES.get_or_init(|| Known { survey: survey(), ..known() }).clone()
}

fn one(name: &str, color: bool) -> Result<Suite, Error> {
    if is_profile_file(name) {
        return of_user(Path::new(name), color);
    }
    let file = file_of(name).map_err(|(message, help)| Error::Usage { message, help })?;
    of_file(file, color)
}

/// The profile in a file of the user.
pub fn of_user(path: &Path, color: bool) -> Result<Suite, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| failed(path, "read", source))?;
    from_text(&path.display().to_string(), &text).map_err(|mistakes| refused(&mistakes, color))
}

pub fn from_text(file: &str, text: &str) -> Result<Suite, Vec<Diagnostic>> {
    let find = |name: &str| {
        let file = file_of(name)?;
        suite::built_in_profile(file, names).map_err(|_| (format!("the profile `{name}` cannot be loaded"), None))
    };
    suite::profile((file, text), &names(), Origin::User, find)
}

/// The file of a built-in profile, or the message and help of an error.
fn file_of(name: &str) -> Result<&'static str, (String, Option<String>)> {
    let (name, date) = name.split_once('@').map_or((name, None), |(name, date)| (name, Some(date)));
    let dates: Vec<_> = suite::profiles().filter(|(known, ..)| *known == name).collect();
    let Some((_, _, newest)) = dates.last() else {
        let mut known: Vec<&str> = self::newest().map(|(name, ..)| name).collect();
        known.push(ALL);
        let meant = nearest(name, known.iter().copied()).map(|near| format!("did you mean {near}? "));
        let all = known.join(", ");
        return Err((
            format!("unknown profile `{name}`"),
            Some(format!("{}the profiles are {all}, or the path of a file", meant.unwrap_or_default())),
        ));
    };
    let Some(date) = date else { return Ok(newest) };
    dates.iter().find(|(_, known, _)| *known == date).map(|(_, _, file)| *file).ok_or_else(|| {
        let known = dates.iter().map(|(_, date, _)| *date).collect::<Vec<_>>().join(", ");
        (format!("the profile `{name}` has no snapshot of `{date}`"), Some(format!("its snapshots are {known}")))
    })
}

/// The suites that a filter selects from: those of the specification, and profiles.
pub fn with<'a>(suites: &'a [Suite], profiles: &'a [Suite]) -> Vec<&'a Suite> {
    suites.iter().chain(profiles).collect()
}

/// Whether a file is a profile: its suite names one.
pub fn is_profile(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("profile:"))
}
