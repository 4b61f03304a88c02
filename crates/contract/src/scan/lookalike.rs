//! Letters of other scripts that look like Latin ones.
//!
//! A small table: those that a reader takes for the Latin letter in running text. Letters that merely resemble one are left
//! out, so that words of other languages do not turn into English ones.

/// The Latin letter that a letter of another script is taken for.
#[rustfmt::skip]
pub fn latin(char: char) -> Option<char> {
    Some(match char {
        // Cyrillic.
        'а' => 'a', 'е' => 'e', 'о' => 'o', 'р' => 'p', 'с' => 'c', 'у' => 'y', 'х' => 'x', 'к' => 'k', 'і' => 'i',
        'ј' => 'j', 'ѕ' => 's', 'ѵ' => 'v', 'һ' => 'h', 'ӏ' => 'l', 'ԁ' => 'd', 'ԛ' => 'q', 'ԝ' => 'w',
        'А' => 'A', 'В' => 'B', 'Е' => 'E', 'К' => 'K', 'М' => 'M', 'Н' => 'H', 'О' => 'O', 'Р' => 'P', 'С' => 'C',
        'Т' => 'T', 'У' => 'Y', 'Х' => 'X', 'І' => 'I', 'Ј' => 'J', 'Ѕ' => 'S', 'Ѵ' => 'V', 'Ӏ' => 'I', 'Ԛ' => 'Q',
        'Ԝ' => 'W',
        // Greek.
        'α' => 'a', 'ε' => 'e', 'γ' => 'y', 'η' => 'n', 'ι' => 'i', 'κ' => 'k', 'ν' => 'v', 'ο' => 'o', 'ρ' => 'p',
        'τ' => 't', 'υ' => 'u', 'χ' => 'x', 'ω' => 'w', 'ϲ' => 'c', 'ϳ' => 'j',
        'Α' => 'A', 'Β' => 'B', 'Ε' => 'E', 'Ζ' => 'Z', 'Η' => 'H', 'Ι' => 'I', 'Κ' => 'K', 'Μ' => 'M', 'Ν' => 'N',
        'Ο' => 'O', 'Ρ' => 'P', 'Τ' => 'T', 'Υ' => 'Y', 'Χ' => 'X',
        // Armenian.
        'հ' => 'h', 'յ' => 'j', 'ո' => 'n', 'ս' => 'u', 'օ' => 'o', 'ց' => 'g',
        // Latin that is not the alphabet's: without its dot, of phonetics, small capitals.
        'ı' => 'i', 'ȷ' => 'j', 'ɑ' => 'a', 'ɡ' => 'g', 'ɩ' => 'i',
        'ᴀ' => 'a', 'ʙ' => 'b', 'ᴄ' => 'c', 'ᴅ' => 'd', 'ᴇ' => 'e', 'ꜰ' => 'f', 'ɢ' => 'g', 'ʜ' => 'h', 'ɪ' => 'i',
        'ᴊ' => 'j', 'ᴋ' => 'k', 'ʟ' => 'l', 'ᴍ' => 'm', 'ɴ' => 'n', 'ᴏ' => 'o', 'ᴘ' => 'p', 'ʀ' => 'r', 'ꜱ' => 's',
        'ᴛ' => 't', 'ᴜ' => 'u', 'ᴠ' => 'v', 'ᴡ' => 'w', 'ʏ' => 'y', 'ᴢ' => 'z',
        _ => return None,
    })
}
