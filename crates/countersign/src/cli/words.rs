//! Answers in words: fields, states, times and tables, as people read them and as they can be read aloud.

use crate::terminal::Terminal;
use countersign_diagnostic::visible;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A field as one line. Whatever would act on a terminal is made visible.
pub fn text(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => String::new(),
        Value::String(text) => visible(text).into_owned(),
        other => visible(&other.to_string()).into_owned(),
    }
}

/// The texts of a list, one after the other.
pub fn texts(value: &Value, name: &str) -> Vec<String> {
    let items = value[name].as_array().into_iter().flatten();
    items.map(|item| visible(item.as_str().unwrap_or(&item.to_string())).into_owned()).collect()
}

/// A state, with how sure it is.
pub fn status(value: &Value) -> String {
    let status = text(value, "status").replace('_', " ");
    match value["assurance"].as_str() {
        Some(assurance) => format!("{status} ({})", visible(assurance)),
        None => status,
    }
}

/// A time, and how far off it is.
pub fn until(time: &str) -> String {
    let Ok(at) = time.parse::<jiff::Timestamp>() else { return visible(time).into_owned() };
    let seconds = at.as_second() - jiff::Timestamp::now().as_second();
    let second = jiff::Timestamp::from_second(at.as_second()).unwrap_or(at);
    match seconds {
        ..=0 => format!("{second}, which is over"),
        _ => format!("{second}, in {}", span(seconds)),
    }
}

/// How long until a time; nothing, if there is none.
pub fn left(value: &Value, name: &str) -> String {
    let at = value[name].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    at.map_or_else(String::new, |at| match at.as_second() - jiff::Timestamp::now().as_second() {
        ..=0 => "over".to_owned(),
        seconds => span(seconds),
    })
}

/// How long ago a time was; nothing, if there is none.
pub fn since(value: &Value, name: &str) -> String {
    let at = value[name].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    at.map_or_else(String::new, |at| span((jiff::Timestamp::now().as_second() - at.as_second()).max(0)))
}

/// A length of time, as it is also written on the command line.
pub fn span(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "m"), (seconds % 60, "s")];
    // Two units are as exact as anybody wants it.
    let said: Vec<String> = parts
        .iter()
        .skip_while(|it| it.0 == 0)
        .take(2)
        .filter(|it| it.0 > 0)
        .map(|it| format!("{}{}", it.0, it.1))
        .collect();
    if said.is_empty() { "0s".to_owned() } else { said.join(" ") }
}

/// Seconds from a length of time such as `20m`, `90s` or `1h30m`.
pub fn seconds(text: &str) -> Result<i64, String> {
    let how = || format!("`{text}` is no length of time; write it as 90s, 20m or 1h30m");
    let span: jiff::SignedDuration = text.trim().parse().map_err(|_| how())?;
    if span.as_secs() <= 0 || span.subsec_nanos() != 0 {
        return Err(format!("`{text}` is not a whole number of seconds above zero; write it as 90s, 20m or 1h30m"));
    }
    Ok(span.as_secs())
}

/// Rows under a head, each column as wide as it needs to be.
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// A table with this head.
    pub fn new<const N: usize>(head: [&str; N]) -> Self {
        Self(vec![head.iter().map(|it| (*it).to_owned()).collect()])
    }

    /// One row more.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.0.push(cells.into());
    }

    /// Whether it has a head alone.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    /// The lines: on a terminal cut to its width, otherwise whole. Columns in which nothing stands are left out.
    pub fn lines(&self, terminal: &Terminal) -> Vec<String> {
        let columns = self.0.first().map_or(0, Vec::len);
        let used: Vec<usize> = (0..columns)
            .filter(|at| self.is_empty() || self.0.iter().skip(1).any(|row| !row[*at].is_empty()))
            .collect();
        let width = |at: &usize| self.0.iter().map(|row| row[*at].width()).max().unwrap_or(0);
        let widths: Vec<usize> = used.iter().map(width).collect();
        let line = |row: &Vec<String>| {
            let pad = |(at, width): (&usize, &usize)| {
                let cell = &row[*at];
                format!("{cell}{}", " ".repeat(width - cell.width()))
            };
            let cells: Vec<String> = used.iter().zip(&widths).map(pad).collect();
            cut(cells.join("  ").trim_end(), terminal.edge())
        };
        let mut lines: Vec<String> = self.0.iter().map(line).collect();
        if let Some(head) = lines.first_mut() {
            *head = terminal.bold(head);
        }
        lines
    }

    /// The same as one text, or what is said where there is nothing.
    pub fn text_or(&self, nothing: &str) -> String {
        if self.is_empty() {
            return format!("{nothing}\n");
        }
        self.lines(&Terminal::stdout()).iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A line that ends before the terminal does.
pub fn cut(line: &str, edge: Option<usize>) -> String {
    let Some(edge) = edge.filter(|edge| line.width() > *edge) else { return line.to_owned() };
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used < edge
    };
    format!("{}…", line.chars().take_while(fits).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_and_said() {
        for (text, wanted) in [("90s", 90), ("20m", 1200), ("1h30m", 5400), ("1h 30m", 5400), ("24h", 86_400)] {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for text in ["", "20", "-5m", "0s", "1.5s", "soon", "1mo"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        let said = [(0, "0s"), (59, "59s"), (60, "1m"), (1199, "19m 59s"), (5400, "1h 30m"), (90_061, "1d 1h")];
        for (seconds, wanted) in said {
            assert_eq!(span(seconds), wanted);
        }
    }

    #[test]
    fn a_line_is_cut_where_it_would_break() {
        assert_eq!(cut("abcdef", Some(6)), "abcdef");
        assert_eq!(cut("abcdef", Some(4)), "abc…");
        assert_eq!(cut("日本語", Some(4)), "日…");
        assert_eq!(cut("abcdef", None), "abcdef");
    }
}
