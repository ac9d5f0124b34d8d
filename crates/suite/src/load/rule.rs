//! Rules, and untested requirements.

use super::{Origin, lint::Lint, window::Window};
use crate::{
    decode::{OneOrMany, Pairs, Typed},
    file,
    model::{Clause, Every, Rule, Template, Test, Untested},
    path::Path,
};
use conform_model::{
    evidence::Side,
    outcome::{HostEvidence, Level},
};
use conform_source::yaml::At;

const LEVELS: [(&str, Level); 4] =
    [("must", Level::Must), ("should", Level::Should), ("advice", Level::Advice), ("may", Level::May)];
/// The levels of rules in profiles.
const LEVELS_OF_PROFILES: [(&str, Level); 3] =
    [("fail", Level::Fail), ("warn", Level::Warn), ("advice", Level::Advice)];

impl Lint<'_> {
    pub fn rule(&mut self, mut typed: file::Rule, outer: Window) -> Option<Rule> {
        let id = self.needs(&typed.typed, "id", typed.id.take());
        id.as_ref().inspect(|id| self.check_id(id));
        let level = self.level(&typed.typed);
        let statement = [
            typed.must.take(),
            typed.should.take(),
            typed.advice.take(),
            typed.may.take(),
            typed.fail.take(),
            typed.warn.take(),
        ];
        level.zip(statement.iter().flatten().next()).inspect(|(level, text)| self.check_keyword(*level, text));
        let sources = self.needs(&typed.typed, "source", typed.source.take()).map(|sources| sources.0);
        for blank in sources.iter().flatten().filter(|source| source.value.trim().is_empty()) {
            self.problems.add(blank.at, "`source` needs a page and an anchor");
        }
        let evidence = self.evidence(&typed, sources.as_deref().unwrap_or_default());
        let applies = self.applies(typed.applies.take(), outer);
        let faults = typed.faults.take().map(|faults| faults.0).unwrap_or_default();
        self.check_faults(&typed.typed, level, &faults);

        let names = self.names.len();
        let every = self.every(&mut typed);
        let filter = self.clauses(typed.r#where.take());
        let test = self.test(&mut typed, level);
        let shows = typed.shows.take().map(|shows| shows.0).unwrap_or_default();
        let shows: Vec<Path> = shows.iter().filter_map(|path| self.path(path)).collect();
        self.names.truncate(names);
        self.check_streams(&typed.typed, every.as_ref(), &filter, test.as_ref());

        Some(Rule {
            id: id?.value,
            level: level?,
            statement: level?.sentence(&statement.into_iter().flatten().next()?.value),
            source: sources?.into_iter().next()?.value,
            evidence,
            level_reason: None,
            derived: typed.derived.map(|derived| derived.value),
            applies,
            every,
            filter,
            test: test?,
            shows,
            if_all: typed.if_all.map(|text| text.value),
            after: texts(typed.after.map(|after| after.0).unwrap_or_default()),
            form: typed.form.unwrap_or(false),
            hint: typed.hint.map(|hint| hint.value),
            faults: texts(faults),
            line: typed.typed.at.line,
        })
    }

    pub fn untested(&mut self, typed: file::Untested) -> Option<Untested> {
        let id = self.needs(&typed.typed, "id", typed.id);
        id.as_ref().inspect(|id| self.check_id(id));
        let level = self.level(&typed.typed);
        let statement = [typed.must, typed.should, typed.advice, typed.may, typed.fail, typed.warn];
        let because = self.needs(&typed.typed, "because", typed.because);
        Some(Untested {
            id: id?.value,
            level: level?,
            statement: level?.sentence(&statement.into_iter().flatten().next()?.value),
            because: because?.value,
            source: typed.source.map(|source| source.value),
        })
    }

    /// Users type ids in filters, and ids are part of file names.
    pub fn check_id(&mut self, id: &At<String>) {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
        if id.value.is_empty() || !id.value.chars().all(fits) {
            self.problems.add(id.at, "an id has lower-case letters, digits, `-`, `_` and `.`");
        }
    }

    fn level(&mut self, own: &Typed) -> Option<Level> {
        let levels: &[_] = if self.is_profile { &LEVELS_OF_PROFILES } else { &LEVELS };
        let keys: Vec<&'static str> = levels.iter().map(|(key, _)| *key).collect();
        let key = self.just_one(own, &keys)?;
        levels.iter().find(|(level, _)| *level == key).map(|(_, level)| *level)
    }

    /// Of a rule in a profile: how the behavior of the host is known. A rule without evidence is none.
    fn evidence(&mut self, typed: &file::Rule, sources: &[At<String>]) -> Option<HostEvidence> {
        const OF_PROFILES: [&str; 5] = ["lost", "seen", "certainty", "host-version", "fix"];
        let own = &typed.typed;
        if !self.is_profile {
            for key in OF_PROFILES.into_iter().filter(|key| own.has(key)) {
                self.problems.add(own.place(key), format!("`{key}` is only for rules of profiles"));
            }
            if let [_, second, ..] = sources {
                self.problems.add(second.at, "a rule has one `source`");
            }
            return None;
        }
        if sources.is_empty() && own.has("source") {
            self.problems.add(own.place("source"), "`source` is empty: a rule without evidence is none");
        }
        let lost = self.needs(own, "lost", typed.lost);
        let seen = self.needs(own, "seen", typed.seen.clone());
        if let Some(seen) = &seen {
            self.check_date(seen);
        }
        let certainty = self.needs(own, "certainty", typed.certainty);
        Some(HostEvidence {
            lost: lost?,
            sources: sources.iter().map(|source| source.value.clone()).collect(),
            seen: seen?.value,
            certainty: certainty?.told().to_owned(),
            host_version: typed.host_version.clone().map(|version| version.value),
            fix: typed.fix.map(|fix| fix.word().to_owned()),
            in_sdk: None,
        })
    }

    /// A rule that states another level than it has misleads readers of the report.
    fn check_keyword(&mut self, level: Level, statement: &At<String>) {
        let words = |text: &str| statement.value.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word == text);
        let stated = LEVELS.iter().find(|(key, _)| words(&key.to_uppercase()));
        if let Some((key, _)) = stated.filter(|(_, stated)| *stated != level) {
            let (own, keyword) = (level.word(), key.to_uppercase());
            let help = format!("write `{key}: ...`, or another word than {keyword}");
            self.problems.add_with(statement.at, format!("a rule with `{own}` says {keyword}"), help);
        }
    }

    fn check_faults(&mut self, own: &Typed, level: Option<Level>, faults: &[At<String>]) {
        // Those of the reference client and gateway are not part of the program: the proof checks their names.
        if self.subject == Side::Server {
            for fault in faults {
                self.one_known(fault, "fault", &self.known.faults);
            }
        }
        let proves_itself = self.origin != Origin::BuiltIn || level.is_none_or(|level| level == Level::May);
        if faults.is_empty() && !proves_itself {
            let help = "a fault of the reference server, or for a suite about clients of the reference client, about gateways of the reference gateway, proves that the rule can fail".to_owned();
            self.problems.add_with(own.place("faults"), "a rule above `may` needs `faults`", help);
        }
    }

    /// Brings the loop variable into scope.
    fn every(&mut self, typed: &mut file::Rule) -> Option<Every> {
        let mut pairs = typed.every.take()?.0.0.into_iter();
        let (Some((var, OneOrMany(paths))), None) = (pairs.next(), pairs.next()) else {
            let help = "write `every: { read: $survey.reads }`".to_owned();
            self.problems.add_with(typed.typed.place("every"), "`every` names one variable", help);
            return None;
        };
        if paths.is_empty() {
            self.problems.add(var.at, "`every` needs at least one path");
        }
        let over: Vec<Path> = paths.iter().filter_map(|path| self.path(path)).collect();
        self.new_name(&var);
        self.names.push(var.value.clone());
        self.goes_over(&var.value, &over.iter().collect::<Vec<_>>());
        Some(Every { var: var.value, over })
    }

    fn test(&mut self, typed: &mut file::Rule, level: Option<Level>) -> Option<Test> {
        let own = &typed.typed;
        let key = self.just_one(own, &["expect", "check", "observe"])?;
        if level == Some(Level::May) && key != "observe" {
            self.problems.add(own.place(key), format!("a `may` rule needs `observe`, not `{key}`"));
        } else if level.is_some_and(|level| level != Level::May) && key == "observe" {
            self.problems.add(own.place(key), "`observe` is only for `may`; this rule needs `expect` or `check`");
        }
        if key != "check" && own.has("given") {
            self.problems.add(own.place("given"), "`given` needs `check`");
        }
        let test = match key {
            "expect" => {
                let clauses = typed.expect.take()?;
                if clauses.1 == 0 {
                    self.problems.add(typed.typed.place(key), "`expect` is empty");
                }
                self.check_words(&clauses);
                Test::Expect(self.clauses(Some(clauses)))
            }
            "observe" => {
                let paths = typed.observe.take()?.0;
                if paths.is_empty() {
                    self.problems.add(typed.typed.place(key), "`observe` is empty");
                }
                Test::Observe(paths.iter().filter_map(|path| self.path(path)).collect())
            }
            _ => self.check(typed)?,
        };
        Some(test)
    }

    /// A finding of a built-in rule must not show a filter or a regular expression, so such a clause needs `says`.
    fn check_words(&mut self, clauses: &Pairs<file::Matcher>) {
        if self.origin != Origin::BuiltIn {
            return;
        }
        for (subject, matcher) in clauses.0.iter().filter(|(_, matcher)| matcher.says.is_none()) {
            let what = match subject.value.contains("[?") {
                true => "filter",
                false if matcher.has_pattern() => "pattern",
                false => continue,
            };
            let help = "add `says: expected ...`, or what was received where it must not be".to_owned();
            self.problems.add_with(
                subject.at,
                format!("a finding would print this {what}: add `says` to the clause"),
                help,
            );
        }
    }

    /// Streamed items are judged one at a time and not kept. So `every` cannot combine a stream with saves, and only
    /// `every` can range over two streams.
    fn check_streams(&mut self, own: &Typed, every: Option<&Every>, filter: &[Clause], test: Option<&Test>) {
        let mut beside: Vec<&Path> = filter.iter().map(|clause| &clause.subject).collect();
        match test {
            Some(Test::Expect(clauses)) => beside.extend(clauses.iter().map(|clause| &clause.subject)),
            Some(Test::Observe(paths)) => beside.extend(paths),
            Some(Test::Check { given, .. }) => beside.extend(given.iter().flat_map(|(_, given)| given.references())),
            None => {}
        }
        let over: Vec<&Path> = every.into_iter().flat_map(|every| &every.over).collect();
        let clash = if let Some(stream) = over.iter().find(|path| path.streamed) {
            over.iter().find(|path| !path.streamed).map(|other| (stream, other))
        } else {
            let stream = beside.iter().find(|path| path.streamed);
            let other = |stream: &&&Path| beside.iter().find(|path| path.streamed && path.root != stream.root);
            stream.and_then(|stream| Some((stream, other(&stream)?)))
        };
        if let Some((stream, other)) = clash {
            let message = format!("a rule cannot use both `${}` and `${}`", stream.root, other.root);
            self.problems.add(own.place("every"), message);
        }
        if let Some(stream) = beside.iter().find(|path| every.is_some() && path.streamed) {
            self.problems.add(own.place("every"), format!("a rule with `every` can use `${}` only there", stream.root));
        }
    }

    fn check(&mut self, typed: &mut file::Rule) -> Option<Test> {
        let name = typed.check.take()?;
        if !self.known.checks.contains_key(&name.value) {
            let known: Vec<String> = self.known.checks.keys().cloned().collect();
            self.one_known(&name, "check", &known);
        }
        let given = typed.given.take().map(|given| given.0).unwrap_or_default();
        if let Some(takes) = self.known.checks.get(&name.value) {
            let takes: Vec<String> = takes.iter().map(|name| name.trim_end_matches('?').to_owned()).collect();
            for (key, _) in &given {
                if takes.is_empty() {
                    self.problems.add(key.at, format!("the check `{}` takes no arguments", name.value));
                }
                self.one_known(key, "given", &takes);
            }
        }
        for needed in self.known.checks.get(&name.value).into_iter().flatten().filter(|name| !name.ends_with('?')) {
            if !given.iter().any(|(key, _)| key.value == *needed) {
                self.problems.add(name.at, format!("the check `{}` needs `{needed}`", name.value));
            }
        }
        let given: Vec<(String, Template)> = given
            .into_iter()
            .filter_map(|(key, tree)| self.template(&tree).map(|template| (key.value, template)))
            .collect();
        Some(Test::Check { name: name.value, given })
    }
}

fn texts(typed: Vec<At<String>>) -> Vec<String> {
    typed.into_iter().map(|text| text.value).collect()
}
