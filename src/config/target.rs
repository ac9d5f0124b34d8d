//! The targets of the file, and the one to test.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Map, Value, json};

use conform_sdks::LEDGERS;

use super::{
    Config, Environment, Origin,
    auth::{self, DescribedAuth},
    expand::fill,
    folder, keys, refused,
};
use crate::{
    error::Error,
    evidence::Transport,
    outcome::Sdk,
    suite::{
        diagnostic::{Problems, suggestion},
        yaml::{At, Position},
    },
    target::{Program, Start, Target, command_line, shown_url},
};

/// A target as in the file. Its variables are not replaced yet, so those of other targets need not be set.
#[derive(Debug)]
pub struct Described {
    pub name: String,
    pub at: Position,
    pub default: bool,
    /// Facts about this server only.
    pub facts: Map<String, Value>,
    /// The unchanged definition in the file.
    text: Value,
    how: How,
    env: Vec<(At<String>, At<String>)>,
    headers: Vec<(At<String>, At<String>)>,
    cwd: PathBuf,
    auth: Option<DescribedAuth>,
    sdk: Option<Sdk>,
    origin: Arc<Origin>,
}

#[derive(Debug)]
enum How {
    Stdio(Vec<String>),
    Http(String),
    Sse(String),
}

pub fn read(
    name: &At<String>,
    keys: keys::Target,
    text: Value,
    origin: &Arc<Origin>,
    problems: &mut Problems,
) -> Option<Described> {
    for url in keys
        .http
        .iter()
        .chain(&keys.sse)
        .filter(|url| !url.value.starts_with("http://") && !url.value.starts_with("https://"))
    {
        problems.add(url.at, "expected an http or https URL");
    }
    if keys.typed.count(&["stdio", "http", "sse"]) != 1 {
        problems.add(name.at, "a target needs exactly one of `stdio`, `http` and `sse`");
    }
    let over_stdio = keys.typed.has("stdio");
    for (key, wanted) in [("env", true), ("cwd", true), ("headers", false), ("auth", false)] {
        if over_stdio != wanted && keys.typed.has(key) {
            let whose = if wanted { "a target over stdio" } else { "a target over HTTP" };
            problems.add(keys.typed.place(key), format!("`{key}` is only for {whose}"));
        }
    }
    let how = match (keys.stdio.map(|argv| argv.0), keys.http, keys.sse) {
        (Some(argv), None, None) if argv.is_empty() => {
            problems.add(name.at, "`stdio` must be a program and its arguments");
            None
        }
        (Some(argv), None, None) => Some(How::Stdio(argv)),
        (None, Some(url), None) => Some(How::Http(url.value)),
        (None, None, Some(url)) => Some(How::Sse(url.value)),
        _ => None,
    };
    Some(Described {
        name: name.value.clone(),
        at: name.at,
        default: keys.default.unwrap_or(false),
        facts: Map::new(),
        text,
        how: how?,
        env: keys.env.map(|pairs| pairs.0).unwrap_or_default(),
        headers: keys.headers.map(|pairs| pairs.0).unwrap_or_default(),
        auth: keys.auth.map(|keys| auth::read(keys, problems)),
        sdk: keys.sdk.and_then(|named| sdk(&named, problems)),
        cwd: folder(&origin.file).join(keys.cwd.unwrap_or_default()),
        origin: origin.clone(),
    })
}

impl Config {
    /// The target of that name; without a name the default one, or the only one. `None` if the file has no targets.
    pub fn target(&self, name: Option<&str>, environment: &Environment, color: bool) -> Result<Option<Target>, Error> {
        self.described(name)?.map(|described| filled(described, environment, color)).transpose()
    }

    /// `$facts` for that target: facts about all targets, overridden by facts about this one.
    pub fn facts(&self, name: Option<&str>) -> Result<Value, Error> {
        let mut facts = self.facts.clone();
        for (fact, value) in self.described(name)?.into_iter().flat_map(|described| &described.facts) {
            facts[fact] = value.clone();
        }
        Ok(facts)
    }

    /// The names of all targets, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(|target| target.name.as_str())
    }

    /// The unchanged definition of a target, without variables replaced.
    pub fn definition(&self, name: &str) -> Result<Value, Error> {
        Ok(json!([self.facts, self.described(Some(name))?.map(|described| &described.text)]))
    }

    fn described(&self, name: Option<&str>) -> Result<Option<&Described>, Error> {
        Ok(match (name, self.targets.as_slice()) {
            (Some(name), targets) => {
                Some(targets.iter().find(|target| target.name == name).ok_or_else(|| Error::Usage {
                    message: format!("{} has no target `{name}`", self.file.display()),
                    help: suggestion(name, self.names()),
                })?)
            }
            (None, []) => None,
            (None, [only]) => Some(only),
            (None, several) => Some(several.iter().find(|target| target.default).ok_or_else(|| Error::Usage {
                message: format!("{} has several targets", self.file.display()),
                help: Some(format!(
                    "name one of {}, or set `default = true` on one",
                    self.names().collect::<Vec<_>>().join(", ")
                )),
            })?),
        })
    }
}

