//! What the terminal can show.

use countersign_diagnostic::render::text::Look;
use countersign_diagnostic::url_path;
use std::io::IsTerminal;

/// How wide text is laid out when nobody is looking.
const WIDTH: usize = 120;

/// Whether an output goes to a person, and what they can see.
#[derive(Debug, Clone)]
pub struct Terminal {
    colour: bool,
    width: usize,
    person: bool,
    link: Option<String>,
}

impl Terminal {
    /// Standard output, and what `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say.
    pub fn stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    /// The same for standard error.
    pub fn stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    fn of(stream: &impl anstream::stream::RawStream) -> Self {
        let person = stream.is_terminal();
        // Whatever else it is set to, `CLICOLOR_FORCE=0` forces nothing.
        let forced_off = std::env::var_os("CLICOLOR_FORCE").is_some_and(|it| it == "0");
        let wanted = anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never;
        let colour = wanted && (person || !forced_off);
        let width = terminal_size::terminal_size().filter(|_| person).map(|(width, _)| usize::from(width.0));
        let here = std::env::current_dir().ok().filter(|_| person && colour);
        let link = here.and_then(|here| here.to_str().map(|here| format!("file://{}/", url_path(here))));
        Self { colour, width: width.unwrap_or(WIDTH).max(40), person, link }
    }

    /// The look of text on it.
    pub fn look(&self) -> Look<'_> {
        Look { colour: self.colour, width: self.width, link: self.link.as_deref(), lines: true }
    }

    /// Where a line ends that a person reads; none, where nobody does.
    pub fn edge(&self) -> Option<usize> {
        self.person.then_some(self.width)
    }

    /// How many lines can be seen at once.
    pub fn height(&self) -> usize {
        terminal_size::terminal_size().filter(|_| self.person).map_or(usize::MAX, |(_, height)| usize::from(height.0))
    }

    /// A text in bold, where that can be seen.
    pub fn bold(&self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Whether a person can be asked: both ends are a terminal.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether progress can be seen.
pub fn shows_progress() -> bool {
    std::io::stderr().is_terminal()
}
