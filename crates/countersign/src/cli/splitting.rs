//! A command line in words, as a shell would split it, without a shell: nothing is expanded, and nothing is run.

/// A program and its arguments, as somebody typed them.
#[derive(Debug, Clone)]
pub struct Typed(pub Vec<String>);

/// A command from the command line, which names a program.
///
/// # Errors
/// It cannot be split, or names none.
pub fn typed(text: &str) -> Result<Typed, String> {
    match split(text)? {
        words if words.first().is_some_and(|program| !program.is_empty()) => Ok(Typed(words)),
        _ => Err("it names no program".to_owned()),
    }
}

/// The words of a command line. Quotes keep white space together, a backslash keeps the next letter as it is; between single
/// quotes nothing else means anything, between double quotes a backslash counts before `"`, `\\`, `$` and `` ` `` alone.
///
/// # Errors
/// A quote is left open, or nothing comes after the last backslash.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a single quote is left open")? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or("a double quote is left open")? {
                        '"' => break,
                        '\\' => match letters.next().ok_or("a double quote is left open")? {
                            kept @ ('"' | '\\' | '$' | '`') => word.push(kept),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next().ok_or("nothing comes after the last backslash")?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell() {
        for (text, wanted) in [
            ("tell", vec!["tell"]),
            ("  tell\tme  now ", vec!["tell", "me", "now"]),
            ("tell 'the team' \"and us\"", vec!["tell", "the team", "and us"]),
            ("tell a\\ b \\'c", vec!["tell", "a b", "'c"]),
            ("tell '' \"\"", vec!["tell", "", ""]),
            ("tell --to='a b'c\"d e\"", vec!["tell", "--to=a bcd e"]),
            ("tell \"a\\\"b\\n\"", vec!["tell", "a\"b\\n"]),
            ("tell 'a\\b' $HOME *", vec!["tell", "a\\b", "$HOME", "*"]),
            ("", vec![]),
        ] {
            assert_eq!(split(text).unwrap(), wanted, "{text}");
        }
        for text in ["tell 'a", "tell \"a", "tell \"a\\", "tell \\"] {
            assert!(split(text).is_err(), "{text}");
        }
        for text in ["", "  ", "'' a"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }
}