/// An SDK that is known by this name.
fn sdk(named: &At<String>, problems: &mut Problems) -> Option<Sdk> {
    let (sdk, known) = (Sdk::parse(&named.value), || LEDGERS.iter().map(|of| of.sdk.as_str()));
    if known().any(|package| package == sdk.package) {
        return Some(sdk);
    }
    let help = suggestion(&sdk.package, known())
        .or_else(|| Some(format!("known: {}", known().collect::<Vec<_>>().join(", "))));
    problems.add_with(named.at, format!("nothing is known of an SDK `{}`", sdk.package), help);
    None
}

/// The target with variables of the environment replaced.
fn filled(described: &Described, environment: &Environment, color: bool) -> Result<Target, Error> {
    let origin = &described.origin;
    let mut problems = Problems::new(&origin.file.display().to_string(), &origin.text);
    let mut secrets = Vec::new();
    let mut filled = |pairs: &[(At<String>, At<String>)]| fill(pairs, environment, &mut secrets, &mut problems);
    let (env, headers) = (filled(&described.env), filled(&described.headers));
    let directory = folder(&origin.file);
    let auth =
        described.auth.as_ref().map(|auth| Box::new(auth.filled(environment, directory, &mut secrets, &mut problems)));
    let mistakes = problems.into_diagnostics();
    if !mistakes.is_empty() {
        return Err(refused(&mistakes, color));
    }
    let start = match &described.how {
        How::Stdio(argv) => Start::Program(Program { argv: argv.clone(), env, cwd: Some(described.cwd.clone()) }),
        How::Http(url) => Start::over(Transport::Http, url.clone(), headers),
        How::Sse(url) => Start::over(Transport::Sse, url.clone(), headers),
    };
    let name = match &described.how {
        How::Stdio(argv) => command_line(argv),
        How::Http(url) | How::Sse(url) => shown_url(url),
    };
    Ok(Target { secrets, auth, sdk: described.sdk.clone(), ..Target::new(name, start) })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use serde_json::json;

    use super::super::*;
    use crate::{error::Error, target::Source};

    #[test]
    fn a_file_named_without_a_folder_lies_in_this_one() {
        assert_eq!(folder(Path::new("one.toml")), Path::new("."));
        assert_eq!(folder(Path::new("/a/one.toml")), Path::new("/a"));
    }

    fn loaded(text: &str) -> Result<Config, String> {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join(FILE);
        fs::write(&file, text).expect("a file");
        load(&file, false).map_err(|error| error.to_string())
    }

    #[test]
    fn a_target_is_named_default_or_the_only_one() {
        let environment = Environment::from([("TOKEN".into(), "s3cret-value".into())]);
        let config = loaded(
            "[targets.a]\nstdio = [\"./server\", \"-q\"]\nenv = { T = \"x ${TOKEN}\" }\n[targets.b]\nhttp = \"http://h/mcp\"\ndefault = true\n",
        )
        .expect("it is good");
        let a = config.target(Some("a"), &environment, false).expect("it is there").expect("it is there");
        assert_eq!((a.name.as_str(), a.secrets), ("./server -q", vec!["s3cret-value".to_owned()]));
        assert_eq!(a.start.program().expect("over stdio").env, [("T".to_owned(), "x s3cret-value".to_owned())]);
        let chosen = config.target(None, &environment, false).expect("it is there").expect("it is there");
        assert_eq!(chosen.name, "http://h/mcp");
        let unset = config.target(Some("a"), &Environment::new(), false).expect_err("TOKEN is not set").to_string();
        assert!(unset.contains(":3:") && unset.contains("variable `TOKEN` is not set"), "{unset}");
        assert!(matches!(config.target(Some("c"), &environment, false), Err(Error::Usage { .. })));
    }

    #[test]
    fn several_targets_need_a_choice_and_none_is_no_mistake() {
        let none = Environment::new();
        let config =
            loaded("[targets.a]\nhttp = \"http://a\"\n[targets.b]\nhttp = \"http://b\"\n").expect("it is good");
        assert!(config.target(None, &none, false).is_err());
        assert!(loaded("").expect("it is good").target(None, &none, false).expect("no mistake").is_none());
    }

    #[test]
    fn every_mistake_is_shown_with_place_and_nearest_name() {
        let text = "[targets.a]\nhtpp = \"http://a\"\n[facts]\nmising_uri = \"x:y\"\nprefix = 7\n[facts.change]\ntool = \"t\"\ncommand = [\"c\"]\n";
        let mistakes = loaded(text).expect_err("it is not good");
        for part in
            [":2:1", "did you mean `http`?", ":4:1", "did you mean `missing_uri`?", ":5:10", "one of `tool`, `command`"]
        {
            assert!(mistakes.contains(part), "{part} is not in\n{mistakes}");
        }
        assert!(mistakes.contains("6 mistakes"), "{mistakes}");
    }

    #[test]
    fn a_table_says_where_tokens_come_from() {
        let text = "[targets.a]\nhttp = \"http://a\"\n[targets.a.auth]\ntoken = \"${T}\"\n\
                    others = { expired = \"old\", second = [\"cmd\"] }\n";
        let environment = Environment::from([("T".into(), "geheim".into())]);
        let target = loaded(text).expect("it is good").target(None, &environment, false).expect("no mistake");
        let target = target.expect("a target");
        assert_eq!(target.secrets, ["geheim", "old"]);
        let auth = target.auth.expect("auth");
        assert!(matches!(&auth.own, Some(Source::Token(token)) if token == "geheim"));
        assert!(
            matches!(&auth.others[1], (name, Source::Command { argv, .. }) if name == "second" && argv == &["cmd"])
        );
        let text = "[targets.a]\nhttp = \"http://a\"\n[targets.a.auth]\ntoken = \"t\"\ncommand = [\"c\"]\nclient_id = \"i\"\n\
                    others = { expird = \"old\" }\n[targets.b]\nstdio = [\"s\"]\nauth = { token = \"t\" }\n";
        let mistakes = loaded(text).expect_err("it is not good");
        for part in [
            "require each other",
            "exactly one of `token`",
            "did you mean `expired`?",
            "`auth` is only for a target over HTTP",
        ] {
            assert!(mistakes.contains(part), "{part} is not in\n{mistakes}");
        }
    }

    #[test]
    fn a_command_on_a_line_is_told_as_a_list() {
        let mistakes = loaded("[targets.a]\nstdio = \"node 'my server.js' -q\"\n").expect_err("it is not good");
        for part in [":2:9", r#"write `stdio = ["node", "my server.js", "-q"]`"#] {
            assert!(mistakes.contains(part), "{part} is not in\n{mistakes}");
        }
    }

    #[test]
    fn limits_have_names_and_places() {
        let config = loaded("[limits]\nrequest = 2.5\nwalk_nodes = 7\n").expect("it is good");
        assert_eq!((config.limits.request.as_millis(), config.limits.walk.nodes), (2500, Some(7)));
        let mistakes = loaded("[limits]\nrequests = 3\nrun = \"long\"\n").expect_err("it is not good");
        for part in [":2:1", "did you mean `request`?", ":3:7", "takes a number of seconds above 0"] {
            assert!(mistakes.contains(part), "{part} is not in\n{mistakes}");
        }
    }

    #[test]
    fn facts_and_tools_become_what_rules_see() {
        let config =
            loaded("[facts.change]\nuri = \"a:b\"\ntool = \"t\"\n[tools.t]\nwith = { n = 1 }\n").expect("it is good");
        assert_eq!(config.facts["change"]["tool"], "t");
        assert_eq!(config.facts["tools"]["t"]["with"]["n"], 1);
    }

    #[test]
    fn what_a_target_says_of_itself_stands_in_place_of_what_the_file_says_of_all() {
        let text = "[targets.a]\nhttp = \"http://a\"\n[targets.a.facts]\nprefix = \"own:\"\n\
                    [targets.a.tools.t]\nwith = { n = 1 }\n[targets.b]\nhttp = \"http://b\"\n\
                    [facts]\nprefix = \"all:\"\nmissing_uri = \"x:y\"\n";
        let config = loaded(text).expect("it is good");
        let (a, b) = (config.facts(Some("a")).expect("a target"), config.facts(Some("b")).expect("a target"));
        assert_eq!(
            (&a["prefix"], &a["missing_uri"], &a["tools"]["t"]["with"]["n"]),
            (&json!("own:"), &json!("x:y"), &json!(1))
        );
        assert_eq!((&b["prefix"], &b["tools"]), (&json!("all:"), &json!(null)));
        assert_ne!(config.definition("a").expect("a target"), config.definition("b").expect("a target"));
        let mistakes =
            loaded("[targets.a]\nhttp = \"http://a\"\nfacts = { prefx = \"p\" }\n").expect_err("it is not good");
        assert!(mistakes.contains(":3:") && mistakes.contains("did you mean `prefix`?"), "{mistakes}");
    }
}
