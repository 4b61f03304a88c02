//! Checkpoints: the end of the log, signed. Kept elsewhere, one shows that nothing before it was changed since.
//!
//! The text is a signed note (c2sp.org/signed-note) that holds a tree head (c2sp.org/tlog-checkpoint). A line of its own
//! binds the chain to the tree, so that neither can be swapped for another.
//!
//! ```text
//! countersign/0197f3…                                   the project
//! 4711                                                  how many events
//! Qm9vLi4u…=                                            the root of the tree over them
//! chain 9f86d081…                                       the hash of the last of them
//!
//! — countersign/0197f3… gnYbTs…=                        who says so
//! ```

use crate::error::{Error, Result};
use crate::hash::Hash;
use ed25519_dalek::{Signature, SigningKey, VerifyingKey};
use signed_note::{Note, NoteError, StandardSigner, Verifier, VerifierList};
use std::fmt;
use tlog_tiles::tlog;

const ORIGIN: &str = "countersign/";
const CHAIN: &str = "chain ";

/// The end of a log, at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The project's id.
    pub project: String,
    /// How many events there were.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// The hash of the last of them.
    pub head: Hash,
}

impl Checkpoint {
    fn text(&self) -> Result<Vec<u8>> {
        let extension = format!("{CHAIN}{}\n", self.head);
        let origin = format!("{ORIGIN}{}", self.project);
        let text = tlog_tiles::Checkpoint::new(&origin, self.size, tlog::Hash(self.root.0), &extension);
        text.map(|it| it.to_bytes()).map_err(|error| Error::Malformed(error.to_string()))
    }

    /// Signs it.
    pub fn sign(&self, key: &SecretKey) -> Result<String> {
        let unsigned = |error: &dyn fmt::Display| Error::Malformed(format!("the checkpoint cannot be signed: {error}"));
        let mut note = Note::new(&self.text()?, &[]).map_err(|error| unsigned(&error))?;
        note.add_sigs(&[&key.0]).map_err(|error| unsigned(&error))?;
        String::from_utf8(note.to_bytes()).map_err(|error| unsigned(&error))
    }

    /// Reads a signed one, provided that one of the keys signed it. A key speaks for the project whose name it has, and for
    /// no other.
    pub fn open(note: &str, keys: &[PublicKey]) -> Result<Self> {
        let unsigned = || refused("no key that is known here for its project has signed it".to_owned());
        Self::open_if_known(note, keys)?.ok_or_else(unsigned)
    }

    /// The same; nothing, if none of the keys has signed it. A signature in the name of one of them that does not hold is an
    /// error all the same.
    pub fn open_if_known(note: &str, keys: &[PublicKey]) -> Result<Option<Self>> {
        let read = Note::from_bytes(note.as_bytes()).map_err(|error| refused(error.to_string()))?;
        let known = keys.iter().map(|key| Box::new(key.clone()) as Box<dyn Verifier>).collect();
        let signed = match read.verify(&VerifierList::new(known)) {
            Ok((signed, _)) => signed,
            Err(NoteError::UnverifiedNote) => return Ok(None),
            Err(error) => return Err(refused(error.to_string())),
        };
        let unbound = || refused("it does not bind a project, a tree and a chain".to_owned());
        let checkpoint = Self::read(read.text()).ok_or_else(unbound)?;
        let own = format!("{ORIGIN}{}", checkpoint.project);
        Ok(signed.iter().any(|signature| signature.name() == own).then_some(checkpoint))
    }

    /// Reads what a note says, whoever signed it.
    fn read(text: &[u8]) -> Option<Self> {
        let read = tlog_tiles::Checkpoint::from_bytes(text).ok()?;
        let project = read.origin().strip_prefix(ORIGIN)?.to_owned();
        let chain = read.extension().strip_prefix(CHAIN)?.strip_suffix('\n')?;
        let read = Self { project, size: read.size(), root: Hash(read.hash().0), head: Hash::from_hex(chain)? };
        crate::event::project_fault(&read.project).is_none().then_some(read)
    }
}

fn refused(why: String) -> Error {
    Error::Malformed(format!("this is no checkpoint that can be relied on: {why}"))
}

