//! A chart as SVG.

use std::fmt::Write as _;

use super::{Anchor, HEIGHT, INK, Shape, WIDTH};

/// The chart as the text of an SVG file.
pub(crate) fn image(shapes: &[Shape]) -> String {
    // The size makes a letter of the usual fonts 8 units wide.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"monospace\" font-size=\"13.3\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for shape in shapes {
        // Writing to a string cannot fail.
        let _ = match shape {
            Shape::Bar { x, y, width, height, color: [red, green, blue] } => writeln!(
                svg,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
                 fill=\"#{red:02x}{green:02x}{blue:02x}\"/>"
            ),
            Shape::Text { x, y, anchor, text } => writeln!(
                svg,
                "<text x=\"{x:.2}\" y=\"{y:.2}\" dy=\".35em\" text-anchor=\"{}\" fill=\"#{}\">{}</text>",
                match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                },
                INK.map(|part| format!("{part:02x}")).concat(),
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
            ),
        };
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{histograms, tests::fared};

    #[test]
    fn every_shape_is_an_element() {
        let shapes = histograms(&[fared("<&>", &[1, 4])]);
        let svg = image(&shapes);
        // One more: the white ground.
        let elements = svg.lines().filter(|line| line.ends_with("/>") || line.ends_with("</text>"));
        assert_eq!(elements.count(), shapes.len() + 1);
        assert!(svg.contains(">&lt;&amp;&gt;: "), "{svg}");
    }
}
