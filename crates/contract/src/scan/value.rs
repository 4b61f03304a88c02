//! Whether what stands after `password:` is a password.
//!
//! The name alone cannot tell: `token: string` is a type, `token = get_token()` is code, `password: required`
//! is prose and `password=hunter2` is a leak. What tells is the form of the assignment and what the value is
//! made of; the table in the tests has the cases with their reasons.

/// What kind of name the value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Chosen by people, so it may be a word.
    Password,
    /// Made by machines, so it hardly is.
    Token,
}

/// How the value stands after its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `name: "value"`: meant literally.
    Quoted,
    /// `name=value`: configuration, addresses, keyword arguments.
    Tight,
    /// `name: value` at the end of a line, as in YAML.
    Last,
    /// `name: value and so on`: prose as likely as not.
    Loose,
}

/// Words that stand where a value would: types, states, and what documentation writes instead of one.
const ORDINARY: &[&str] = &[
    "absent",
    "access",
    "anything",
    "base64",
    "bearer",
    "boolean",
    "bytes",
    "change-me",
    "change_me",
    "changed",
    "changeme",
    "default",
    "denied",
    "disabled",
    "dummy",
    "empty",
    "enabled",
    "encrypted",
    "env",
    "expired",
    "false",
    "file",
    "fixme",
    "generated",
    "hashed",
    "hidden",
    "incorrect",
    "int32",
    "int64",
    "integer",
    "invalid",
    "masked",
    "missing",
    "mysecret",
    "mytoken",
    "needed",
    "never",
    "nil",
    "none",
    "null",
    "number",
    "oauth2",
    "object",
    "omitted",
    "optional",
    "passwd",
    "password",
    "private",
    "public",
    "redacted",
    "refresh",
    "rejected",
    "removed",
    "required",
    "rotated",
    "secret",
    "session",
    "sha256",
    "sha512",
    "stored",
    "str",
    "string",
    "stripped",
    "test",
    "text",
    "todo",
    "token",
    "true",
    "uint32",
    "uint64",
    "undefined",
    "unknown",
    "unset",
    "unused",
    "utf-8",
    "valid",
    "value",
    "vault",
    "works",
    "wrong",
];

/// How a value begins that tells the reader to put one there.
const STAND_INS: &[&str] = &["your", "example", "placeholder", "redacted", "insert", "replace", "xxx", "todo"];

/// Whether a string is a secret when the key before it says so.
pub fn secret_value(value: &str) -> bool {
    judge(value.trim().as_bytes(), Name::Password, Form::Quoted)
}

/// Longer than any word. Taking what is longer for a secret bounds the cost of what is not:
/// `token:token:token:…`.
pub const LONG: usize = 256;

/// Whether `value` is a secret, given its name and form.
pub fn judge(value: &[u8], name: Name, form: Form) -> bool {
    let least = if name == Name::Password { 4 } else { 6 };
    if value.len() < least || mask(value) {
        return false;
    }
    if value.len() > LONG && form != Form::Quoted {
        return true;
    }
    if reference(value) || address(value) {
        return false;
    }
    let begins = |stem: &&str| value.get(..stem.len()).is_some_and(|it| it.eq_ignore_ascii_case(stem.as_bytes()));
    if STAND_INS.iter().any(begins) || ORDINARY.iter().any(|it| value.eq_ignore_ascii_case(it.as_bytes())) {
        return false;
    }
    if value.contains(&b' ') {
        // A sentence about the secret, unless one of its words is one.
        return value.split(|it| *it == b' ').any(strong);
    }
    let mixture = Mixture::of(value);
    match (mixture, form, name) {
        (Mixture::Number, _, Name::Password) => value.len() >= 6,
        (Mixture::Number, Form::Quoted | Form::Tight, _) => value.len() >= 12,
        (Mixture::Number, ..) => false,
        (Mixture::Code, Form::Loose | Form::Last, Name::Token) => value.len() >= 8,
        (Mixture::Code, ..) => value.len() >= 6,
        (Mixture::Word, Form::Quoted, _) => true,
        (Mixture::Word, Form::Tight, Name::Password) => true,
        (Mixture::Word, Form::Last, Name::Password) => value.iter().all(u8::is_ascii_lowercase),
        // Long for a word, and not a type's name in capitals and small letters.
        (Mixture::Word, _, _) => value.len() >= 20 && !camel(value),
        (Mixture::Identifier, Form::Quoted, _) => true,
        (Mixture::Identifier, ..) => false,
        (Mixture::Words, Form::Quoted | Form::Tight, _) => true,
        (Mixture::Words, ..) => false,
    }
}

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mixture {
    /// Digits, and what numbers, dates and versions have between them.
    Number,
    /// Letters and digits, whatever else.
    Code,
    /// Letters alone.
    Word,
    /// Letters with `_`, `.` or `:` between, as code has.
    Identifier,
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
        } else if digit {
            Mixture::Code
        } else if all(u8::is_ascii_alphabetic) {
            Mixture::Word
        } else if all(|it| it.is_ascii_alphabetic() || b"_.:$?".contains(it)) {
            Mixture::Identifier
        } else {
            Mixture::Words
        }
    }
}

/// A word that nobody would write in a sentence.
fn strong(word: &[u8]) -> bool {
    let any = |class: fn(&u8) -> bool| word.iter().any(class);
    word.len() >= 8 && any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic) && !address(word) && !mask(word)
}

fn camel(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase)
}

/// Whether a value says where the secret is instead of what it is: `$TOKEN`, `${{ secrets.X }}`, `<token>`,
/// `%TOKEN%`, `[REDACTED]`, `{token}`.
pub fn reference(value: &[u8]) -> bool {
    let name = |it: &u8| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.' | b':' | b'/' | b'-' | b'$' | b'%');
    match value {
        [b'<' | b'{' | b'[' | b'(' | b'&', ..] => true,
        [b'$', b'{' | b'(' | b'$', ..] => true,
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
