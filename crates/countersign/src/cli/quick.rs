//! Verbs that are started again and again: by hooks, by agents, by hand-overs, by every step of a pipeline.
//!
//! To describe verbs to the reader of command lines takes longer than to check a document or to answer a hook. So what nearly
//! every such command line says is read without it, and whatever says more with nobody beside the verb. A command line that
//! is not right is then read as every other is, and what is said of it is the same.

use super::{Cli, Everywhere, Verb, check, delegate, hook};
use clap::Parser;

#[derive(Parser)]
#[command(name = "countersign", disable_help_flag = true, disable_help_subcommand = true)]
struct Alone<V: clap::Subcommand> {
    #[command(flatten)]
    everywhere: Everywhere,
    #[command(subcommand)]
    verb: V,
}

#[derive(clap::Subcommand)]
enum Check {
    Check(check::Args),
}

#[derive(clap::Subcommand)]
enum Delegate {
    Delegate(delegate::Args),
}

#[derive(clap::Subcommand)]
enum Hook {
    Hook(hook::Args),
}

/// The variables that say something of every verb.
const VARIABLES: [&str; 6] = [
    "COUNTERSIGN_PROJECT",
    "COUNTERSIGN_MAX_SIZE",
    "COUNTERSIGN_LEDGER",
    "COUNTERSIGN_ACTOR",
    "COUNTERSIGN_TOKEN_FILE",
    "COUNTERSIGN_URL",
];

/// The command line, if it begins with one of these verbs and is right.
pub fn read() -> Option<Cli> {
    let line: Vec<String> = std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect::<Option<_>>()?;
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    if !VARIABLES.iter().any(|name| std::env::var_os(name).is_some())
        && let Some(plain) = plain(&line)
    {
        return Some(plain);
    }
    match *line.first()? {
        "check" => alone(|Check::Check(args)| Verb::Check(args)),
        "delegate" => alone(|Delegate::Delegate(args)| Verb::Delegate(args)),
        "hook" => alone(|Hook::Hook(args)| Verb::Hook(args)),
        _ => None,
    }
}

/// A command line that names nothing but files, or nothing but a client and perhaps an actor.
fn plain(line: &[&str]) -> Option<Cli> {
    // What begins like an option is one, or is told from one by rules that are not repeated here.
    let is_name = |word: &&str| !word.is_empty() && !word.starts_with('-');
    let (verb, actor) = match line {
        ["check", files @ ..] if files.iter().all(is_name) => (Verb::Check(check::Args::of(files)), None),
        ["hook", client] => (Verb::Hook(hook::Args::of(client)?), None),
        ["hook", client, "--as", actor] if is_name(actor) => (Verb::Hook(hook::Args::of(client)?), Some(*actor)),
        _ => return None,
    };
    Some(Cli { everywhere: Everywhere { actor: actor.map(str::to_owned), ..Everywhere::default() }, verb })
}

fn alone<V: clap::Subcommand>(verb: impl FnOnce(V) -> Verb) -> Option<Cli> {
    let read = Alone::<V>::try_parse().ok()?;
    Some(Cli { everywhere: read.everywhere, verb: verb(read.verb) })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_plain_line_means_what_it_means_to_everybody_else() {
        let lines = [
            "check",
            "check a.json",
            "check a.json b c/d",
            "check .",
            "check help",
            "check a.json check",
            "hook claude-code",
            "hook codex",
            "hook git",
            "hook claude-code --as coder-1",
            "hook git --as user:a",
            "hook codex --as help",
        ];
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let usual = Cli::try_parse_from(["countersign"].iter().chain(&words)).unwrap();
            assert_eq!(format!("{:?}", plain(&words).unwrap()), format!("{usual:?}"), "{line}");
        }
    }

    #[test]
    fn whatever_says_more_is_left_to_the_reader_of_command_lines() {
        let lines = [
            "",
            "check -",
            "check --strict a.json",
            "check a.json --format json",
            "check -- a.json",
            "check a.json -h",
            "hook",
            "hook nobody",
            "hook Git",
            "hook codex more",
            "hook codex --as",
            "hook codex --as -x",
            "hook codex --as=x",
            "hook codex --deadline 3",
            "hook --as a codex",
            "--as a check b",
            "fix a.json",
            "run",
            "help",
        ];
        for line in lines {
            assert!(plain(&line.split(' ').collect::<Vec<_>>()).is_none(), "{line}");
        }
        assert!(
            plain(&["check", ""]).is_none() && plain(&["hook", "git", "--as", ""]).is_none() && plain(&[]).is_none()
        );
    }

    /// A plain line is read without looking at what an option of the verb takes from the environment.
    #[test]
    fn no_variable_is_overlooked() {
        let whole = Cli::command();
        let verbs = ["check", "hook"].map(|name| whole.find_subcommand(name).unwrap());
        let options = verbs.iter().flat_map(|verb| verb.get_arguments()).chain(whole.get_arguments());
        let mut variables: Vec<&str> = options.filter_map(|it| it.get_env()?.to_str()).collect();
        variables.sort_unstable();
        let mut known = VARIABLES;
        known.sort_unstable();
        assert_eq!(variables, known);
    }
}
