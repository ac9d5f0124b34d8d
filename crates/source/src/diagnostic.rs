//! A mistake in a suite, shown with file, line, column, the source line and a suggestion.

use std::{fmt, sync::Arc};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::yaml::Position;

#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub file: String,
    /// Counted from one, in characters.
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// How to fix it, where that is not obvious.
    pub help: Option<String>,
    length: usize,
    source: Arc<str>,
}

impl Diagnostic {
    /// Several lines, with the position underlined.
    pub fn render(&self, color: bool) -> String {
        let start = self.offset();
        let end = self.source[start..].char_indices().take(self.length).take_while(|(_, c)| *c != '\n').last();
        let span = start..end.map_or(start, |(at, c)| start + at + c.len_utf8());
        let snippet = Snippet::source(&*self.source).path(&self.file).annotation(AnnotationKind::Primary.span(span));
        let mut group = Level::ERROR.primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        // The renderer replaces other control characters with pictures; a terminal would interpret these.
        renderer.render(&[group]).replace(|c| matches!(c, '\u{80}'..='\u{9f}'), "\u{fffd}")
    }

    /// Byte offset of the mistake in the source.
    fn offset(&self) -> usize {
        let mut lines = self.source.split_inclusive('\n');
        let before: usize = lines.by_ref().take(self.line.saturating_sub(1)).map(str::len).sum();
        let line = lines.next().unwrap_or_default().trim_end_matches(['\n', '\r']);
        let within = line.char_indices().nth(self.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        before + within
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// The mistakes of one file, in the order in which they were found.
pub struct Problems {
    file: String,
    source: Arc<str>,
    found: Vec<Diagnostic>,
}

impl Problems {
    pub fn new(file: &str, source: &str) -> Self {
        Self { file: file.to_owned(), source: source.into(), found: Vec::new() }
    }

    pub fn add(&mut self, at: Position, message: impl Into<String>) {
        self.add_with(at, message, None);
    }

    pub fn add_with(&mut self, at: Position, message: impl Into<String>, help: impl Into<Option<String>>) {
        let message = message.into();
        // The rules of a group share its mistakes.
        if self.found.iter().any(|known| (known.line, known.column) == (at.line, at.column) && known.message == message)
        {
            return;
        }
        self.found.push(Diagnostic {
            file: self.file.clone(),
            line: at.line,
            column: at.column,
            message,
            help: help.into(),
            length: at.length,
            source: Arc::clone(&self.source),
        });
    }

    /// In the order of the file.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|problem| (problem.line, problem.column));
        self.found
    }
}

/// "did you mean `x`?", or all known names if there are only a few.
pub fn suggestion<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let distance = |name: &str| strsim::osa_distance(&wrong.to_lowercase(), &name.to_lowercase());
    let (distance, nearest) = names.iter().map(|name| (distance(name), *name)).min()?;
    let length = wrong.chars().count();
    if distance < length && distance <= (length / 4).max(1) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    (names.len() <= 12).then(|| format!("known: {}", names.join(", ")))
}

/// Same as [`suggestion`], but lists all known names if none is similar, however many they are.
pub fn suggestion_or_all<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    suggestion(wrong, names.iter().copied()).or_else(|| Some(format!("known: {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_underlined_wherever_it_stands() {
        let mut problems = Problems::new("a.yaml", "é: x\r\nlast");
        problems.add_with(Position { line: 1, column: 4, length: 1 }, "bad x", "say y".to_owned());
        problems.add(Position { line: 2, column: 1, length: 99 }, "bad line");
        problems.add(Position { line: 9, column: 9, length: 9 }, "beyond the end");
        let shown: Vec<String> = problems.into_diagnostics().iter().map(|problem| problem.render(false)).collect();
        assert!(
            shown[0].contains("--> a.yaml:1:4") && shown[0].contains("   ^") && shown[0].contains("say y"),
            "{}",
            shown[0]
        );
        assert!(shown[1].contains("^^^^\n") || shown[1].ends_with("^^^^"), "{}", shown[1]);
        assert!(shown[2].contains("beyond the end"), "{}", shown[2]);
        let mut problems = Problems::new("a.yaml", "\u{9b}2J\u{1b}c\u{202e}");
        problems.add(Position { line: 1, column: 1, length: 1 }, "bad \u{9b}2J");
        let shown = problems.into_diagnostics()[0].render(false);
        assert!(!shown.contains(['\u{9b}', '\u{1b}', '\u{202e}']), "{shown:?}");
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        assert_eq!(suggestion("expct", ["every", "expect"]).as_deref(), Some("did you mean `expect`?"));
        assert_eq!(suggestion("htpp", ["http", "stdio"]).as_deref(), Some("did you mean `http`?"));
        assert_eq!(suggestion("survey", ["server"]).as_deref(), Some("known: server"));
        assert_eq!(suggestion("zzz", ["a", "b"]).as_deref(), Some("known: a, b"));
        assert_eq!(suggestion("zzz", []), None);
    }
}
