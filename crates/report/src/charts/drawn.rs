//! A drawing, ready for the page.

use super::theme::standalone;

/// A chart that was drawn.
pub(crate) struct DrawnChart {
    /// Its caption.
    pub(crate) caption: String,
    /// The words that its file is named by.
    pub(crate) stem: String,
    /// `<svg>…</svg>`.
    pub(crate) svg: String,
    /// Drawings of the figures that the page's own chart shows by a switch.
    pub(crate) further: Vec<FurtherDrawing>,
    /// The same chart as JSON, for the page's script.
    pub(crate) data: String,
}

impl DrawnChart {
    /// Its drawings as files of their own, which no style sheet surrounds, with what their names are made of.
    pub(crate) fn standalone(&self) -> impl Iterator<Item = (String, String)> {
        let further = self.further.iter().map(|it| (format!("{} {}", self.stem, it.words), standalone(&it.svg)));
        std::iter::once((self.stem.clone(), standalone(&self.svg))).chain(further)
    }

    /// The further drawings that stand beneath the chart on paper.
    pub(crate) fn on_paper(&self) -> impl Iterator<Item = &FurtherDrawing> {
        self.further.iter().filter(|it| it.is_on_paper)
    }
}

/// Another drawing of a chart, where paper and files have no switch.
pub(crate) struct FurtherDrawing {
    /// Its difference: `logarithmic`.
    pub(crate) words: String,
    /// `<svg>…</svg>`.
    pub(crate) svg: String,
    /// Whether it travels in the page, for paper; else it is a file alone.
    pub(crate) is_on_paper: bool,
}
