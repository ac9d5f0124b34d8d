//! Lines of text of a limited width, with optional color.
//!
//! Everything is written through [`Page::line`], which escapes it: text of a server cannot control the terminal.

use std::{borrow::Cow, fmt::Write as _};

use colored::{Color, Colorize, control};

use crate::{
    Style, Verbosity,
    text::{plain, wrap},
};
use conform_model::outcome::excerpt::{columns, middle};

/// Color and emphasis of a text.
#[derive(Clone, Copy, PartialEq)]
pub struct Ink {
    color: Option<Color>,
    bold: bool,
    dimmed: bool,
}

pub const TEXT: Ink = Ink { color: None, bold: false, dimmed: false };
pub const STRONG: Ink = TEXT.bold();
pub const FAINT: Ink = Ink { dimmed: true, ..TEXT };
pub const GREEN: Ink = TEXT.of(Color::Green);
pub const RED: Ink = TEXT.of(Color::Red);
pub const YELLOW: Ink = TEXT.of(Color::Yellow);
pub const MAGENTA: Ink = TEXT.of(Color::Magenta);
pub const CYAN: Ink = TEXT.of(Color::Cyan);

impl Ink {
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    const fn of(self, color: Color) -> Self {
        Self { color: Some(color), ..self }
    }

    fn on(self, text: &str) -> String {
        let mut inked = match self.color {
            Some(color) => text.color(color),
            None => text.normal(),
        };
        if self.bold {
            inked = inked.bold();
        }
        if self.dimmed {
            inked = inked.dimmed();
        }
        inked.to_string()
    }
}

/// What a terminal takes for the beginning and the end of the address of a link (OSC 8).
const LINK: &str = "\u{1b}]8;;";
const LINK_END: &str = "\u{1b}\\";

/// Between the parts of a line that may be broken there.
pub const SEPARATOR: &str = " · ";

/// A piece of a line.
pub type Span<'a> = (Ink, Cow<'a, str>);

pub fn span<'a>(ink: Ink, text: impl Into<Cow<'a, str>>) -> Span<'a> {
    (ink, text.into())
}

pub struct Page {
    text: String,
    style: Style,
}

impl Page {
    pub fn new(style: Style) -> Self {
        // The style decides about color; `colored` would read the environment.
        control::set_override(true);
        // A narrower page is not legible, and has no room for indents.
        Self { text: String::new(), style: Style { width: style.width.max(60), ..style } }
    }

    pub fn width(&self) -> usize {
        self.style.width
    }

    /// Whether every finding is shown whole.
    pub fn is_detailed(&self) -> bool {
        matches!(self.style.verbosity, Verbosity::Findings | Verbosity::Verbose)
    }

    pub fn is_verbose(&self) -> bool {
        self.style.verbosity == Verbosity::Verbose
    }

    pub fn is_excerpt(&self) -> bool {
        self.style.verbosity == Verbosity::Excerpt
    }

    pub fn finish(self) -> String {
        self.text
    }

    /// An empty line, unless the page is empty or already ends with one.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// One line of any length.
    pub fn line(&mut self, indent: usize, spans: &[Span]) {
        let start = self.text.len();
        let _ = write!(self.text, "{:indent$}", "");
        for (ink, text) in spans {
            self.ink(*ink, text);
        }
        let used = self.text[start..].trim_end_matches(' ').len();
        self.text.truncate(start + used);
        self.text.push('\n');
    }

    fn ink(&mut self, ink: Ink, text: &str) {
        let text = plain(text);
        if self.style.color {
            self.text.push_str(&ink.on(&text));
        } else {
            self.text.push_str(&text);
        }
    }

    /// A link after a lead: for the terminal to open, or else whole, to be copied. It gets a line of its own if it fits
    /// there. A longer one stays after the lead: the terminal wraps it anyway, and copies it as one line.
    pub fn link(&mut self, indent: usize, lead: Span, text: &str, url: &str) {
        let is_short = indent + columns(&plain(&lead.1)) + columns(url) <= self.width();
        if self.style.links {
            let _ = write!(self.text, "{:indent$}", "");
            self.ink(lead.0, &lead.1);
            let _ = write!(self.text, "{LINK}{}{LINK_END}", plain(url));
            self.ink(FAINT, if is_short { url } else { text });
            let _ = writeln!(self.text, "{LINK}{LINK_END}");
        } else if is_short || indent + columns(url) > self.width() {
            self.line(indent, &[lead, span(FAINT, url)]);
        } else {
            self.line(indent, &[span(lead.0, lead.1.trim_end())]);
            self.line(indent, &[span(FAINT, url)]);
        }
    }

    /// Parts concurrently, on as many lines as they need.
    pub fn parts(&mut self, parts: impl IntoIterator<Item = (Ink, String)>) {
        let mut line: Vec<Span> = Vec::new();
        let mut used = 0;
        for (ink, part) in parts {
            let part = middle(&plain(&part), self.width()).into_owned();
            let wide = columns(&part);
            if used > 0 && used + columns(SEPARATOR) + wide > self.width() {
                self.line(0, &line);
                line.clear();
                used = 0;
            }
            if used > 0 {
                line.push(span(FAINT, SEPARATOR));
                used += columns(SEPARATOR);
            }
            line.push(span(ink, part));
            used += wide;
        }
        self.line(0, &line);
    }

    /// A text after a lead, wrapped with a hanging indent.
    pub fn hang(&mut self, indent: usize, lead: &[Span], ink: Ink, text: &str) {
        let margin = indent + lead.iter().map(|(_, text)| columns(&plain(text))).sum::<usize>();
        let mut lines = wrap(&plain(text), self.width().saturating_sub(margin)).into_iter();
        let first = [lead, &[span(ink, lines.next().unwrap_or_default())]].concat();
        self.line(indent, &first);
        for line in lines {
            self.line(margin, &[span(ink, line)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_never_broken_by_a_line_of_its_own_at_the_margin() {
        let shown = |length: usize| {
            let mut page = Page::new(Style { width: 80, ..Style::default() });
            page.link(2, span(FAINT, "source  "), "", &"u".repeat(length));
            page.finish()
        };
        assert_eq!(shown(70), format!("  source  {}\n", "u".repeat(70)));
        assert_eq!(shown(78), format!("  source\n  {}\n", "u".repeat(78)));
        assert_eq!(shown(79), format!("  source  {}\n", "u".repeat(79)));
        assert_eq!(shown(104), format!("  source  {}\n", "u".repeat(104)));
    }
}
