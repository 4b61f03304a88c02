//! What members with the name of a secret hold: good values, bad ones, and what the rules are known to get wrong.

use crate::scan::{secret_member, secrets};

/// Values that are no secrets, whatever of the three kinds of names they stand after.
const HARMLESS: &[&str] = &[
    // What forms write beside the field, in the languages that they are written in.
    "Password",
    "Password:",
    "Password*",
    "Enter password",
    "New password",
    "Confirm new password",
    "Enter your password",
    "Please type the new password again",
    "Forgot password?",
    "Client secret",
    "API key",
    "Mot de passe",
    "Nouveau mot de passe",
    "Saisissez votre mot de passe",
    "Neues Passwort",
    "Passwort",
    "Kennwort wiederholen",
    "Bitte neues Passwort eingeben",
    "Contraseña",
    "Nueva contraseña",
    "Introduzca su contraseña",
    "Senha",
    "Confirmar senha",
    "Inserisci la password",
    "Wachtwoord",
    "Nieuw wachtwoord",
    "Lösenord",
    "Nytt lösenord",
    "Adgangskode",
    "Hasło",
    "Nowe hasło",
    "Heslo",
    "Şifre",
    "Пароль",
    "Введите пароль",
    "ПАРОЛЬ",
    "密码",
    "请输入密码",
    "パスワードを入力してください",
    "비밀번호",
    "كلمة المرور",
    "סיסמה",
    "Κωδικός",
    // States, types and sentences.
    "required",
    "Obligatoire",
    "string",
    "null",
    "must have a digit",
    "at least 8 characters",
    "Mindestens 8 Zeichen",
    "au moins 8 caractères",
    "al menos 8 caracteres",
    "kept in the vault",
    // What stands in for a value.
    "${X}",
    "${DB_PASSWORD:-}",
    "$DB_PASSWORD",
    "$(pass show db)",
    "{{ vault.db }}",
    "${{ secrets.DB }}",
    "<your key>",
    "<password>",
    "%DB_PASSWORD%",
    "__DB_PASSWORD__",
    "xxxx",
    "XXXX-XXXX",
    "********",
    "changeme",
    "change-me",
    "CHANGE_ME",
    "changeit",
    "your-api-key-here",
    "YOUR_API_KEY_1",
    "my-api-key",
    "my_secret_key",
    "dummy-value-1",
    "example-key-123",
    "replace-with-key-1",
    "placeholder",
    "sk-...",
    "ghp_…",
    "[REDACTED]",
    "todo",
    // Where it is kept.
    "DB_PASSWORD",
    "DB_PASS",
    "env:DB_PASS2",
    "process.env.DB_PASS2",
    "os.environ['DB_PASS2']",
    "vault:secret/data/db2#value",
    "op://vault/db2/field",
    "file:/run/secrets/db2",
    "/run/secrets/db2",
    "~/.netrc",
    "https://example.org/token",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
];

/// Words that say whose a key or a token is, or what a parser read; a password may be such a word.
const WORDS: &[&str] = &[
    "terraform",
    "Terraform",
    "Keycloak",
    "keycloak",
    "kubernetes",
    "Kubernetes",
    "bitwarden",
    "hashicorp",
    "postgres",
    "elasticsearch",
    "secretsmanager",
    "openshift",
    "cloudflare",
    "parenthesis",
    "semicolon",
    "patience",
    "rotating",
    "production",
];

