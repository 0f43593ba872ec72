//! A chart as PNG: rectangles, and letters from a font that comes as pixels.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::{Anchor, Color, GROUND, HEIGHT, INK, Shape, WIDTH};

/// Pixels a unit: enough for print, and letters of 32 pixels are 16 units high.
const SCALE: f64 = 2.0;

const FONT: (FontWeight, RasterHeight) = (FontWeight::Regular, RasterHeight::Size32);

/// The chart as the bytes of a PNG file.
pub(crate) fn image(shapes: &[Shape]) -> Vec<u8> {
    let mut canvas = Canvas::new((WIDTH * SCALE) as usize, (HEIGHT * SCALE) as usize);
    for shape in shapes {
        match shape {
            Shape::Bar { x, y, width, height, color } => {
                canvas.fill([*x, *y, x + width, y + height], *color);
            }
            Shape::Text { x, y, anchor, text } => canvas.write(*x, *y, *anchor, text),
        }
    }
    canvas.encode()
}

struct Canvas {
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel, row by row.
    pixels: Vec<u8>,
}

impl Canvas {
    /// An empty one.
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: GROUND.repeat(width * height) }
    }

    /// Lays `color` over a pixel, as thick as `cover` of 255; outside there is none.
    fn blend(&mut self, x: i64, y: i64, color: Color, cover: u8) {
        let within = |at: i64, size: usize| usize::try_from(at).ok().filter(|&at| at < size);
        let (Some(x), Some(y)) = (within(x, self.width), within(y, self.height)) else { return };
        let at = (y * self.width + x) * 3;
        for (part, ink) in self.pixels[at..at + 3].iter_mut().zip(color) {
            let (ground, ink, cover) = (u32::from(*part), u32::from(ink), u32::from(cover));
            *part = ((ground * (255 - cover) + ink * cover) / 255) as u8;
        }
    }

    /// Fills a rectangle, its edges given in units and rounded to whole pixels.
    fn fill(&mut self, edges: [f64; 4], color: Color) {
        let [left, top, right, bottom] = edges.map(|edge| (edge * SCALE).round() as i64);
        for y in top..bottom {
            for x in left..right {
                self.blend(x, y, color, 255);
            }
        }
    }

    /// Writes a line of text; what the font does not have is a question mark.
    fn write(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        let (weight, size) = FONT;
        let letter = get_raster_width(weight, size) as i64;
        let length = letter * text.chars().count() as i64;
        let before = match anchor {
            Anchor::Start => 0,
            Anchor::Middle => length / 2,
            Anchor::End => length,
        };
        let mut left = (x * SCALE).round() as i64 - before;
        let top = (y * SCALE).round() as i64 - size.val() as i64 / 2;
        for character in text.chars() {
            let raster =
                get_raster(character, weight, size).or_else(|| get_raster('?', weight, size));
            for (row, y) in raster.iter().flat_map(|raster| raster.rows()).zip(top..) {
                for (&cover, x) in row.iter().zip(left..) {
                    self.blend(x, y, INK, cover);
                }
            }
            left += letter;
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let written =
            encoder.write_header().and_then(|mut writer| writer.write_image_data(&self.pixels));
        written.expect("memory takes all, and the size is that of the pixels");
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of an image.
    fn pixels(file: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height), (1920, 1080));
        pixels
    }

    #[test]
    fn a_bar_fills_its_pixels_and_no_other() {
        let red = [0xff, 0, 0];
        let bar = Shape::Bar { x: 10.0, y: 20.0, width: 3.0, height: 2.0, color: red };
        let pixels = pixels(&image(&[bar]));
        let filled = |(at, _): &(usize, &[u8])| {
            (40..44).contains(&(at / 1920)) && (20..26).contains(&(at % 1920))
        };
        let (filled, free): (Vec<_>, Vec<_>) = pixels.chunks(3).enumerate().partition(filled);
        assert!(filled.iter().all(|(_, pixel)| *pixel == red));
        assert!(free.iter().all(|(_, pixel)| *pixel == [0xff; 3]));
    }

    #[test]
    fn letters_leave_ink_and_none_is_needed_outside_the_page() {
        let write = |x, text: &str| {
            image(&[Shape::Text { x, y: 100.0, anchor: Anchor::End, text: text.to_owned() }])
        };
        let ink = |file: &[u8]| pixels(file).iter().filter(|&&part| part < 0x80).count();
        assert!(ink(&write(400.0, "3.5 ± 0.1")) > 300);
        assert_eq!(write(400.0, "щ"), write(400.0, "?"));
        assert_eq!(ink(&write(-10.0, "nobody sees this")), 0);
    }
}
