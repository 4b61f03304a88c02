//! Protocol Buffers on the wire: as much of writing and reading as the messages of a trace need.

/// A message that is being written. Fields with nothing in them are left out, as the third version of the language has it.
#[derive(Default)]
pub(super) struct Out(Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

impl Out {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn tag(&mut self, field: u32, form: u32) {
        self.varint(u64::from(field << 3 | form));
    }

    /// A number.
    pub(super) fn number(&mut self, field: u32, number: u64) {
        if number != 0 {
            self.always_number(field, number);
        }
    }

    /// A number of a choice, where zero says something, too.
    pub(super) fn always_number(&mut self, field: u32, number: u64) {
        self.tag(field, VARINT);
        self.varint(number);
    }

    /// A number of eight bytes.
    pub(super) fn fixed64(&mut self, field: u32, number: u64) {
        self.tag(field, FIXED64);
        self.0.extend(number.to_le_bytes());
    }

    /// A number of four bytes.
    pub(super) fn fixed32(&mut self, field: u32, number: u32) {
        self.tag(field, FIXED32);
        self.0.extend(number.to_le_bytes());
    }

    /// Bytes.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.always_bytes(field, bytes);
        }
    }

    /// Bytes of a choice, where none say something, too.
    pub(super) fn always_bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// A text.
    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A message inside of this one.
    pub(super) fn message(&mut self, field: u32, write: impl FnOnce(&mut Out)) {
        let mut inner = Out::default();
        write(&mut inner);
        self.always_bytes(field, &inner.0);
    }

    /// What was written.
    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// A field of a message that is being read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// A number.
    Number(u64),
    /// Bytes, a text or a message.
    Bytes(&'a [u8]),
    /// A number of a fixed length, which nothing here asks for.
    Fixed,
}

/// The fields of a message, by number. None, if it is no message.
pub(super) fn fields(mut bytes: &[u8]) -> Option<Vec<(u32, Field<'_>)>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let field = match (tag & 7) as u32 {
            VARINT => Field::Number(varint(&mut bytes)?),
            BYTES => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Field::Bytes(take(&mut bytes, length)?)
            }
            FIXED64 => take(&mut bytes, 8).map(|_| Field::Fixed)?,
            FIXED32 => take(&mut bytes, 4).map(|_| Field::Fixed)?,
            _ => return None,
        };
        fields.push((number, field));
    }
    Some(fields)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(number in 1_u64.., text in ".{1,300}", field in 1_u32..5000) {
            let mut out = Out::default();
            out.number(field, number);
            out.text(field, &text);
            out.fixed64(1, number);
            out.message(2, |inner| inner.number(3, number));
            let bytes = out.done();
            let read = fields(&bytes).unwrap();
            prop_assert_eq!(&read[..3], &[
                (field, Field::Number(number)), (field, Field::Bytes(text.as_bytes())), (1, Field::Fixed),
            ]);
            let Field::Bytes(inner) = read[3].1 else { panic!("no message") };
            prop_assert_eq!(fields(inner), Some(vec![(3, Field::Number(number))]));
            // A part of a message is none, or has fewer fields.
            for end in 0..bytes.len() {
                prop_assert!(fields(&bytes[..end]).is_none_or(|part| part.len() < 4));
            }
        }

        #[test]
        fn whatever_comes_is_read_without_breaking(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = fields(&bytes);
        }
    }
}
