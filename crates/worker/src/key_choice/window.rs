//! A part of the records that moves on.

use kvdyno_dataset::Stream;

use super::KeyChoice;

/// Each id of a window is as likely, and the window moves on by one id with each draw; its end follows the last id's.
#[derive(Clone)]
pub(super) struct MovingWindow {
    ids: u64,
    width: u64,
    from: u64,
    stream: Stream,
}

impl MovingWindow {
    /// `part`: the width, of the number of ids.
    pub(super) fn new(ids: u64, part: f64, mut stream: Stream) -> Self {
        let width = ((ids as f64 * part).ceil() as u64).clamp(1, ids);
        MovingWindow { ids, width, from: stream.below(ids), stream }
    }
}

impl KeyChoice for MovingWindow {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let id = self.from + self.stream.below(self.width);
        self.from = if self.from + 1 < self.ids { self.from + 1 } else { 0 };
        if id < self.ids { id } else { id - self.ids }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_moves_on_by_one_with_each_draw() {
        let mut choice = MovingWindow::new(1000, 0.05, Stream::new(3));
        let begin = choice.from;
        for draw in 0..5000 {
            let id = choice.next();
            let within = (id + 1000 - (begin + draw) % 1000) % 1000;
            assert!(within < 50, "draw {draw} gave {id}");
        }
    }
}
