//! Profiles: suites about what one named host rejects, drops or cuts.

use conform_model::outcome::Level;

/// What makes a suite a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    /// A date, `2026-11-29`.
    pub as_of: String,
    pub host: String,
    /// The profile that this one extends, with its date.
    pub extends: Option<String>,
}

impl Profile {
    pub fn dated(&self) -> String {
        format!("{}@{}", self.name, self.as_of)
    }
}

/// How it is known what a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    Page,
    Source,
    Maintainer,
    Threads,
    Thread,
    Secondhand,
}

impl Certainty {
    pub const ALL: [(&'static str, Self); 6] = [
        ("page", Self::Page),
        ("source", Self::Source),
        ("maintainer", Self::Maintainer),
        ("threads", Self::Threads),
        ("thread", Self::Thread),
        ("secondhand", Self::Secondhand),
    ];

    /// For the report.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Page => "a page of the host",
            Self::Source => "the source of the host",
            Self::Maintainer => "a maintainer of the host",
            Self::Threads => "several threads with the host's error",
            Self::Thread => "one thread",
            Self::Secondhand => "a tool or article that quotes the host's page",
        }
    }
}

/// The part of a tool that a fix changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    Name,
    Title,
    Hints,
    Description,
    InputSchema,
    OutputSchema,
}

impl Fix {
    pub const ALL: [(&'static str, Self); 6] = [
        ("name", Self::Name),
        ("title", Self::Title),
        ("hints", Self::Hints),
        ("description", Self::Description),
        ("input-schema", Self::InputSchema),
        ("output-schema", Self::OutputSchema),
    ];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, fix)| *fix == self).map_or("", |(word, _)| word)
    }
}

/// The level that a profile gives to a rule of the one that it extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelWord {
    Fail,
    Warn,
    Advice,
    Off,
}

impl LevelWord {
    pub const ALL: [(&'static str, Self); 4] =
        [("fail", Self::Fail), ("warn", Self::Warn), ("advice", Self::Advice), ("off", Self::Off)];

    /// `None`: the rule is not judged.
    pub const fn level(self) -> Option<Level> {
        match self {
            Self::Fail => Some(Level::Fail),
            Self::Warn => Some(Level::Warn),
            Self::Advice => Some(Level::Advice),
            Self::Off => None,
        }
    }
}
