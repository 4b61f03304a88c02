//! How many tokens a text is.
//!
//! Counts are exact for `o200k_base` and `cl100k_base`: the same as the reference's, for every text. What looks like a
//! special token (`<|endoftext|>`) is counted as the ordinary text that it is. `chars4` is an estimate.
//!
//! ```
//! use countersign_tokens::Encoding;
//!
//! let encoding: Encoding = "o200k_base".parse()?;
//! assert_eq!(encoding.count("An agent's word is a claim."), 8);
//! assert_eq!(encoding.count_within("An agent's word is a claim.", 7), None);
//! # Ok::<(), countersign_tokens::UnknownEncoding>(())
//! ```
//!
//! The way of a text: `split` cuts it into pieces as the reference's patterns do, `vocabulary` knows the pieces that
//! are one token, and `merge` counts the others.
//!
//! **Invariant:** nothing is set up at start. The vocabularies are perfect hash tables made by `build/main.rs`. They
//! lie in the binary in the form in which they are used, and only the pages that a text asks for are read.
//! **Invariant:** no text costs more than `n log n` in its bytes.
//! **Absent on purpose:** I/O, clock, randomness, async, unsafe; token ids and decoding, which a budget does not need.

#![forbid(unsafe_code)]

mod class;
mod encoding;
mod layout;
mod memo;
mod merge;
mod split;
mod vocabulary;
mod work;

pub use encoding::{Encoding, UnknownEncoding};
