//! Bar charts as SVG.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 40.0;
const ROW: f64 = 30.0;

/// Draws one bar for each engine with its seconds. Ours is first and has its own colour.
pub fn bars(title: &str, times: &[(&str, f64)]) -> String {
    let longest = times.iter().map(|(_, seconds)| *seconds).fold(f64::MIN_POSITIVE, f64::max);
    let height = TOP + ROW * times.len() as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"24\" font-weight=\"bold\">{title}</text>\n"
    );
    for (nth, (engine, seconds)) in times.iter().enumerate() {
        let y = TOP + ROW * nth as f64;
        let length = (WIDTH - LEFT - RIGHT) * seconds / longest;
        let colour = if nth == 0 { "#c2410c" } else { "#94a3b8" };
        let (middle, end) = (y + 15.0, LEFT + length + 8.0);
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{engine}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"20\" fill=\"{colour}\"/>\n\
             <text x=\"{end:.1}\" y=\"{middle}\">{seconds:.3}</text>\n",
            LEFT - 8.0
        );
    }
    svg + "</svg>\n"
}
