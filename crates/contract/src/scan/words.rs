//! Words by which what stands after `password:` is known to be no password: a state, a label, a sentence about it.
//!
//! None of them is looked for in a text. They are asked about a value alone, which is rare: its name must have ended like
//! that of a secret, and an assignment must have followed.

use super::phrase::any;

/// Words that stand where a value would: types, states, and what documentation and forms write instead of one.
#[rustfmt::skip]
pub const ORDINARY: &[&str] = any![
    absent access any anything bar base64 bearer bool boolean bytes change_me changed changeit changeme changethis confirm
    confirmation credential credentials default denied disabled dummy empty enabled encrypted env expired f64 false file fixme foo
    foobar generated hash hashed hex hidden hide i32 i64 identifier incorrect int32 int64 integer invalid jwt masked missing mysecret
    mytoken n needed never nil no none nothing null number oauth2 object off omitted on opaque optional
    parameter parameters passwd password plaintext private public random redacted refresh rejected removed
    repeat required retype rotated secret self session sha256 sha512 show signed stored str string stripped test text
    this todo token true u16 u32 u64 u8 uint32 uint64 undefined unique unknown unset unused usize uuid valid value
    vault void works wrong y yes
    erforderlich pflichtfeld wiederholen bestätigen obligatoire requis confirmer obligatorio requerido confirmar
    obrigatório obbligatorio richiesto conferma verplicht vereist herhalen wymagane
];

/// The same with a hyphen.
pub const HYPHENED: &[&str] = &["change-me", "utf-8"];

/// What a secret is called, in the languages that forms are written in: `Mot de passe`, `Neues Passwort`. One of them as a
/// whole word makes a label of a few words.
#[rustfmt::skip]
const LABELS: &[&str] = any![
    credential credentials key keys passcode passphrase passwd password passwords pin pwd secret secrets token tokens
    kennwort kennwörter passwort passwörter passe clé clave contraseña contraseñas senha senhas chave parola chiave
    wachtwoord sleutel lösenord lösenordet nyckel adgangskode kodeord passord salasana hasło hasła heslo jelszó parolă
    şifre şifreniz zaporka lozinka geslo slaptažodis parole parool sandi khẩu
];

/// The same in scripts that put no blanks between words, or change how words end. Enough as a part.
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "парол", "лозинк", "κωδικ", "συνθηματικ", "密码", "密碼", "口令", "密钥", "密鑰", "パスワード", "暗証番号", "비밀번호", "암호",
    "كلمة المرور", "كلمة السر", "סיסמ", "รหัสผ่าน", "पासवर्ड",
];

/// Words of which one is enough to tell that several are a sentence about the secret, and no pass phrase.
#[rustfmt::skip]
const TELLING: &[&str] = any![
    about after again and are as at be been before between both by can cannot characters chars digits during each
    either every for from given had has have hint how if in instead into is it kept least length letters long
    longer mask maximum min minimum max missing must not of once one only or our please provided same see set shared
    shorter should since so supplied than that the their them then there they these those to too twice unless until
    use used user users via was weekly were what when where which who will with without yet you your
    bitte darf das der ein eine einen geben ihr ihre ist mindestens mit muss nicht oder sie und zeichen ziffern
    au caractères de des doit du est et le les moins ou pas saisissez une veuillez votre vos
    caracteres con debe el es introduzca la los menos por su tu una
    ao da deve digite do dos em insira não pelo sua um uma
    almeno caratteri che di inserisci il non
    een en het minimaal moet tekens uw voer
];

/// Words that people are known to take where a secret is wanted.
const CHOSEN: &[&str] = any![
    dragon football hunter iloveyou letmein master monkey princess shadow sunshine superman swordfish trustnoone welcome
];

/// How many words a label has that holds no word of sentences.
const LABEL_MOST: usize = 3;

/// Whether `word` is one of `list`, in any case.
pub fn is(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|it| word.eq_ignore_ascii_case(it.as_bytes()))
}

