//! How the binary is linked, on which hangs how fast it starts.
#![cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Read;

/// The kinds of programs in the ELF format, as the two bytes behind the sixteenth say it.
const FIXED: u16 = 2;
const ANYWHERE: u16 = 3;

#[test]
fn the_binary_lies_at_a_fixed_address_unless_it_was_built_otherwise() {
    let mut head = [0; 18];
    std::fs::File::open(env!("CARGO_BIN_EXE_countersign")).unwrap().read_exact(&mut head).unwrap();
    assert_eq!(&head[..4], b"\x7fELF");
    let expected = if option_env!("COUNTERSIGN_PIE") == Some("1") { ANYWHERE } else { FIXED };
    assert_eq!(u16::from_ne_bytes([head[16], head[17]]), expected);
}
