//! Whether what stands after `password:` is a password.
//!
//! The name alone cannot tell: `token: string` is a type, `token = get_token()` is code, `password: required`
//! is prose and `password=hunter2` is a leak. What tells is the form of the assignment and what the value is
//! made of; the tables in the tests have the cases with their reasons.
//!
//! No rule is always right. In doubt a password is one, since people choose words, and a key or a token is none if it
//! reads like a word, since machines draw those: `password: terraform` is refused and `secret: terraform` is not. What this
//! gives up: a key that is one word that people say, a phrase with a word of sentences in it, and a short phrase that
//! calls itself a password. What it refuses wrongly: a word about a password that is not in the lists, and a name of
//! several small words after a key. The tables hold those, too, so that a change of rules shows what it costs.

use super::phrase::any;
use super::words::{HYPHENED, ORDINARY, is, label, named, reads, single_label, tells};

/// What kind of name the value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Chosen by people, so it may be a word.
    Password,
    /// Made by machines most of the time. Whoever speaks of one in prose says more than a word.
    Key,
    /// Made by machines, so it hardly is a word; and what parsers read is called so too.
    Token,
}

/// How the value stands after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `name = "value"`: meant literally.
    Literal,
    /// `name: "value"`: meant literally, or what a document says of the name.
    Quoted,
    /// ``name: `value` ``: code in a sentence.
    Span,
    /// `name=value`: configuration and addresses. Nobody writes prose so.
    Tight,
    /// `f(name=value)`: a variable, when it can be one.
    Argument,
    /// `name = value` at the end of a line: configuration, or code that reads a value.
    Spaced,
    /// `name = value;` and whatever else goes on: code more likely than not.
    Statement,
    /// `name: value` at the end of a line, as in YAML.
    Last,
    /// `name: value and so on`: prose as likely as not.
    Loose,
}

const NO: usize = usize::MAX;

/// How long a value must be to be a secret, for passwords and for the others: numbers, codes, letters, words, told words,
/// names, accesses, words with signs (see [`Mixture`]).
#[rustfmt::skip]
const LEAST: &[(Form, [usize; 8], [usize; 8])] = &[
    //                num cod let wor tol nam acc sig    num cod let wor tol nam acc sig
    (Form::Literal,   [4,  2,  3,  3,  3,  3,  4,  2],  [ 4,  2,  3,  3,  3,  3,  4,  2]),
    (Form::Quoted,    [4,  4,  4,  4,  4,  4,  4,  4],  [12,  6,  8, 16, NO,  6,  6,  6]),
    (Form::Span,      [6,  6,  4,  4, NO, NO, NO,  6],  [12,  8, 10, 16, NO, NO, NO,  8]),
    (Form::Tight,     [4,  2,  3,  3,  3,  3, NO,  2],  [ 4,  2,  3,  3,  3,  3, NO,  2]),
    (Form::Argument,  [4,  2,  3,  3,  3, NO, NO,  2],  [ 4,  2,  3,  3,  3, NO, NO,  2]),
    (Form::Spaced,    [4,  2,  3,  3,  3, NO, NO,  4],  [ 4,  2,  3,  3,  3, NO, NO,  4]),
    (Form::Statement, [6,  6, 10, 10, NO, NO, NO,  8],  [ 6,  6, 10, 10, NO, NO, NO,  8]),
    (Form::Last,      [6,  4,  4,  4, NO, NO, NO, 12],  [NO,  6,  8, 16, NO, NO, NO, 20]),
    (Form::Loose,     [6,  6, 20, 20, NO, NO, NO, NO],  [NO,  8, 20, 20, NO, NO, NO, NO]),
];

/// What bare words in code are called when they hold a value from elsewhere.
const VARIABLES: &[&str] = any![
    arg args argv await body config context current data default env field header headers id input item key lexer
    line match message name new next node opts options param params parser part parts payload pw query raw req
    request res response result row self settings state store str tmp tok val var word
];

/// How ordinary words end that are long enough to pass for a key.
const ENDINGS: &[&str] = any![
    able ance ed ence ful ible ies ing ings ion ions ise ity ive ize less ly ment ments ness ous
];

/// How a value begins that tells the reader to put one there.
#[rustfmt::skip]
const STAND_INS: &[&str] = &[
    "your", "example", "placeholder", "redacted", "insert", "replace", "xxx", "todo", "dummy", "fake-", "fake_",
    "sample-", "not-a-",
];