/// The words of a value. Letters beyond ASCII are letters.
fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|it| !it.is_ascii_alphanumeric() && it.is_ascii()).filter(|word| !word.is_empty())
}

/// Whether several words are a sentence: one of them is what only sentences have, or, where they are few, stands where a
/// value would. `my secret phrase here` is none: four words, of which none is a sign of a sentence.
pub fn tells(value: &[u8]) -> bool {
    let few = words(value).count() <= LABEL_MOST;
    words(value).any(|word| is(word, TELLING) || few && is(word, ORDINARY))
}

/// Whether several words are what a form writes beside the field for a secret: `Enter password`, `Neues Passwort`. It is
/// called by its name, and is short or a sentence.
pub fn label(value: &[u8]) -> bool {
    let labelled = words(value).any(|word| is(word, LABELS)) && (words(value).count() <= LABEL_MOST || tells(value));
    labelled || foreign(value)
}

/// Whether one word is such a label: `Passwort`. In `canary-secret-value` the name is a part, and it is none.
pub fn single_label(word: &[u8]) -> bool {
    is(word, LABELS) || foreign(word)
}

fn foreign(value: &[u8]) -> bool {
    if value.is_ascii() || value.len() > super::value::LONG || value.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let text = text.to_lowercase();
    is(text.as_bytes(), ORDINARY) || is(text.as_bytes(), LABELS) || STEMS.iter().any(|stem| text.contains(stem))
}

/// Whether a few words begin with a capital and have letters alone, as names of things do: `Keycloak admin console`.
pub fn named(value: &[u8]) -> bool {
    let letters = |it: &u8| it.is_ascii_alphabetic() || *it == b' ';
    value.first().is_some_and(u8::is_ascii_uppercase) && value.iter().all(letters) && words(value).count() <= LABEL_MOST
}

/// Whether letters read like a word that people say, as those that a machine drew hardly do: there are vowels, not too far
/// apart, nothing stands in the order of the alphabet or of a keyboard, and what is rare stands beside a vowel.
pub fn reads(value: &[u8]) -> bool {
    let lower: Vec<u8> = value.iter().map(u8::to_ascii_lowercase).collect();
    let consonants = |run: &&[u8]| run.len() > CONSONANTS_MOST;
    let vowels = |run: &&[u8]| run.len() > VOWELS_MOST;
    let chosen = is(&lower, CHOSEN);
    let spoken = lower.split(|it| vowel(*it)).find(consonants).is_none()
        && lower.split(|it| !vowel(*it)).find(vowels).is_none()
        && lower.iter().any(|it| vowel(*it));
    spoken && !chosen && !lower.windows(4).any(typed) && !lower.windows(2).any(odd)
}

const CONSONANTS_MOST: usize = 4;
const VOWELS_MOST: usize = 3;

fn vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Four letters in the order of the alphabet or of a row of keys, or one four times.
fn typed(four: &[u8]) -> bool {
    const ROWS: [&[u8]; 4] = [b"abcdefghijklmnopqrstuvwxyz", b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];
    ROWS.iter().any(|row| row.windows(4).any(|keys| keys == four))
        || four.windows(2).all(|two| matches!(two, [one, other] if one == other))
}

/// Two letters that no word has one after the other: a rare consonant before another one.
fn odd(two: &[u8]) -> bool {
    let &[one, other] = two else { return false };
    let beside: &[u8] = match one {
        b'j' => b"",
        b'q' => b"u",
        b'v' => b"rsv",
        b'w' => return matches!(other, b'v' | b'x' | b'j' | b'q' | b'z' | b'g'),
        b'x' => b"cfhptw",
        b'z' => b"lmzwt",
        _ => {
            return matches!(other, b'q' | b'x' | b'j')
                && !vowel(one)
                && !matches!((one, other), (b'n' | b'd' | b'b', b'j'));
        }
    };
    !vowel(other) && !beside.contains(&other)
}
