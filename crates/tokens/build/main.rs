//! Makes the tables that `src/vocabulary.rs` and `src/class.rs` read in place.
//!
//! The vocabularies come out of `tiktoken-rs`, which bundles them; nothing is downloaded and nothing is kept in the
//! repository. What is written is what a count needs and no more: which byte strings are tokens, and which two tokens
//! merge into which.

#![expect(clippy::expect_used, clippy::panic, reason = "a build that cannot make its tables must stop")]
#![expect(clippy::print_stdout, reason = "that is how a build script speaks to cargo")]

mod classes;
#[path = "../src/layout.rs"]
mod layout;
mod merges;
mod perfect;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use layout::{ID_BITS, NONE, OFFSET_BITS, SHORT_BYTES_MAX, mix, mix_long, pair_key, short_key, tag};
use tiktoken_rs::CoreBPE;

/// A slot that holds nothing. No key has all bits set: a short one has a length below 8 in its highest byte, a pair
/// has 36 bits.
const EMPTY: u64 = u64::MAX;

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/layout.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));

    write(&out, "classes", &classes::table());
    for (name, load) in
        [("o200k_base", tiktoken_rs::o200k_base as fn() -> _), ("cl100k_base", tiktoken_rs::cl100k_base)]
    {
        let bpe: CoreBPE = load().expect("the bundled vocabulary is well formed");
        vocabulary(&out, name, &tokens(&bpe));
    }
}

/// The byte strings of all ordinary tokens, in the order of their ranks.
fn tokens(bpe: &CoreBPE) -> Vec<Vec<u8>> {
    let special = bpe.special_tokens();
    let is_special = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| special.contains(text));
    let tokens: Vec<_> =
        (0..).map_while(|rank| bpe.decode_bytes(&[rank]).ok()).take_while(|text| !is_special(text)).collect();
    assert!(tokens.len() > 100_000, "the vocabulary has a gap at rank {}", tokens.len());
    assert!(tokens.len() <= NONE as usize, "token ids no longer fit their slots");
    tokens
}

/// Writes the tables of one vocabulary.
fn vocabulary(out: &Path, name: &str, tokens: &[Vec<u8>]) {
    let ranks: HashMap<&[u8], u32> = tokens.iter().map(Vec::as_slice).zip(0..).collect();

    let bytes: Vec<u8> = (0..=u8::MAX).flat_map(|byte| ranks[[byte].as_slice()].to_le_bytes()).collect();
    write(out, &format!("{name}.bytes"), &bytes);

    let ascii_pairs: Vec<u32> = (0..128_u8)
        .flat_map(|left| (0..128).map(move |right| [left, right]))
        .map(|pair| ranks.get(pair.as_slice()).copied().unwrap_or(NONE))
        .collect();
    write(out, &format!("{name}.ascii_pairs"), &ascii_pairs.concat_le());

    let (short, long): (Vec<_>, Vec<_>) = tokens.iter().partition(|text| text.len() <= SHORT_BYTES_MAX);
    short_tokens(out, name, &short);
    long_tokens(out, name, &long);
    pairs(out, name, &merges::of(tokens, &ranks));

    let longest = tokens.iter().map(Vec::len).max().expect("a vocabulary has tokens");
    write(out, &format!("{name}.longest"), longest.to_string().as_bytes());
}

fn short_tokens(out: &Path, name: &str, tokens: &[&Vec<u8>]) {
    let keys: Vec<u64> = tokens
        .iter()
        .map(|text| short_key(text.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)), text.len()))
        .collect();
    let hashes: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
    let table = perfect::build(&hashes);
    let slots = table.fill(EMPTY, |index| keys[index]);
    write(out, &format!("{name}.short.pilots"), &table.pilots());
    write(out, &format!("{name}.short.slots"), &slots.concat_le());
}

fn long_tokens(out: &Path, name: &str, tokens: &[&Vec<u8>]) {
    // Offset 0 holds a text of no bytes, so that an empty slot points to something that equals no token.
    let mut texts = vec![0_u8];
    let mut offsets = Vec::new();
    for text in tokens {
        offsets.push(u32::try_from(texts.len()).expect("the texts are about a megabyte"));
        texts.push(u8::try_from(text.len()).expect("the longest token has 128 bytes"));
        texts.extend_from_slice(text);
    }
    assert!(texts.len() < 1 << OFFSET_BITS, "offsets no longer fit their slots");

    let hashes: Vec<u64> = tokens.iter().map(|text| mix_long(text)).collect();
    let table = perfect::build(&hashes);
    let slots = table.fill(0, |index| tag(hashes[index]) << OFFSET_BITS | offsets[index]);
    write(out, &format!("{name}.long.pilots"), &table.pilots());
    write(out, &format!("{name}.long.slots"), &slots.concat_le());
    write(out, &format!("{name}.long.texts"), &texts);
}

fn pairs(out: &Path, name: &str, merges: &[merges::Merge]) {
    let keys: Vec<u64> = merges.iter().map(|merge| pair_key(merge.left, merge.right)).collect();
    let hashes: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
    let table = perfect::build(&hashes);
    let slots = table.fill(EMPTY, |index| keys[index] << ID_BITS | u64::from(merges[index].whole));
    write(out, &format!("{name}.pairs.pilots"), &table.pilots());
    write(out, &format!("{name}.pairs.slots"), &slots.concat_le());
}

fn write(out: &Path, name: &str, bytes: &[u8]) {
    fs::write(out.join(name), bytes).expect("OUT_DIR can be written");
}

/// Numbers as the little-endian bytes in which the tables store them.
trait ConcatLe {
    fn concat_le(&self) -> Vec<u8>;
}

impl ConcatLe for [u64] {
    fn concat_le(&self) -> Vec<u8> {
        self.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

impl ConcatLe for [u32] {
    fn concat_le(&self) -> Vec<u8> {
        self.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}
