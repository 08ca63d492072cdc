//! Figures of cells with their intervals.

use kvdyno_analysis::Estimate;
use kvdyno_results::TrialResult;

use crate::study::StudyCell;

/// The height of a point of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Height {
    /// The figure.
    pub(crate) value: f64,
    /// The ends of its interval.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Height {
    /// An estimate. The steadiness of one trial says nothing of how far another would come out, and is no interval.
    pub(crate) fn estimate(estimate: &Estimate) -> Height {
        let interval = estimate.low.zip(estimate.high).filter(|_| estimate.n > 1);
        Height { value: estimate.value, interval }
    }

    /// The median of a figure over a cell's trials. Its interval lies round the median, and is as wide as that of the
    /// mean.
    pub(crate) fn median(cell: &StudyCell<'_>, figure: impl Fn(&TrialResult) -> Option<f64>) -> Option<Height> {
        let value = cell.median(&figure)?;
        let half = cell.mean(figure).and_then(|mean| Some(mean.high? - mean.value));
        Some(Height { value, interval: half.map(|half| ((value - half).max(0.0), value + half)) })
    }

    /// The figures that a logarithmic axis must hold: an interval that comes near 0 is cut at a tenth of the figure.
    pub(super) fn figures(self) -> impl Iterator<Item = f64> {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        [self.value, high].into_iter().chain((low > 0.0).then_some(low.max(self.value / 10.0)))
    }
}
