//! A chart of how many secrets are found at which guess: where its bars, lines and letters are.
//!
//! Owns the layout, in units of which [`WIDTH`] times [`HEIGHT`] are the page. How it becomes a file is `svg` and `png`:
//! they know rectangles and letters only.

pub(crate) mod png;
pub(crate) mod svg;

use crate::{evaluate::Fared, words};

/// Units across the page.
pub(crate) const WIDTH: f64 = 960.0;

/// Units down the page.
pub(crate) const HEIGHT: f64 = 540.0;

/// Units from one line of text to the next, and from one letter to the next.
const LINE: f64 = 22.0;
const LETTER: f64 = 8.0;

/// The free space around the bars: numbers of secrets on the left, of guesses below.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const BOTTOM: f64 = 60.0;

/// Red, green and blue.
pub(crate) type Color = [u8; 3];

pub(crate) const INK: Color = [0x33, 0x33, 0x33];
pub(crate) const GROUND: Color = [0xff, 0xff, 0xff];
const GRID: Color = [0xdd, 0xdd, 0xdd];

/// Colours that are told apart with any colour vision (Okabe and Ito 2008), for one strategy after the other; the last
/// four are dark, for those who compare all strategies at once.
const COLORS: [Color; 12] = [
    [0x00, 0x72, 0xb2],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0x56, 0xb4, 0xe9],
    [0xd5, 0x5e, 0x00],
    [0xf0, 0xe4, 0x42],
    [0x88, 0x88, 0x88],
    [0x00, 0x2b, 0x4d],
    [0x5c, 0x33, 0x00],
    [0x4b, 0x00, 0x4f],
    [0x1f, 0x4d, 0x1f],
];

/// Which point of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// What is drawn, later shapes over earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A filled rectangle; a line is a narrow one.
    Bar { x: f64, y: f64, width: f64, height: f64, color: Color },
    /// A line of text. `y` is its middle.
    Text { x: f64, y: f64, anchor: Anchor, text: String },
}

