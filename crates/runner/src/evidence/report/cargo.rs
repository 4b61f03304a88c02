//! `cargo test`: for each binary `running 3 tests`, then `test result: ok. 2 passed; 0 failed; 1 ignored; …`.
//!
//! Binaries and doc tests are added up. Each announces how many tests it runs, and its result must account for all of
//! them.

use super::{Counts, Reading, contradicts, counted, digits};

const FROM: &str = "cargo test";

pub(super) fn read(text: &str) -> Option<Reading> {
    let mut all = Counts::of(FROM);
    // How many tests the binary at hand announced, and whether a result was seen.
    let mut announced: Option<u64> = None;
    let mut last: Option<Counts> = None;
    // Others announce tests in the same words.
    if !text.lines().any(|line| line.starts_with("test result: ")) {
        return None;
    }
    for line in text.lines() {
        if let Some(number) = announcement(line) {
            if announced.is_some() && last.is_none() {
                return Some(contradicts(FROM, "a binary began that has no result"));
            }
            if let Some(last) = last.take() {
                all.add(&last);
            }
            announced = Some(number);
        } else if let Some(result) = result(line) {
            let (counts, total) = match result {
                Ok(counted) => counted,
                Err(why) => return Some(contradicts(FROM, why)),
            };
            if announced != Some(total) {
                return Some(contradicts(FROM, "a result does not account for the tests that its binary announced"));
            }
            if last.as_ref().is_some_and(|last| *last != counts) {
                return Some(contradicts(FROM, "a binary has several results, and they differ"));
            }
            last = Some(counts);
        } else if let Some(name) = ignored(line) {
            all.name(name);
        }
    }
    match last {
        Some(last) => all.add(&last),
        None if announced.is_some() => return Some(contradicts(FROM, "a binary began that has no result")),
        None => return None,
    }
    Some(Reading::Counts(all))
}

/// Of `running 3 tests` the number.
fn announcement(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    digits(rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?)
}

/// Of a result its counts, and how many tests it accounts for.
fn result(line: &str) -> Option<Result<(Counts, u64), &'static str>> {
    let rest = line.strip_prefix("test result: ")?;
    let (word, rest) = rest.split_once(". ")?;
    let mut counts = Counts::of(FROM);
    let mut total = 0_u64;
    for part in rest.split("; ").filter(|part| !part.starts_with("finished in ")) {
        let (number, what) = counted(part)?;
        match what {
            "passed" | "measured" => counts.passed += number,
            "failed" => counts.failed += number,
            "ignored" => counts.skipped += number,
            // What the command line chose not to run was not skipped.
            "filtered out" => continue,
            _ => return Some(Err("a result counts something that is not known")),
        }
        total += number;
    }
    match (word, counts.failed) {
        ("ok", 0) => Some(Ok((counts, total))),
        ("FAILED", failed) if failed > 0 => Some(Ok((counts, total))),
        ("ok" | "FAILED", _) => Some(Err("a result says one thing and counts another")),
        _ => None,
    }
}

/// Of `test name ... ignored, why` the name.
fn ignored(line: &str) -> Option<&str> {
    let (name, how) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    how.starts_with("ignored").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    const WHOLE: &str = "   Compiling cr v0.1.0 (/tmp/cr)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.33s
     Running unittests src/lib.rs (target/debug/deps/cr-f73a538893013b88)

running 3 tests
test tests::b ... ignored, slow
test tests::a ... ok
test tests::c ... ok

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/it.rs (target/debug/deps/it-c402cc767e4d8483)

running 2 tests
test t1 ... ok
test t2 ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests cr

running 1 test
test src/lib.rs - f (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

all doctests ran in 0.22s; merged doctests compilation took 0.21s
";
    const QUIET: &str = "
running 3 tests
i..
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    const FILTERED: &str = "
running 1 test
test tests::a ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s

     Running tests/it.rs (target/debug/deps/it-c402cc767e4d8483)

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s
";
    const NONE: &str = "
running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s
";
    const FAILED: &str = "
running 3 tests
test tests::b ... ignored, slow
test tests::a ... ok
test tests::c ... FAILED

failures:

---- tests::c stdout ----
thread 'tests::c' panicked at src/lib.rs:8:53:
x

failures:
    tests::c

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.09s

error: test failed, to rerun pass `--lib`
";
    const PRINTED: &str = "
running 3 tests
test tests::b ... ignored, slow
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test tests::a ... ok
test tests::c ... ok

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn binaries_and_doc_tests_are_added_up() {
        let cases = [
            (WHOLE, Some(Ok((5, 0, 1)))),
            (QUIET, Some(Ok((2, 0, 1)))),
            (FILTERED, Some(Ok((1, 0, 0)))),
            (NONE, Some(Ok((0, 0, 0)))),
            (FAILED, Some(Ok((1, 1, 1)))),
            ("", None),
            ("running 4 tests\n", None),
            ("error: could not compile `cr`\n", None),
            ("I ran it: 5 passed; 0 failed\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(brief(read(text)), expected, "{text}");
        }
        assert!(matches!(read(WHOLE), Some(Reading::Counts(it)) if it.which == ["tests::b"]));
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        let alone = "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let cases = [
            PRINTED.to_owned(),
            alone.to_owned(),
            format!("running 4 tests\n{alone}"),
            format!("{WHOLE}running 4 tests\n"),
            format!("running 1 test\n{}", alone.replace("5 passed; 0 failed", "0 passed; 1 failed")),
            format!("running 5 tests\n{}", alone.replace("0 measured", "0 mislaid")),
            format!("{WHOLE}{alone}"),
        ];
        for text in cases {
            assert!(matches!(brief(read(&text)), Some(Err(_))), "{text}");
        }
    }
}
