//! A drawing, ready for the page.

use kvdyno_results::Side;

/// A chart that was drawn.
pub(crate) struct DrawnChart {
    /// Its caption.
    pub(crate) caption: String,
    /// `<svg>…</svg>`.
    pub(crate) svg: String,
}

/// `Reads`.
pub(super) fn title(side: Side) -> &'static str {
    match side {
        Side::Reads => "Reads",
        Side::Writes => "Writes",
    }
}

/// `reads`.
pub(super) fn noun(side: Side) -> &'static str {
    match side {
        Side::Reads => "reads",
        Side::Writes => "writes",
    }
}
