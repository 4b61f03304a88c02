use crate::scan::{redact, secret_member, secrets};

/// Secrets are put together here, so that no forge takes this file for a leak.
const RUN: &str = concat!("a1B2c3D4e5", "F6g7H8i9J0", "k1L2m3N4o5", "P6q7");
const CAPITALS: &str = concat!("IOSFODNN", "7EXAMPLE");

#[test]
fn tokens_are_caught_by_how_they_begin() {
    let table = [
        ("aws-key-id", format!("{}{CAPITALS}", "AKIA")),
        ("aws-key-id", format!("{}{CAPITALS}", "ASIA")),
        ("sk-key", format!("sk-{}", &RUN[..20])),
        ("sk-key", format!("sk-proj-{RUN}")),
        ("anthropic-key", format!("sk-ant-{}", &RUN[..20])),
        ("github-token", format!("ghp_{}", &format!("{RUN}zz")[..36])),
        ("github-token", format!("gho_{}", &format!("{RUN}zz")[..36])),
        ("github-token", format!("ghu_{}", &format!("{RUN}zz")[..36])),
        ("github-token", format!("ghs_{}", &format!("{RUN}zz")[..36])),
        ("github-token", format!("ghr_{}", &format!("{RUN}zz")[..36])),
        ("github-token", format!("github_pat_{}", &RUN[..22])),
        ("gitlab-token", format!("glpat-{}", &RUN[..20])),
        ("slack-token", format!("xoxb-{}", &RUN[..24])),
        ("slack-token", format!("xoxp-{}", &RUN[..24])),
        ("slack-token", format!("xapp-1-{}", &RUN[..24])),
        ("google-key", format!("AIza{}", &format!("{RUN}zz")[..35])),
        ("google-token", format!("ya29.{RUN}")),
        ("stripe-key", format!("sk_live_{}", &RUN[..24])),
        ("stripe-key", format!("rk_live_{}", &RUN[..24])),
        ("npm-token", format!("npm_{}", &format!("{RUN}zz")[..36])),
        ("jwt", format!("eyJhbGciOi.eyJzdWIiOi.{}", &RUN[..20])),
    ];
    for (kind, secret) in table {
        for (left, right) in [("", ""), ("key ", " is it"), ("(", ")"), ("\\n", "\\n"), ("x=\"", "\""), ("a\n", ",")] {
            let text = format!("{left}{secret}{right}");
            let found = secrets(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((found[0].kind, &text[found[0].range.clone()]), (kind, secret.as_str()), "{text}");
        }
        // Shorter than any such token is.
        let short: String = secret.chars().take(12).collect();
        assert_eq!(secrets(&short), [], "{short}");
    }
}

#[test]
fn what_is_hidden_is_the_value() {
    let table = [
        ("password=hunter2", "password=[REDACTED:named-secret]"),
        ("{\"password\": \"hunter2\", \"a\": 1}", "{\"password\": \"[REDACTED:named-secret]\", \"a\": 1}"),
        ("export GITHUB_TOKEN='abc def12345x'", "export GITHUB_TOKEN='[REDACTED:named-secret]'"),
        ("curl -H 'Authorization: Bearer abcdef0123456789'", "curl -H 'Authorization: Bearer [REDACTED:bearer-token]'"),
        ("BEARER   abcdefghijklmnopqrst.", "BEARER   [REDACTED:bearer-token]."),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[REDACTED:url-password]@db/x"),
        ("https://user:pass@host", "https://user:[REDACTED:url-password]@host"),
        ("https:\\/\\/user:p@ss@host", "https:\\/\\/user:[REDACTED:url-password]@host"),
        (
            concat!("https://hooks.slack.com", "/services/T00000000/B00000000/abcdefgh"),
            "https://hooks.slack.com/services[REDACTED:slack-hook]",
        ),
        (
            concat!("a -----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\nabc=\n-----END RSA PRIV", "ATE KEY----- b"),
            "a [REDACTED:private-key] b",
        ),
        (concat!("-----BEGIN PRIV", "ATE KEY-----\nwords"), "[REDACTED:private-key]\nwords"),
        (
            concat!("-----BEGIN OPENSSH PRIV", "ATE KEY-----\\nAAAABBBBCCCCDDDDAAAABBBBCCCCDDDD00\\nthe rest"),
            "[REDACTED:private-key]\\nthe rest",
        ),
        (concat!("token: ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7zz"), "token: [REDACTED:github-token]"),
    ];
    for (text, clean) in table {
        assert_eq!(redact(text).as_deref(), Some(clean), "{text}");
        assert_eq!(redact(clean), None, "{clean}");
    }
}

/// Whether what stands after the name is a secret, and why.
#[test]
fn named_values_are_judged_by_form_and_mixture() {
    let table = [
        // The four that are demanded, in every form.
        (true, "api_key=hunter2x", "demanded"),
        (true, "secret: s3cr3t-v4lue", "demanded"),
        (true, "token = 9f86d081884c", "letters and digits are nobody's prose"),
        (true, "password=hunter2", "demanded"),
        (true, "Password : hunter2", "blanks and case make no difference"),
        (true, "passwd: 'hunter2'", "quoted"),
        (true, "api-key: 0a1b2c3d4e", "either dash"),
        (true, "APIKEY=0a1b2c3d4e", "no dash"),
        (true, "API key: 0a1b2c3d4e", "as people write it"),
        (true, "GITHUB_TOKEN=0a1b2c3d4e", "the end of a longer name"),
        (true, "client_secret: 0a1b2c3d4e", "the end of a longer name"),
        (true, "accessToken: \"0a1b2c3d4e\"", "the end of a longer name"),
        (true, concat!("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "/bPxRfiCYEXAMPLEKEY"), "slashes are no path"),
        (true, "SECRET_KEY=django-insecure-x9", "settings"),
        (true, "\\\"token\\\": \\\"0a1b2c3d4e\\\"", "JSON inside JSON"),
        (true, "settings['token'] = '0a1b2c3d4e'", "subscript"),
        (true, "'password' => 'hunter2'", "PHP and Ruby"),
        (true, "token := \"0a1b2c3d4e\"", "Go"),
        (true, "?token=0a1b2c3d4e&x=1", "address"),
        (true, "password=letmein", "a tight equals sign is configuration, and people choose words"),
        (true, "password: swordfish", "alone at the end of a line, as in YAML"),
        (true, "password: \"letmein\"", "quotes mean the letters"),
        (true, "password=123456", "people choose digits too"),
        (true, "api_key=canary-secret-value", "no identifier has dashes"),
        (true, "token: \"the token is 0a1b2c3d4e\"", "a sentence that has it"),
        (true, "token=abcdefghijklmnopqrstuvwx", "too long for a word"),
        (true, "password: pa$$w0rd!", "signs are welcome"),
        // What a review found, both ways.
        (true, "token = deadbeefcafe", "hexadecimal letters, an equals sign"),
        (true, "export TOKEN=qwertyuiop", "a tight equals sign is never prose"),
        (true, "secret = correcthorsebattery", "configuration with blanks"),
        (true, "api_key: abcdefghijkl", "alone on a line, too long for a description"),
        (true, "log in with api_key: abcdefghijkl", "at the end"),
        (true, "secret: correcthorsebattery", "alone on a line"),
        (true, "secret: correcthorsebattery  # staging", "a comment ends the value"),
        (true, "echo \"password: swordfish\"", "a quotation mark ends the value"),
        (true, "API_TOKEN=abcdefabcdef", "a tight equals sign"),
        (true, "api_key := x9", "short, but letters and digits"),
        (true, "token=abc", "short, but nothing else can be meant"),
        (true, "password = letmein", "configuration with blanks"),
        (true, "password=1234", "people choose four digits"),
        (true, "token = \"expiring\"", "a literal is meant, word or not"),
        (true, "secret=my_hidden_value", "an environment has values, not variables"),
        (true, "connect(password=letmein)", "may be a variable; in doubt it is none"),
        (true, "{\"api_key\": \"abcdefghijkl\"}", "an object with a long word"),
        (true, "{\"password\": \"letmein\"}", "people choose words"),
        (true, "token: `0a1b2c3d4e`", "code in a sentence can be the secret"),
        (true, "secret: swordfish", "a word alone on a line"),
        (true, "api_key: abcdefgh", "alone on a line"),
        (true, "api_key: AbCdEfGh", "no name has so many capitals"),
        (true, "{\"api_key\": \"abcdefgh\"}", "an object with a word"),
        (true, "password='correct horse'", "a literal is meant, however many words"),
        (true, "secret = \"it is in the vault\"", "a literal is meant, sentence or not"),
        (true, "password: \"my dog rex\"", "several words that make no sentence"),
        (true, "\"password\": \"correct horse battery\"", "several words that make no sentence"),
        (false, "\"password\": \"minimum eight characters\"", "says what it must be"),
        (false, "\"password\": \"the usual one\"", "a sentence"),
        (false, "\"secret\": \"rotated every week\"", "a sentence"),
        (false, "\"client_secret\": \"shared by both services\"", "a sentence"),
        (false, "\"token\": \"left brace\"", "what a parser read"),
        (false, "unexpected token: semicolon", "what a parser read"),
        (false, "unexpected token: \"semicolon\"", "what a parser read"),
        (false, "token: GraphQL", "a name"),
        (false, "the secret: patience, and tests", "prose"),
        (false, "secret: shared", "a short word describes it"),
        (false, "{\"token\": \"opaque\"}", "a short word describes the token"),
        (false, "\"secret\": \"rotating\"", "describes it"),
        (false, "Fixed token: `refresh()` was not awaited", "a call in a sentence"),
        (false, "Renamed the token: `access_token` is now required", "a name in a sentence"),
        (false, "the token: expires after an hour", "prose"),
        (false, "token: authentication", "a word by its ending"),
        (false, "password = config.password", "reads a value"),
        (false, "token = refresh_token", "a variable"),
        (false, "token = accessToken", "a variable"),
        (false, "connect(token=auth_header)", "a variable"),
        (false, "let token = lexeme;", "in a statement a bare word is a variable"),
        (false, "let token = parser.next();", "a call"),
        (false, "token = await client.login()", "a keyword, then code"),
        (false, "type Token = u64;", "a type"),
        (false, "token = None", "nothing"),
        (false, "token=null", "nothing"),
        (false, "token = true", "a state"),
        (false, "token = \"\"", "nothing"),
        (false, "password=''", "nothing"),
        (false, "token=$X", "says where it is"),
        (false, "token = ${{ secrets.X }}", "says where it is"),
        (false, "token = <token>", "stands for one"),
        (false, "password=***", "masked"),
        (false, "password = changeme", "documentation"),
        (false, "token=[REDACTED:named-secret]", "taken out already"),
        (false, "token = 5", "a number"),
        (false, "token=:token", "bound by a query"),
        // Places where one would be.
        (false, "password: ***", "masked"),
        (false, "password: xxxxxxxx", "masked"),
        (false, "password: ••••••", "masked"),
        (false, "token: <token>", "stands for one"),
        (false, "--token=<TOKEN>", "stands for one"),
        (false, "token=$TOKEN", "says where it is"),
        (false, "TOKEN: ${TOKEN}", "says where it is"),
        (false, "token: ${{ secrets.GITHUB_TOKEN }}", "says where it is"),
        (false, "token=%TOKEN%", "says where it is"),
        (false, "password: $(pass show db)", "says where it is"),
        (false, "password: {{ vault.db }}", "says where it is"),
        (false, "f\"token={token}\"", "says where it is"),
        (false, "token: [REDACTED:named-secret]", "taken out already"),
        (false, "token: [REDACTED]", "taken out already"),
        (false, "password=changeme", "documentation"),
        (false, "api_key: \"your-api-key-1\"", "documentation"),
        (false, "password=/run/secrets/db2", "a path"),
        (false, "token: ~/.config/gh/hosts.yml", "a path"),
        (false, "token: https://example.org/oauth2/token", "an address"),
        // Types, numbers and states.
        (false, "token: string", "a type"),
        (false, "password: String,", "a type"),
        (false, "token: AccessToken", "a type"),
        (false, "fn check(token: &str)", "a type"),
        (false, "secret: [u8; 32]", "a type"),
        (false, "token: u64", "a type"),
        (false, "secret: null", "nothing"),
        (false, "token: 5", "a number"),
        (false, "token: 2026-08-01", "a date"),
        (false, "password: required", "a state"),
        (false, "\"password\": \"must be at least 8 characters\"", "a sentence"),
        // Other names.
        (false, "token_count: 512345678", "the name ends otherwise"),
        (false, "max_tokens=4096abcdef", "the name ends otherwise"),
        (false, "\"secret_name\": \"db2credentials\"", "the name ends otherwise"),
        (false, "tokenizer: o200k_base", "the name ends otherwise"),
        (false, "idempotency_key: 0a1b2c3d4e", "a key of another kind"),
        (false, "public_key=0a1b2c3d4e", "a key of another kind"),
        // Code and prose.
        (false, "token = get_token()", "a call"),
        (false, "token = sha256(input)", "a call"),
        (false, "token = os.environ[\"TOKEN\"]", "an expression"),
        (false, "connect(token=self.token, password=config.password)", "an expression"),
        (false, "token == other12345", "a comparison"),
        (false, "Token::new12345", "a path"),
        (false, "token => token.id", "a function"),
        (false, "the token: it expires", "prose"),
        (false, "the secret: nobody reads the manual", "prose"),
        (false, "rotate the token: re-issued tokens are shorter", "prose"),
        (false, "Password: the user's own", "prose"),
        (false, "It is a secret. Version 12345678 knows", "no sign between"),
    ];
    for (expected, text, why) in table {
        assert_eq!(!secrets(text).is_empty(), expected, "{text}: {why}");
    }
}

#[test]
fn ordinary_texts_have_no_secrets() {
    let table = [
        "the bear is bearing, the bearer of news arrives",
        "use a Bearer token/authorization header",
        "Bearer <token>",
        "Authorization: Bearer ****************",
        "task-0123456789012345678901234567890",
        "risk-assessment-of-the-whole-department",
        "the skeleton is in crates/sk-test",
        // In the middle of a word `sk-` begins no key.
        "use task-sk-based-naming-convention-long",
        "use desk_sk-based-naming-convention-2026",
        "AKIAN is a town, and Asia a continent",
        "https://example.org/a@b",
        "https://example.org:8080/x@y",
        "git@github.com:owner/repo.git",
        "ssh://git@github.com/owner/repo.git",
        "https://user:$PASSWORD@host/",
        "https://user:***@host/",
        "mail bob@example.org: he knows",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        concat!("-----BEGIN PUB", "LIC KEY-----"),
        "npm_config_registry and npm_lifecycle_event",
        "ghp_ is how tokens of GitHub begin",
        "hooks.slack.com is where hooks live",
        "eyJ is {\" in Base64",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "6f1f2d0e-8f1f-4f53-9a55-3b6a1f4f7f10",
    ];
    for text in table {
        assert_eq!(secrets(text), [], "{text}");
        assert_eq!(redact(text), None);
    }
}

/// A secret whatever its name.
const STRONG: &str = "q8Zr2LmX0vT7cY4k";

#[test]
fn keys_and_values_of_objects() {
    for key in ["password", "Password", "db_password", "apiKey", "api-key", "API key", "GITHUB_TOKEN", "clientSecret"] {
        assert!(secret_member(key, STRONG), "{key}");
    }
    for key in ["token_count", "tokens", "secret_name", "key", "idempotency_key", "", "passwords", "public_key"] {
        assert!(!secret_member(key, STRONG), "{key}");
    }
    for value in ["hunter2", "letmein", "0a1b2c3d", "correct-horse", "correct horse battery staple"] {
        assert!(secret_member("password", value), "{value}");
    }
    for value in
        ["", "***", "<token>", "$TOKEN", "[REDACTED:named-secret]", "string", "see the vault", "/run/secrets/x"]
    {
        assert!(!secret_member("password", value), "{value}");
    }
}

#[test]
fn members_are_judged_as_texts_are() {
    let table = [
        (true, "password", "letmein"),
        (true, "token", "0a1b2c3d4e"),
        (true, "api_key", "abcdefghijkl"),
        (true, "api_key", "abcdefgh"),
        (true, "secret", "swordfish"),
        (true, "client_secret", "correct horse battery"),
        (false, "token", "left brace"),
        (false, "password", "must have a digit"),
        (false, "token", "opaque"),
        (false, "token", "bearing"),
        (false, "secret", "shared"),
        (false, "password", "required"),
        (false, "title", "0a1b2c3d4e"),
    ];
    for (expected, key, value) in table {
        assert_eq!(secret_member(key, value), expected, "{key}: {value}");
        assert_eq!(!secrets(&format!("{{\"{key}\": \"{value}\"}}")).is_empty(), expected, "{key}: {value}");
    }
}

#[test]
fn overlapping_secrets_are_one() {
    let text =
        concat!("password=https://u:ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7zz", "@host token=token=token=12345678");
    let found = secrets(text);
    assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start), "{found:?}");
    assert!(!redact(text).unwrap().contains("a1B2"));
}

#[test]
fn neighbours_are_all_found_at_once() {
    let aws = format!("{}{CAPITALS}", "AKIA");
    let slack = format!("xoxb-{}", &RUN[..24]);
    let sk = format!("sk-{RUN}");
    let google = format!("AIza{}", &format!("{RUN}zz")[..35]);
    let npm = format!("npm_{}", &format!("{RUN}zz")[..36]);
    let named = ["api_key=0a1b2c3d4e", "password=hunter2", "secret=0a1b2c3d4e", "token=0a1b2c3d4e"];
    let all: Vec<&str> = [&aws, &slack, &sk, &google, &npm].map(String::as_str).into_iter().chain(named).collect();
    for one in &all {
        for other in all.iter().filter(|other| *other != one) {
            assert_eq!(secrets(&format!("{one} {other}")).len(), 2, "{one} {other}");
        }
    }
    assert_eq!(secrets(&all.join(" ")).len(), all.len());
    // A word before it does not hide a key that is one.
    assert_eq!(secrets(&format!("my-{sk}")).len(), 1);
}