/// A key that signs checkpoints, and nothing else.
pub struct SecretKey(StandardSigner);

impl SecretKey {
    /// Makes a new pair of keys for a project: what is to be kept secret, and what is to be given away.
    pub fn generate(project: &str) -> (String, String) {
        signed_note::generate_key(&mut rand_core::OsRng, &format!("{ORIGIN}{project}"))
    }

    /// Reads the secret part.
    pub fn parse(text: &str) -> Result<Self> {
        let key = StandardSigner::new(text.trim());
        key.map(Self).map_err(|error| Error::Malformed(format!("the signing key cannot be used: {error}")))
    }

    /// The public part of a secret one.
    pub fn public(text: &str) -> Result<PublicKey> {
        let unusable = || Error::Malformed("the signing key cannot be used".to_owned());
        let mut parts = text.trim().splitn(5, '+').skip(2);
        let name = parts.next().ok_or_else(unusable)?;
        let key = parts.nth(1).and_then(unbase64).ok_or_else(unusable)?;
        let key: [u8; 32] = key.strip_prefix(&[ED25519]).and_then(|it| it.try_into().ok()).ok_or_else(unusable)?;
        let key = SigningKey::from_bytes(&key).verifying_key();
        PublicKey::parse(&signed_note::new_ed25519_verifier_key(name, &key))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretKey(…)")
    }
}

/// What marks a key as one for Ed25519.
const ED25519: u8 = 1;

/// A key that verifies checkpoints. It verifies strictly: one text has one signature that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    name: String,
    id: u32,
    key: VerifyingKey,
    text: String,
}

impl PublicKey {
    /// What tells it from other keys of the same name.
    pub fn id(&self) -> String {
        format!("{:08x}", self.id)
    }

    /// Reads `name+id+key`.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let refused = |why: &dyn fmt::Display| Error::Malformed(format!("`{text}` is no public key: {why}"));
        let known = signed_note::StandardVerifier::new(text).map_err(|error| refused(&error))?;
        // The key itself may have a plus in it.
        let bytes = text.splitn(3, '+').nth(2).and_then(unbase64).unwrap_or_default();
        let bytes: Option<[u8; 32]> = bytes.strip_prefix(&[ED25519]).and_then(|it| it.try_into().ok());
        let key = VerifyingKey::from_bytes(&bytes.unwrap_or_default()).map_err(|error| refused(&error))?;
        Ok(Self { name: known.name().to_owned(), id: known.key_id(), key, text: text.to_owned() })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl Verifier for PublicKey {
    fn name(&self) -> &str {
        &self.name
    }

    fn key_id(&self) -> u32 {
        self.id
    }

    fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        let signature = Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.key.verify_strict(text, &signature).is_ok())
    }
}

pub(crate) fn unbase64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_what_its_key_signed() {
        let (secret, public) = SecretKey::generate("p");
        let (_, stranger) = SecretKey::generate("p");
        let public = PublicKey::parse(&public).unwrap();
        assert_eq!(SecretKey::public(&secret).unwrap(), public);
        let checkpoint =
            Checkpoint { project: "p".to_owned(), size: 3, root: Hash::of(b"root"), head: Hash::of(b"head") };
        let note = checkpoint.sign(&SecretKey::parse(&secret).unwrap()).unwrap();
        assert_eq!(Checkpoint::open(&note, std::slice::from_ref(&public)).unwrap(), checkpoint);
        assert!(Checkpoint::open(&note, &[PublicKey::parse(&stranger).unwrap()]).is_err());
        assert!(Checkpoint::open(&note, &[]).is_err());
        // A key of another project speaks for that one alone.
        let (other, other_public) = SecretKey::generate("q");
        let note_by_other = checkpoint.sign(&SecretKey::parse(&other).unwrap()).unwrap();
        assert!(Checkpoint::open(&note_by_other, &[PublicKey::parse(&other_public).unwrap()]).is_err());
        assert_eq!(Checkpoint::open_if_known(&note, &[]).unwrap(), None);
        for at in 0..note.len() {
            let mut changed = note.clone().into_bytes();
            changed[at] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else { continue };
            assert!(Checkpoint::open(&changed, std::slice::from_ref(&public)).is_err(), "byte {at}: {changed}");
        }
    }
}
