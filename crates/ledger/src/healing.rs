//! Leases whose last sign of life lies in the future: the clock had jumped ahead, and came back.
//!
//! Whoever asks for such a lease heals it by that. If nobody does, it would be held for as long as the jump was, and nobody would
//! be woken for it; so those who act on deadlines look for them.

use crate::pages;
use crate::{Ledger, Result, RowKey, RowValue, Table};

/// How many leases are healed in one commit.
const AT_ONCE: usize = 256;

impl Ledger {
    /// Has every such lease last its whole length from now on, and says how many there were. All signs of life are read.
    pub fn heal(&self) -> Result<usize> {
        let now = self.write(|transaction| Ok(transaction.now()))?;
        let mut ahead = Vec::new();
        let each = &mut |(key, value)| {
            if let (RowKey::Liveness(name), RowValue::Liveness(row)) = (key, value)
                && row.beat > now
            {
                ahead.push(name);
            }
            Ok(())
        };
        pages::rows(&mut *self.store()?, Table::Liveness, each)?;
        let mut healed = 0;
        for names in ahead.chunks(AT_ONCE) {
            let names = names.to_vec();
            healed += self.write(move |transaction| {
                for name in &names {
                    transaction.lease(name)?;
                }
                Ok(transaction.healed.len())
            })?;
        }
        Ok(healed)
    }
}
