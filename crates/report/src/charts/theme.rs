//! Colours by role, so that the page's style sheet decides them, for light and for dark.

use plotters::style::RGBColor;

/// Units of the drawing in one pixel of the page.
pub(super) const UNIT: i32 = 10;

/// Text.
pub(super) const INK: RGBColor = RGBColor(0, 0, 1);
/// Text that stands back, and axes.
pub(super) const MUTED: RGBColor = RGBColor(0, 0, 2);
/// Lines of the grid.
pub(super) const GRID: RGBColor = RGBColor(0, 0, 3);
/// Behind everything.
pub(super) const BACKGROUND: RGBColor = RGBColor(0, 0, 4);

/// Colours that the style sheet has for series.
const SERIES: usize = 8;

/// The dashes of further rounds of them, in units.
const DASHES: [&str; 2] = ["50 30", "15 25"];

/// The colour of a series; after the eighth they come again, with other markers.
pub(super) fn series(index: usize) -> RGBColor {
    RGBColor(0, 1, (index % SERIES) as u8)
}

/// The stroke of a series: of the ninth and later ones it is dashed, of the seventeenth and later ones dotted.
pub(super) fn stroke(index: usize) -> RGBColor {
    let RGBColor(red, green, blue) = series(index);
    RGBColor(red, green + (index / SERIES).min(DASHES.len()) as u8, blue)
}

/// Pixels to units.
pub(super) fn px(pixels: f64) -> i32 {
    (pixels * f64::from(UNIT)).round() as i32
}

/// Pixels to units, for widths.
pub(super) fn width(pixels: f64) -> u32 {
    px(pixels).unsigned_abs()
}

/// The size of a font that appears `pixels` high: plotters' SVG divides by 1.24.
pub(super) fn font(pixels: f64) -> f64 {
    pixels * 1.24 * f64::from(UNIT)
}

/// Puts the style sheet's names in the place of the colours, and leaves size and font to the page.
pub(super) fn themed(svg: &str, description: &str) -> String {
    let mut svg = svg.replace(" xmlns=\"http://www.w3.org/2000/svg\"", "").replace(" font-family=\"sans-serif\"", "");
    svg = svg.replace(" opacity=\"1\"", "");
    let roles = [
        (INK, "ink".to_owned()),
        (MUTED, "muted".to_owned()),
        (GRID, "grid".to_owned()),
        (BACKGROUND, "background".to_owned()),
    ];
    let all_series = (0..SERIES).map(|index| (series(index), format!("s{index}")));
    for (RGBColor(red, green, blue), name) in roles.into_iter().chain(all_series) {
        svg = svg.replace(&format!("\"#{red:02X}{green:02X}{blue:02X}\""), &format!("\"var(--{name})\""));
    }
    for index in 0..SERIES * DASHES.len() {
        let RGBColor(red, green, blue) = stroke(index + SERIES);
        let dashes = DASHES[index / SERIES];
        let dashed = format!("\"var(--s{})\" stroke-dasharray=\"{dashes}\"", index % SERIES);
        svg = svg.replace(&format!("\"#{red:02X}{green:02X}{blue:02X}\""), &dashed);
    }
    let view_box = svg.find("viewBox").unwrap_or(0);
    let label = description.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    format!("<svg role=\"img\" aria-label=\"{label}\" {}", &svg[view_box..])
}

/// The colours of the page.
const STYLE: &str = include_str!("../../templates/colours.css");

/// The beginning of each file of a drawing.
pub(crate) const BEGIN: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" role=\"img\"";

/// A drawing with the colours that the page would give it, as a file of its own.
pub(super) fn standalone(svg: &str) -> String {
    let style = format!("<style>{STYLE}svg {{ background: var(--background); }}</style>");
    let (head, rest) = svg.split_once('>').unwrap_or((svg, ""));
    format!("{}{}>{style}{rest}\n", head.replacen("<svg role=\"img\"", BEGIN, 1), size(head))
}

/// The size of a drawing in pixels: without it an image in a document is as large as the viewer likes.
fn size(head: &str) -> String {
    let view_box =
        head.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"')).map_or("", |(inner, _)| inner);
    match view_box.split(' ').map(|side| side.parse::<i32>()).collect::<Result<Vec<_>, _>>().as_deref() {
        Ok([_, _, wide, high]) => format!(" width=\"{}\" height=\"{}\"", wide / UNIT, high / UNIT),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use plotters::style::Color;

    use super::*;
    use crate::charts::marker::shape_of;

    #[test]
    fn roles_take_the_place_of_colours_and_the_page_sets_the_size() {
        let drawn = "<svg width=\"10\" height=\"5\" viewBox=\"0 0 10 5\" xmlns=\"http://www.w3.org/2000/svg\">\n\
                     <line opacity=\"1\" stroke=\"#000103\" x1=\"0\"/></svg>";
        let expected = "<svg role=\"img\" aria-label=\"a &quot;b&quot;\" viewBox=\"0 0 10 5\">\n<line \
                        stroke=\"var(--s3)\" x1=\"0\"/></svg>";
        assert_eq!(themed(drawn, "a \"b\""), expected);
    }

    #[test]
    fn no_two_of_24_series_have_colour_and_dash_in_common_and_neighbours_no_mark() {
        let looks: std::collections::BTreeSet<_> = (0..24).map(|nth| (stroke(nth).rgb(), shape_of(nth))).collect();
        assert_eq!(looks.len(), 24);
        let strokes: std::collections::BTreeSet<_> = (0..24).map(|nth| stroke(nth).rgb()).collect();
        assert_eq!(strokes.len(), 24);
        assert!((1..24).all(|nth| shape_of(nth) != shape_of(nth - 1) && series(nth) != series(nth - 1)));
        // Those of one colour, eight apart, have another mark.
        assert!((8..24).all(|nth| shape_of(nth) != shape_of(nth - 8)));
    }

    #[test]
    fn a_file_of_its_own_has_its_size_in_pixels() {
        let file = standalone("<svg role=\"img\" viewBox=\"0 0 4800 3205\">\n</svg>");
        assert!(file.starts_with("<svg xmlns=") && file.contains(" width=\"480\" height=\"320\"><style>"), "{file}");
    }
}
