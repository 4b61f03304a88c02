//! Inputs from a seed: the same seed gives the same inputs on every machine.

use crate::seeds::PIECES;

/// How long an input may grow.
const INPUT_BYTES_MAX: usize = 4096;
/// How many changes one input may go through.
const CHANGES_MAX: usize = 6;

/// Numbers that look like chance and are not: SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that always fall the same way for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % (end.max(1) as u64)).unwrap_or(0)
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

/// One input: a text of the corpus, changed a few times. The first round through the corpus changes nothing.
pub fn input(corpus: &[Vec<u8>], seed: u64, iteration: u64) -> Vec<u8> {
    if let Some(plain) = usize::try_from(iteration).ok().and_then(|iteration| corpus.get(iteration)) {
        return plain.clone();
    }
    let mut dice = Dice::new(seed ^ iteration.wrapping_mul(0xD134_2543_DE82_EF95));
    let mut bytes = dice.pick(corpus).clone();
    for _ in 0..=dice.below(CHANGES_MAX) {
        change(&mut bytes, corpus, &mut dice);
    }
    bytes.truncate(INPUT_BYTES_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let to = (at + dice.below(16)).min(bytes.len());
    match dice.below(9) {
        // A piece with meaning goes in, twice as often as anything else.
        0 | 1 => drop(bytes.splice(at..at, dice.pick(PIECES).bytes())),
        2 => drop(bytes.splice(at..to, dice.pick(PIECES).bytes())),
        3 => drop(bytes.drain(at..to)),
        4 => {
            let copy = bytes[at..to].to_vec();
            let there = dice.below(bytes.len() + 1);
            drop(bytes.splice(there..there, copy));
        }
        5 => bytes.truncate(at),
        6 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        7 => {
            // The head of one text and the tail of another.
            let other = dice.pick(corpus);
            let from = dice.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        _ => {
            let count = 1 + dice.below(80);
            let piece = dice.pick(PIECES).repeat(count);
            drop(bytes.splice(at..at, piece.into_bytes()));
        }
    }
}
