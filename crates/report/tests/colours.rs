//! Colours of series: told from each other and from what is behind them by everybody, in both themes.

const STYLE: &str = include_str!("../templates/colours.css");

/// How eyes see linear red, green and blue that lack one sort of cones: G. Machado and others, *A Physiologically-based
/// Model for Simulation of Color Vision Deficiency*, IEEE TVCG 15(6), 2009, at the greatest severity.
const EYES: [(&str, [[f64; 3]; 3]); 4] = [
    ("all cones", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protanopia", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    (
        "deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    ("tritanopia", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];

/// Colours that are so near each other are taken for one. Of OKLab, in which black and white are 1 apart.
const LEAST_DISTANCE: f64 = 0.09;
/// Of what is drawn to what is behind it: WCAG 2.2, 1.4.11.
const LEAST_CONTRAST: f64 = 3.0;

type Linear = [f64; 3];

/// The colours of a theme that begin so, by their names.
fn colours(theme: &str, prefix: &str) -> Vec<Linear> {
    let declared =
        theme.split(';').filter_map(|line| line.split_once("--").and_then(|(_, rest)| rest.split_once(": #")));
    declared.filter(|(name, _)| name.starts_with(prefix)).map(|(_, hex)| linear(hex.trim())).collect()
}

/// `0072b2`.
fn linear(hex: &str) -> Linear {
    let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
    let straight = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    [part(0), part(2), part(4)].map(straight)
}

fn times(matrix: &[[f64; 3]; 3], colour: Linear) -> Linear {
    matrix.map(|row| row.iter().zip(colour).map(|(one, other)| one * other).sum())
}

/// B. Ottosson, *A perceptual color space for image processing*, 2020.
fn oklab(colour: Linear) -> [f64; 3] {
    const CONES: [[f64; 3]; 3] = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ];
    const LAB: [[f64; 3]; 3] = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ];
    times(&LAB, times(&CONES, colour).map(f64::cbrt))
}

fn distance(one: Linear, other: Linear) -> f64 {
    let squares = oklab(one).into_iter().zip(oklab(other)).map(|(one, other)| (one - other).powi(2));
    squares.sum::<f64>().sqrt()
}

fn contrast(one: Linear, other: Linear) -> f64 {
    let light = |colour: Linear| 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2] + 0.05;
    light(one).max(light(other)) / light(one).min(light(other))
}

#[test]
fn series_are_told_apart_with_and_without_all_cones_in_both_themes() {
    let (light, dark) = STYLE.split_once("@media").unwrap();
    for (name, theme) in [("light", light), ("dark", dark)] {
        let (series, background) = (colours(theme, "s"), colours(theme, "background"));
        assert_eq!((series.len(), background.len()), (8, 1), "{name}");
        for (nth, one) in series.iter().enumerate() {
            assert!(contrast(*one, background[0]) >= LEAST_CONTRAST, "{name}: s{nth} is too near the background");
            for (other, colour) in series.iter().enumerate().skip(nth + 1) {
                for (eyes, matrix) in &EYES {
                    let seen = [*one, *colour].map(|it| times(matrix, it).map(|part| part.clamp(0.0, 1.0)));
                    let between = distance(seen[0], seen[1]);
                    assert!(
                        between >= LEAST_DISTANCE,
                        "{name}, {eyes}: s{nth} and s{other} are {between:.3} from each other"
                    );
                }
            }
        }
    }
}