/// How a value begins that says where the secret is kept.
#[rustfmt::skip]
const KEPT: &[&str] = &[
    "env:", "env.", "env(", "env[", "$env:", "process.env", "import.meta.env", "os.environ", "os.getenv", "getenv(",
    "system.getenv", "vault:", "file:", "arn:", "keyring:", "keychain:", "ssm:", "secretref:", "secrets.", "var.",
    "@microsoft.keyvault", "%(", "!vault", "!secret", "!env",
];

/// Longer than any word. Taking what is longer for a secret bounds the cost of what is not:
/// `token:token:token:…`.
pub const LONG: usize = 256;

/// Whether `value` is a secret, given its name and form.
pub fn judge(value: &[u8], name: Name, form: Form) -> bool {
    let quoted = matches!(form, Form::Literal | Form::Quoted | Form::Span);
    if value.len() < 2 || mask(value) {
        return false;
    }
    if value.len() > LONG && !quoted {
        return true;
    }
    let stands_in = |stem: &&str| begins(value, stem);
    if reference(value) || address(value) || elided(value) || STAND_INS.iter().chain(KEPT).any(stands_in) {
        return false;
    }
    if value.contains(&b' ') {
        return phrase(value, name, form);
    }
    // What a form writes beside a field often ends in a sign.
    let word = value.strip_suffix(b":").or_else(|| value.strip_suffix(b"*")).unwrap_or(value);
    if is(word, ORDINARY) || is(word, HYPHENED) || single_label(word) {
        return false;
    }
    if form != Form::Literal && variable(value) || form == Form::Span && value.ends_with(b")") {
        return false;
    }
    if !matches!(form, Form::Literal | Form::Tight) && capitals(value) {
        return false;
    }
    if matches!(form, Form::Spaced | Form::Statement | Form::Argument) && is(value, VARIABLES) {
        return false;
    }
    let mixture = match Mixture::of(value) {
        // Types and beginnings of sentences have capitals.
        Mixture::Letters | Mixture::Word
            if matches!(form, Form::Last | Form::Loose) && value.iter().any(u8::is_ascii_uppercase) =>
        {
            Mixture::Told
        }
        mixture => mixture,
    };
    let row = LEAST.iter().find(|(of, ..)| *of == form);
    let least = row.map(|(_, password, others)| if name == Name::Password { password } else { others });
    value.len() >= least.and_then(|least| least.get(mixture as usize)).copied().unwrap_or_default()
}

/// Whether several words are a secret: they are no label, and nothing in them shows that they speak of one. A word among
/// them that nobody would write in a sentence is one, whatever the others say.
fn phrase(value: &[u8], name: Name, form: Form) -> bool {
    let literal = form == Form::Literal;
    let of_key = name == Name::Key && named(value);
    let told = label(value) || !literal && (form == Form::Span || name == Name::Token || of_key || tells(value));
    // Nobody assigns a sentence, so that less is enough to give one away.
    let least = if literal { 6 } else { 8 };
    !told || value.split(|it| *it == b' ').any(|word| strong(word, least))
}

fn begins(value: &[u8], stem: &str) -> bool {
    value.get(..stem.len()).is_some_and(|it| it.eq_ignore_ascii_case(stem.as_bytes()))
}

/// What a value is made of. The order is that of the columns of [`LEAST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mixture {
    /// Digits, and what numbers, dates and versions have between them.
    Number,
    /// Letters and digits, whatever else; letters that are hexadecimal digits, as in `deadbeef`; and capitals in
    /// between, as in `aBcDeFgH`.
    Code,
    /// Letters alone that nobody could say, or that are known to be chosen: `qwertyuiop`, `swordfish`.
    Letters,
    /// Letters alone that read like a word.
    Word,
    /// Letters alone that end like a word of prose.
    Told,
    /// Words with `_` between or a capital at each, as code has.
    Name,
    /// `config.password`, `Token::default`.
    Access,
    /// Letters with other signs.
    Words,
}

impl Mixture {
    fn of(value: &[u8]) -> Mixture {
        let digit = value.iter().any(u8::is_ascii_digit);
        let letter = value.iter().any(|it| it.is_ascii_alphabetic() && !(digit && matches!(it, b'T' | b'Z')));
        let all = |class: fn(&u8) -> bool| value.iter().all(class);
        if digit && !letter && all(|it| it.is_ascii_digit() || b"-+.:_TZ".contains(it)) {
            Mixture::Number
        } else if digit || value.len() >= 8 && all(u8::is_ascii_hexdigit) {
            Mixture::Code
        } else if all(u8::is_ascii_alphabetic) {
            if mixed(value) && !humps(value) {
                Mixture::Code
            } else if camel(value) && humps(value) {
                Mixture::Name
            } else if ENDINGS.iter().any(|it| value.ends_with(it.as_bytes())) {
                Mixture::Told
            } else if reads(value) {
                Mixture::Word
            } else {
                Mixture::Letters
            }
        } else if all(|it| it.is_ascii_alphabetic() || b"_.:$?".contains(it)) {
            if value.iter().any(|it| matches!(it, b'.' | b':')) { Mixture::Access } else { Mixture::Name }
        } else {
            Mixture::Words
        }
    }
}

