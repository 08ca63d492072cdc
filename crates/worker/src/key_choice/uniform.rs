//! Every record is as likely as any other.

use kvdyno_dataset::Stream;

use super::KeyChoice;

/// The uniform distribution.
#[derive(Clone)]
pub(crate) struct Uniform {
    ids: u64,
    stream: Stream,
}

impl Uniform {
    pub(super) fn new(ids: u64, stream: Stream) -> Self {
        Uniform { ids, stream }
    }
}

impl KeyChoice for Uniform {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.stream.below(self.ids)
    }
}
