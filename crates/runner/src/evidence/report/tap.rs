//! TAP, versions 13 and 14: `TAP version 13`, a plan `1..4`, and `ok 1 - name` or `not ok 2 - name` for each test.
//!
//! Parts of a test are indented and counted, too, because a skipped part does not show in the whole. A test marked `#
//! SKIP` or `# TODO` is skipped, however it ended. The plan must be kept.

use super::{Counts, Reading, contradicts, digits};

const FROM: &str = "TAP";

pub(super) fn read(text: &str) -> Option<Reading> {
    // Without its first line, only a plan that is kept tells TAP from prose.
    let versioned = text.lines().any(|line| line.starts_with("TAP version "));
    let mut all = Counts::of(FROM);
    let mut stream: Option<Stream> = (!versioned).then(|| Stream::new(false));
    let mut diagnostics = false;
    for line in text.lines() {
        let bare = line.trim_start_matches(' ');
        if diagnostics {
            diagnostics = bare != "...";
        } else if line.starts_with("TAP version ") {
            if let Some(done) = stream.replace(Stream::new(true)) {
                match done.settle() {
                    Ok(counts) => all.add(&counts),
                    Err(why) => return Some(contradicts(FROM, why)),
                }
            }
        } else if let Some(stream) = &mut stream {
            diagnostics = bare == "---" && bare.len() < line.len() && stream.points > 0;
            stream.take(line, bare);
        }
    }
    let stream = stream?;
    if !versioned && !stream.is_kept() {
        return None;
    }
    match stream.settle() {
        Ok(counts) => all.add(&counts),
        Err(why) => return Some(contradicts(FROM, why)),
    }
    Some(Reading::Counts(all))
}

/// One run.
#[derive(Default)]
struct Stream {
    /// Whether its first line says what it is. Otherwise its tests must have numbers to be told from prose.
    versioned: bool,
    counts: Counts,
    /// Tests that are no part of another.
    points: u64,
    plan: Option<u64>,
    plans: u64,
    bailed: bool,
}

impl Stream {
    fn new(versioned: bool) -> Self {
        Self { versioned, ..Self::default() }
    }

    fn take(&mut self, line: &str, bare: &str) {
        let outer = bare.len() == line.len();
        if outer && line.starts_with("Bail out!") {
            self.bailed = true;
        } else if let Some(plan) = plan(line) {
            self.plan = Some(plan);
            self.plans += 1;
        } else if let Some((ok, rest)) = point(bare, self.versioned) {
            self.points += u64::from(outer);
            match (directive(rest), ok) {
                (true, _) => {
                    self.counts.skip(rest.trim().trim_start_matches(|it: char| it.is_ascii_digit() || it == ' '))
                }
                (false, true) => self.counts.passed += 1,
                (false, false) => self.counts.failed += 1,
            }
        }
    }

    fn is_kept(&self) -> bool {
        self.plans == 1 && self.plan == Some(self.points)
    }

    fn settle(self) -> Result<Counts, &'static str> {
        match () {
            () if self.bailed => Err("the tests bailed out"),
            () if self.plans > 1 => Err("it has several plans"),
            () if self.plans == 0 => Err("it has no plan"),
            () if !self.is_kept() => Err("its plan was not kept"),
            () => Ok(Counts { from: FROM, ..self.counts }),
        }
    }
}

/// Of `1..4` the number; `1..0` is a plan for nothing.
fn plan(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("1..")?;
    digits(rest.split([' ', '#']).next().unwrap_or(rest))
}

/// Of `ok 1 - name` whether it is ok, and the rest. The number may be left out where that is clear.
fn point(bare: &str, clear: bool) -> Option<(bool, &str)> {
    let (ok, rest) = match bare.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, bare.strip_prefix("ok")?),
    };
    let number = rest.strip_prefix(' ').map(|rest| rest.split(' ').next().unwrap_or(rest));
    let is_one = number.is_some_and(|number| clear || digits(number).is_some()) || (clear && rest.is_empty());
    is_one.then_some((ok, rest))
}

/// Whether ` # SKIP` or ` # TODO` stands in what follows a test's number.
fn directive(rest: &str) -> bool {
    rest.match_indices('#').any(|(at, _)| {
        let after = rest[at + 1..].trim_start_matches(' ');
        let word = after.get(..4).unwrap_or_default();
        rest[..at].ends_with(' ') && (word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    const NODE: &str = "TAP version 13
# Subtest: ok
ok 1 - ok
  ---
  duration_ms: 1.112168
  ...
# Subtest: skip
ok 2 - skip # SKIP
  ---
  duration_ms: 0.110397
  ...
# Subtest: todo
ok 3 - todo # TODO
# Subtest: bad
not ok 4 - bad
  ---
  error: 'x'
  stack: |-
    ok 7 - not a test
  ...
# Subtest: parent
    # Subtest: child
    ok 1 - child
      ---
      duration_ms: 0.131376
      ...
    1..1
ok 5 - parent
  ---
  duration_ms: 0.404011
  ...
1..5
# tests 6
# pass 3
";
    const VITEST: &str = "TAP version 13
1..1
ok 1 - vt/b.test.js # time=4.62ms {
    1..1
    ok 1 - ok # time=3.36ms
}
";

    #[test]
    fn tests_and_their_parts_are_counted() {
        let cases = [
            (NODE, Some(Ok((3, 1, 2)))),
            (VITEST, Some(Ok((2, 0, 0)))),
            ("TAP version 14\n1..0 # SKIP nothing here\n", Some(Ok((0, 0, 0)))),
            ("TAP version 14\n1..1\nnot ok 1 - a # todo later\n", Some(Ok((0, 0, 1)))),
            ("TAP version 13\n1..1\nok 1 - issue #12 is skipped over\n", Some(Ok((1, 0, 0)))),
            ("TAP version 13\n1..1\nok 1\nTAP version 13\n1..2\nok 1\nnot ok 2\n", Some(Ok((2, 1, 0)))),
            ("1..2\nok 1 - a\nok 2 - b\n", Some(Ok((2, 0, 0)))),
            ("TAP version 14\nok - a\nnot ok\nok # skip\n1..3\n", Some(Ok((1, 1, 1)))),
            ("1..1\nok - a\n", None),
            ("ok 1 - a\nok then\n1..5 of them\n", None),
            ("ok\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(brief(read(text)), expected, "{text}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        for text in [
            "TAP version 13\n1..2\nok 1\n",
            "TAP version 13\nok 1\n",
            "TAP version 13\n1..1\nok 1\n1..1\n",
            "TAP version 13\n1..1\nok 1\nBail out! no database\n",
            "TAP version 13\n1..2\nok 1\nTAP version 13\n1..1\nok 1\n",
        ] {
            assert!(matches!(brief(read(text)), Some(Err(_))), "{text}");
        }
    }
}