/// Whether every capital but the first has a word behind it: `accessToken`, not `aBcDeF`.
fn humps(value: &[u8]) -> bool {
    let pieces = value.split(u8::is_ascii_uppercase).skip(1);
    value.iter().skip(1).any(u8::is_ascii_uppercase) && pieces.into_iter().all(|piece| piece.len() >= 2)
}

/// Whether small letters become capitals more often than in any name: `AbCdEfGh`, not `GraphQL`.
fn mixed(value: &[u8]) -> bool {
    let ups =
        value.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    ups.count() >= 3
}

/// Whether a value is itself the name of a secret: `refresh_token`, `my-api-key`, `accessToken`.
fn variable(value: &[u8]) -> bool {
    let named = |tail: &&str| {
        let Some((head, end)) = value.len().checked_sub(tail.len()).and_then(|at| value.split_at_checked(at)) else {
            return false;
        };
        let boundary =
            matches!(head.last(), Some(b'_' | b'-')) || head.last().is_some_and(u8::is_ascii_lowercase) && humps(value);
        end.eq_ignore_ascii_case(tail.as_bytes()) && boundary && head.iter().all(|it| !it.is_ascii_digit())
    };
    value.len() <= 40 && any![token secret password passwd key].iter().any(named)
}

/// A word that nobody would write in a sentence.
fn strong(word: &[u8], least: usize) -> bool {
    let any = |class: fn(&u8) -> bool| word.iter().any(class);
    word.len() >= least
        && !is(word, ORDINARY)
        && any(u8::is_ascii_digit)
        && any(u8::is_ascii_alphabetic)
        && !address(word)
        && !mask(word)
}

fn camel(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Whether a value is the name of a variable of the environment: `DB_PASS`.
fn capitals(value: &[u8]) -> bool {
    value.contains(&b'_') && value.iter().all(|it| it.is_ascii_uppercase() || *it == b'_')
}

/// Whether only the beginning of a value is shown: `sk-...`.
fn elided(value: &[u8]) -> bool {
    let head = value.strip_suffix(b"...").or_else(|| value.strip_suffix("…".as_bytes()));
    head.is_some_and(|head| head.len() < 12)
}

/// Whether a value says where the secret is instead of what it is: `$TOKEN`, `${{ secrets.X }}`, `<token>`,
/// `%TOKEN%`, `[REDACTED]`, `{token}`, `__TOKEN__`.
pub fn reference(value: &[u8]) -> bool {
    let name = |it: &u8| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.' | b':' | b'/' | b'-' | b'$' | b'%');
    match value {
        [b'<' | b'{' | b'[' | b'(' | b'&', ..] => true,
        [b'$', b'{' | b'(' | b'$', ..] => true,
        [b'_', b'_', .., b'_', b'_'] => true,
        [b'$' | b'%' | b'@', rest @ ..] => rest.len() < 64 && rest.iter().all(|it| name(it) || it.is_ascii_digit()),
        _ => false,
    }
}

/// Whether a value is hidden already: `***`, `xxxx`, `....`, `•••`, `…`.
pub fn mask(value: &[u8]) -> bool {
    value.iter().all(|it| b"*.-#_xX?".contains(it) || "•…●".as_bytes().contains(it))
}

/// Whether a value is a path or an address: `/run/secrets/db`, `~/.netrc`, `https://…`. A key in Base64 may
/// begin with a slash too, and has a piece that no path has.
fn address(value: &[u8]) -> bool {
    let head = value.get(..value.len().min(96)).unwrap_or_default();
    let scheme = memchr::memmem::find(head, b"://").is_some();
    let path = matches!(value, [b'/', ..] | [b'~' | b'.', b'/', ..] | [b'.', b'.', b'/', ..]);
    let lettered = head.contains(&b'/') && !head.iter().any(u8::is_ascii_digit);
    (scheme || path || lettered) && !head.split(|it| *it == b'/').any(|piece| piece.len() >= 16 && random(piece))
}

fn random(piece: &[u8]) -> bool {
    camel(piece) && piece.iter().any(u8::is_ascii_digit)
}
