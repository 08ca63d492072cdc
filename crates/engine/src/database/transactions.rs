//! Transactions of a session.

use kvdyno_abi as abi;

use super::{Session, TransactionState, missing};
use crate::error::EngineError;

fn out_of_order(reason: &str) -> EngineError {
    EngineError { status: abi::ERROR, reason: reason.to_owned() }
}

impl Session<'_> {
    /// Begins a transaction of `kind`: [`abi::READ_WRITE`] or [`abi::READ_ONLY`].
    ///
    /// # Errors
    /// The engine's error; or a transaction is open already, for they do not nest.
    pub fn begin(&mut self, kind: u32) -> Result<(), EngineError> {
        if self.transaction.get() == TransactionState::Begun {
            return Err(out_of_order("begin: a transaction is open on this session, and they do not nest"));
        }
        let call = self.table.begin.ok_or_else(|| missing("transactions"))?;
        // SAFETY: the session is open, and within no transaction.
        self.ended(unsafe { call(self.handle, kind) })?;
        self.transaction.set(TransactionState::Begun);
        Ok(())
    }

    /// Commits it. It is over then, whatever the outcome.
    ///
    /// # Errors
    /// The engine's error; or no transaction is open.
    pub fn commit(&mut self) -> Result<(), EngineError> {
        if self.transaction.get() != TransactionState::Begun {
            return Err(out_of_order("commit: no transaction is open on this session"));
        }
        let call = self.table.commit.ok_or_else(|| missing("transactions"))?;
        self.transaction.set(TransactionState::Ended);
        // SAFETY: the session is open, within a transaction.
        self.ended(unsafe { call(self.handle) })?;
        self.transaction.set(TransactionState::None);
        Ok(())
    }

    /// Rolls it back. One that a conflict or a failed commit has ended needs no more: then the engine is not called.
    ///
    /// # Errors
    /// The engine's error; or no transaction is open.
    pub fn abort(&mut self) -> Result<(), EngineError> {
        match self.transaction.replace(TransactionState::None) {
            TransactionState::None => Err(out_of_order("abort: no transaction is open on this session")),
            TransactionState::Ended => Ok(()),
            TransactionState::Begun => {
                let call = self.table.abort.ok_or_else(|| missing("transactions"))?;
                // SAFETY: the session is open, within a transaction.
                self.ended(unsafe { call(self.handle) })
            }
        }
    }

    /// [`Session::begin`] for the measured loop: the engine's status, without its text.
    pub fn begin_status(&self, kind: u32) -> abi::Status {
        let Some(call) = self.table.begin.filter(|_| self.transaction.get() != TransactionState::Begun) else {
            return abi::UNSUPPORTED;
        };
        // SAFETY: the session is open, and within no transaction.
        let status = unsafe { call(self.handle, kind) };
        if status == abi::OK {
            self.transaction.set(TransactionState::Begun);
        }
        status
    }

    /// [`Session::commit`] for the measured loop.
    pub fn commit_status(&self) -> abi::Status {
        let Some(call) = self.table.commit.filter(|_| self.transaction.get() == TransactionState::Begun) else {
            return abi::UNSUPPORTED;
        };
        self.transaction.set(TransactionState::None);
        // SAFETY: the session is open, within a transaction.
        unsafe { call(self.handle) }
    }

    /// [`Session::abort`] for the measured loop, of a transaction that is open.
    pub fn abort_status(&self) -> abi::Status {
        let Some(call) = self.table.abort.filter(|_| self.transaction.get() == TransactionState::Begun) else {
            return abi::UNSUPPORTED;
        };
        self.transaction.set(TransactionState::None);
        // SAFETY: the session is open, within a transaction.
        unsafe { call(self.handle) }
    }

    /// Notes that a call through [`Session::raw`] was answered with a conflict: the transaction is over.
    pub fn note_conflict(&self) {
        self.transaction.set(TransactionState::None);
    }
}
