//! Recorded times of Helm's engine.

/// Recorded times of Helm 4.2.4 in milliseconds, for default values: its engine as a Go program, CPU time of the process,
/// the best of 15 runs in a warm process (`helm/README.md` beside the charts, "Speed of the Go engine").
#[derive(Debug)]
pub struct Recorded {
    /// The name of the chart.
    pub chart: &'static str,
    /// Reading the files of the chart.
    pub load: f64,
    /// Merging the values.
    pub values: f64,
    /// Parsing the templates.
    pub parse: f64,
    /// Running the templates.
    pub exec: f64,
    /// Splitting and sorting the documents.
    pub sort: f64,
    /// Everything.
    pub total: f64,
}

impl Recorded {
    /// Returns the time of everything in seconds.
    pub fn seconds(&self) -> f64 {
        self.total * 1e-3
    }
}

/// The charts. The recorded chart of Cilium is a smaller version than the one among the cases.
pub const RECORDED: [Recorded; 5] = [
    Recorded {
        chart: "kube-prometheus-stack",
        load: 14.82,
        values: 3.68,
        parse: 47.10,
        exec: 46.29,
        sort: 43.15,
        total: 159.21,
    },
    Recorded { chart: "cilium-cilium", load: 6.67, values: 1.29, parse: 7.78, exec: 16.99, sort: 4.50, total: 40.90 },
    Recorded { chart: "datadog", load: 6.86, values: 3.76, parse: 12.55, exec: 8.39, sort: 55.48, total: 93.07 },
    Recorded { chart: "consul", load: 3.75, values: 0.22, parse: 12.57, exec: 8.08, sort: 54.89, total: 86.85 },
    Recorded { chart: "wordpress", load: 5.36, values: 14.67, parse: 7.74, exec: 10.23, sort: 2.39, total: 44.24 },
];