/// Values that are secrets, whatever of the three kinds of names they stand after.
const SECRET: &[&str] = &[
    "q8Zr2LmX0vT7cY4k",
    "0a1b2c3d4e",
    "9f86d081884c7d65",
    "6f1f2d0e-8f1f-4f53-9a55-3b6a1f4f7f10",
    "s3cr3t-v4lue",
    "hunter2!",
    "Tr0ub4dor&3",
    "P@ssw0rd",
    "Password1",
    "Passwort123",
    "пароль123",
    "pa$$w0rd!",
    "deadbeefcafe",
    "qwertyuiop",
    "abcdefghijkl",
    "aBcDeFgHiJkL",
    "xkqzvbnmtrwp",
    "swordfish",
    "correcthorsebatterystaple",
    "correct-horse-battery",
    "wJalrXUtnFEMI/K7MDENGbPxRfiCYKEY0",
    concat!("ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7zz"),
    concat!("glpat-", "a1B2c3D4e5F6g7H8i9J0"),
    concat!("sk-proj-", "a1B2c3D4e5F6g7H8i9J0"),
    concat!("xoxb-", "a1B2c3D4e5F6g7H8i9J0k1L2"),
    concat!("AKIA", "IOSFODNN7EXAMPLE"),
    "the password is hunter2hunter2",
];

/// Several words that are no sentence. A token has none.
const PHRASES: &[&str] = &[
    "my secret phrase here",
    "correct horse battery staple",
    "correct horse battery",
    "my dog rex",
    "purple monkey dishwasher lamp",
    "random public garden number seven",
    "cheval blanc rivière",
];

/// Short, or words: secrets where a person has chosen.
const CHOSEN: &[&str] =
    &["hunter2", "letmein", "terraform", "Keycloak", "dragon", "1234", "123456", "P@ss!", "correct horse"];

const NAMES: [&str; 3] = ["password", "client_secret", "access_token"];

/// A member is judged as the same is judged in a text.
fn both(name: &str, value: &str) -> [bool; 2] {
    [secret_member(name, value), !secrets(&format!("{{\"{name}\": \"{value}\"}}")).is_empty()]
}

#[test]
fn labels_states_and_places_are_no_secrets() {
    for name in NAMES {
        for value in HARMLESS {
            assert_eq!(both(name, value), [false; 2], "{name}: {value}");
        }
    }
    for name in ["client_secret", "api_key", "access_token", "secret"] {
        for value in WORDS {
            assert_eq!(both(name, value), [false; 2], "{name}: {value}");
            assert_eq!(secrets(&format!("{name}: {value}")), [], "{name}: {value}");
        }
    }
}

#[test]
fn secrets_are_found_whatever_they_are_called() {
    for value in SECRET {
        for name in NAMES {
            assert_eq!(both(name, value), [true; 2], "{name}: {value}");
        }
    }
    for value in PHRASES {
        for name in ["password", "client_secret"] {
            assert_eq!(both(name, value), [true; 2], "{name}: {value}");
        }
    }
    for value in CHOSEN {
        assert_eq!(both("password", value), [true; 2], "{value}");
    }
}

#[test]
fn literals_are_meant_unless_they_are_labels() {
    for value in ["Enter password", "Neues Passwort", "Please enter your password", "Password", "sk-...", "${X}"] {
        assert_eq!(secrets(&format!("password='{value}'")), [], "{value}");
        assert_eq!(secrets(&format!("password = \"{value}\"")), [], "{value}");
    }
    for value in ["correct horse", "it is in the garden", "my password is hunter2", "terraform", "hunter2!", "letmein"]
    {
        assert_eq!(secrets(&format!("password='{value}'")).len(), 1, "{value}");
    }
}

/// What the rules are known to get wrong. Whoever changes them sees here what it costs.
#[test]
fn what_cannot_be_told_apart() {
    // Secrets that pass: a key that is a word, a phrase that looks like a label or a sentence.
    for (name, value) in [
        ("client_secret", "rosebud"),
        ("password", "secret garden"),
        ("password", "the old mill"),
        ("token", "open sesame"),
    ] {
        assert_eq!(both(name, value), [false; 2], "{name}: {value}");
    }
    // What is refused and is none: a word about a password that nobody has listed, a name in small letters.
    for (name, value) in
        [("password", "hashing"), ("password", "Keycloak"), ("client_secret", "keycloak admin console")]
    {
        assert_eq!(both(name, value), [true; 2], "{name}: {value}");
    }
}