/// Draws a histogram, or several side by side.
pub(crate) fn histograms(results: &[Fared]) -> Vec<Shape> {
    let most = results.iter().flat_map(|fared| &fared.result.histogram).copied().max();
    let step = step(most.unwrap_or(0));
    let steps = (most.unwrap_or(0).max(1) as u32).div_ceil(step);
    let columns = results.iter().map(|fared| fared.result.histogram.len()).max().unwrap_or(0);
    let top = LINE * (results.len() + 2) as f64;
    let plot = Plot {
        top,
        column: (WIDTH - LEFT - RIGHT) / columns.max(1) as f64,
        secret: (HEIGHT - BOTTOM - top) / f64::from(step * steps),
    };
    let mut shapes = Vec::new();
    for (row, fared) in results.iter().enumerate() {
        legend(row, fared, &mut shapes);
    }
    shapes.push(text(LEFT - 12.0, plot.top - LINE, Anchor::End, "secrets"));
    for secrets in (0..=steps).map(|tick| tick * step) {
        let y = plot.height_of(secrets.into());
        shapes.push(bar([LEFT, y - 0.5, WIDTH - LEFT - RIGHT, 1.0], GRID));
        shapes.push(text(LEFT - 12.0, y, Anchor::End, &secrets.to_string()));
    }
    for (index, fared) in results.iter().enumerate() {
        plot.bars(index, results.len(), &fared.result.histogram, &mut shapes);
    }
    // As many numbers as there is room for, three letters each.
    let every = (LINE * 1.5 / plot.column).ceil().max(1.0) as usize;
    for guess in (1..=columns).step_by(every) {
        let x = LEFT + plot.column * (guess as f64 - 0.5);
        shapes.push(text(x, HEIGHT - BOTTOM + LINE * 0.7, Anchor::Middle, &guess.to_string()));
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    shapes.push(text(middle, HEIGHT - LINE * 0.7, Anchor::Middle, "found at guess"));
    shapes
}

/// Where the bars are.
struct Plot {
    top: f64,
    /// Units a guess.
    column: f64,
    /// Units a secret.
    secret: f64,
}

impl Plot {
    fn height_of(&self, secrets: f64) -> f64 {
        HEIGHT - BOTTOM - secrets * self.secret
    }

    /// The bars of one of `players`; one alone has its numbers above, where there is room.
    fn bars(&self, index: usize, players: usize, histogram: &[i32], shapes: &mut Vec<Shape>) {
        let width = self.column * 0.8 / players as f64;
        for (guess, &secrets) in histogram.iter().enumerate() {
            let x = LEFT + self.column * (guess as f64 + 0.1) + width * index as f64;
            let y = self.height_of(secrets.into());
            let height = HEIGHT - BOTTOM - y;
            shapes.push(bar([x, y, width, height], color(index)));
            let number = secrets.to_string();
            let long = number.len() as f64 * LETTER;
            if players == 1 && secrets > 0 && long < self.column {
                let (x, y) = (x + width / 2.0, y - LINE * 0.5);
                // No line of the grid runs through it.
                let ground = [x - long / 2.0, y - LINE * 0.3, long, LINE * 0.6];
                shapes.push(bar(ground, GROUND));
                shapes.push(text(x, y, Anchor::Middle, &number));
            }
        }
    }
}

/// A square in the player's colour, the name and how the player fares.
fn legend(row: usize, fared: &Fared, shapes: &mut Vec<Shape>) {
    let y = LINE * (row as f64 + 1.0);
    shapes.push(bar([LEFT, y - 6.0, 12.0, 12.0], color(row)));
    let facts = format!("{}: {}", fared.name, words::play::facts(&fared.result));
    shapes.push(text(LEFT + 20.0, y, Anchor::Start, &facts));
}

fn text(x: f64, y: f64, anchor: Anchor, text: &str) -> Shape {
    Shape::Text { x, y, anchor, text: text.to_owned() }
}

fn bar([x, y, width, height]: [f64; 4], color: Color) -> Shape {
    Shape::Bar { x, y, width, height, color }
}

fn color(index: usize) -> Color {
    COLORS[index % COLORS.len()]
}

/// Secrets from one line of the grid to the next: 1, 2 or 5 times a power of ten, so that there are at most 6 lines.
fn step(most: i32) -> u32 {
    let powers = std::iter::successors(Some(1_u32), |power| power.checked_mul(10));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|digit| power.saturating_mul(digit)));
    let enough = |step: &u32| f64::from(most) / f64::from(*step) <= 6.0;
    steps.find(enough).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use herdsman_proto::v1;

    use super::*;

    pub(crate) fn fared(name: &str, histogram: &[i32]) -> Fared {
        let result = v1::Evaluation {
            histogram: histogram.to_vec(),
            exact: true,
            ..v1::Evaluation::default()
        };
        Fared { name: name.to_owned(), result }
    }

    #[test]
    fn the_grid_has_round_steps() {
        for (most, expected) in
            [(0, 1), (1, 1), (6, 1), (7, 2), (12, 2), (13, 5), (2731, 500), (i32::MAX, 500_000_000)]
        {
            assert_eq!(step(most), expected, "{most}");
        }
    }

    /// The bars of one player, as the share of the highest.
    fn heights(shapes: &[Shape], player: usize) -> Vec<f64> {
        let bars = shapes.iter().filter_map(|shape| match shape {
            // Not the square of the legend.
            Shape::Bar { y, height, color: of, .. } if *of == color(player) && *y > 60.0 => {
                Some(*height)
            }
            _ => None,
        });
        let bars: Vec<_> = bars.collect();
        let most = bars.iter().copied().fold(0.0, f64::max);
        bars.iter().map(|height| height / most).collect()
    }

    #[test]
    fn bars_are_as_high_as_there_are_secrets() {
        let shapes = histograms(&[fared("optimal", &[1, 4]), fared("easy", &[0, 2, 4])]);
        assert_eq!(heights(&shapes, 0), [0.25, 1.0]);
        assert_eq!(heights(&shapes, 1), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn nothing_stands_outside_the_page() {
        let long: Vec<i32> = (0..64).collect();
        let many: Vec<_> = (0..16).map(|_| fared("easy", &long)).collect();
        for results in [many.as_slice(), &[fared("none", &[])], &[fared("most", &[i32::MAX])], &[]]
        {
            for shape in histograms(results) {
                let (x, y, width, height) = match shape {
                    Shape::Bar { x, y, width, height, .. } => (x, y, width, height),
                    Shape::Text { x, y, .. } => (x, y, 0.0, 0.0),
                };
                assert!(x >= 0.0 && x + width <= WIDTH, "{x} {width}");
                assert!(y >= 0.0 && height >= 0.0 && y + height <= HEIGHT, "{y} {height}");
            }
        }
    }
}
