//! Reading what the system tells of its processes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file below `/proc`, which has no length that could be asked for: in pieces so large that most come at once. What reads any
/// file feels its way with a few bytes at a time, and every process of the machine is looked at for every task.
pub(crate) fn read(path: impl AsRef<Path>) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let (mut bytes, mut piece) = (Vec::new(), [0; 4 << 10]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(length) => bytes.extend_from_slice(piece.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
