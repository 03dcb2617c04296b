//! Packing a chart as `helm package` does: the same files with the same contents in the same order.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use flate2::{Compression, GzBuilder};

use super::super::Stage;
use super::super::load::Chart;
use super::super::metadata::{Maintainer, Metadata};
use super::super::read::first_document;
use super::super::source::{ChartFile, ChartSource};
use super::{ChartLock, document, fields, filled, map, sorted};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::text::Source;
use dropforge_value::Data;

/// The extra field by which Helm knows its archives.
const EXTRA: &[u8] = b"rr\x28\x00aHR0cHM6Ly95b3V0dS5iZS96OVV6MWljandyTQo=";

/// A packed chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The name of the chart.
    pub name: String,
    /// The version of the chart.
    pub version: String,
    /// The bytes of the archive.
    pub bytes: Vec<u8>,
}

/// Packs a chart. `time` returns the time of a file, in seconds since 1970.
///
/// # Errors
/// Errors of [`Chart::load`]; `input.syntax` for a schema that is not JSON.
pub fn pack(source: &ChartSource, time: &dyn Fn(&str) -> u64) -> Result<Packed, Diagnostics> {
    let chart = Chart::load(source)?;
    let unpacked = source.unpacked()?;
    let gzip = GzBuilder::new().extra(EXTRA).comment("Helm").write(Vec::new(), Compression::default());
    let mut packer = Packer { archive: tar::Builder::new(gzip), time };
    packer.chart(&unpacked.files, "", "")?;
    let bytes = packer.archive.into_inner().and_then(flate2::write::GzEncoder::finish).map_err(unwritable)?;
    let metadata = chart.metadata();
    Ok(Packed { name: metadata.name.clone(), version: metadata.version.clone(), bytes })
}

struct Packer<'t, W: Write> {
    archive: tar::Builder<W>,
    time: &'t dyn Fn(&str) -> u64,
}

impl<W: Write> Packer<'_, W> {
    /// Adds a chart whose files are below `at` in the outermost one, to the folder `prefix`. Loading bounds the nesting.
    fn chart(&mut self, files: &[ChartFile], at: &str, prefix: &str) -> Result<(), Diagnostics> {
        let mut files: Vec<&ChartFile> = files.iter().collect();
        // Folders are read whole, in the order of their names.
        files.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        let find = |name: &str| files.iter().copied().find(|file| file.path == name);
        let metadata = metadata(&files)?;
        let is_old = metadata.api_version == "v1";
        let base = format!("{prefix}{}/", metadata.name);
        let chart = chart_file(&metadata);
        self.add(&base, "Chart.yaml", chart.as_bytes(), (self.time)(&format!("{at}Chart.yaml")))?;
        if let Some(file) = find("Chart.lock").or_else(|| find("requirements.lock")).filter(|_| !is_old) {
            let lock = ChartLock::read(&text(file)?)?;
            self.add(&base, "Chart.lock", lock.text().as_bytes(), (self.time)(&format!("{at}{}", file.path)))?;
        }
        if let Some(file) = find("values.schema.json") {
            let check: serde_json::Result<serde::de::IgnoredAny> = serde_json::from_slice(file.bytes());
            check.map_err(|_| Stage::Load.error(Code::InputSyntax, "invalid JSON in values.schema.json"))?;
        }
        let is_template = |file: &&&ChartFile| file.path.starts_with("templates/");
        let is_other = |file: &&&ChartFile| {
            let path = file.path.as_str();
            let is_old_file = matches!(path, "requirements.yaml" | "requirements.lock") && !is_old;
            let is_known = matches!(path, "Chart.yaml" | "Chart.lock" | "values.yaml" | "values.schema.json");
            let is_chart = path.starts_with("charts/") && !path.ends_with(".prov");
            !is_template(file) && !is_old_file && !is_known && !is_chart
        };
        let first = ["values.yaml", "values.schema.json"]
            .into_iter()
            .filter_map(|name| files.iter().find(|one| one.path == name));
        for file in first.chain(files.iter().filter(is_template)).chain(files.iter().filter(is_other)) {
            self.add(&base, &file.path, file.bytes(), (self.time)(&format!("{at}{}", file.path)))?;
        }
        self.charts(&files, at, &base)
    }

    fn charts(&mut self, files: &[&ChartFile], at: &str, base: &str) -> Result<(), Diagnostics> {
        let mut charts: BTreeMap<&str, Vec<ChartFile>> = BTreeMap::new();
        for file in files.iter().filter(|file| !file.path.ends_with(".prov")) {
            if let Some((name, _)) = file.path.strip_prefix("charts/").and_then(|rest| rest.split_once('/'))
                && !name.starts_with(['_', '.'])
            {
                charts.entry(name).or_default().extend(file.below(&format!("charts/{name}/")));
            }
        }
        charts
            .iter()
            .try_for_each(|(name, files)| self.chart(files, &format!("{at}charts/{name}/"), &format!("{base}charts/")))
    }

    fn add(&mut self, base: &str, name: &str, bytes: &[u8], time: u64) -> Result<(), Diagnostics> {
        let path = format!("{base}{name}");
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(bytes.len() as u64);
        header.set_mtime(time);
        let done = match plain_header(&mut header, &path) {
            Ok(()) => self.archive.append(&header, bytes),
            // A path that is too long for the header has one of its own.
            Err(_) => self.archive.append_data(&mut header, path, bytes),
        };
        Ok(done.map_err(unwritable)?)
    }
}

/// Fills the rest of a header as Go does.
fn plain_header(header: &mut tar::Header, path: &str) -> std::io::Result<()> {
    header.set_entry_type(tar::EntryType::Regular);
    header.set_device_major(0)?;
    header.set_device_minor(0)?;
    header.set_path(path)?;
    header.set_cksum();
    let sum = format!("{:06o}\0 ", header.cksum()?);
    if let Some(field) = header.as_mut_bytes().get_mut(148..156) {
        field.copy_from_slice(sum.as_bytes());
    }
    Ok(())
}

fn unwritable(error: std::io::Error) -> Box<Diagnostic> {
    Stage::Load.of(Diagnostic::new(Code::WriteFailed, format!("cannot pack the chart: {error}")).caused_by(error))
}

fn text(file: &ChartFile) -> Result<Arc<Source>, Box<Diagnostic>> {
    Ok(Source::new(file.path.clone(), file.content.text("", &file.path)?))
}

/// Reads the metadata of a chart that was loaded without errors.
fn metadata(files: &[&ChartFile]) -> Result<Metadata, Diagnostics> {
    let read = |name: &str| {
        files.iter().find(|file| file.path == name).map(|file| text(file).map(|text| first_document(&text)))
    };
    let wrong = |whys: Vec<String>| Diagnostics::from(Stage::Load.error(Code::InputStructure, whys.join("; ")));
    let data = read("Chart.yaml").transpose()?.transpose()?.unwrap_or_default();
    let mut metadata = Metadata::read(&data).map_err(wrong)?;
    if let Some(data) = read("requirements.yaml").transpose()?.transpose()? {
        metadata.require(Metadata::read_requirements(&data).map_err(wrong)?);
    }
    Ok(metadata)
}

/// Returns the text of `Chart.yaml`. Old charts have their dependencies in another file.
fn chart_file(metadata: &Metadata) -> String {
    let texts = |all: &[String]| listed(all.iter().map(|text| Data::Str(clean(text))).collect());
    let filled = |text: &str| filled(&clean(text));
    let is_old = metadata.api_version == "v1";
    let dependencies = metadata.dependencies.iter().filter(|_| !is_old).map(|one| sorted(&fields(one)));
    let annotations = metadata.annotations.as_ref().filter(|all| !all.is_empty());
    let annotation = |(key, value): &(String, String)| (key.clone(), Data::Str(value.clone()));
    let fields = [
        ("name", filled(&metadata.name)),
        ("home", filled(&metadata.home)),
        ("sources", texts(&metadata.sources)),
        ("version", filled(&metadata.version)),
        ("description", filled(&metadata.description)),
        ("keywords", texts(&metadata.keywords)),
        ("maintainers", listed(metadata.maintainers.iter().map(maintainer).collect())),
        ("icon", filled(&metadata.icon)),
        ("apiVersion", filled(&metadata.api_version)),
        ("condition", filled(&metadata.condition)),
        ("tags", filled(&metadata.tags)),
        ("appVersion", filled(&metadata.app_version)),
        ("deprecated", metadata.deprecated.then_some(Data::Bool(true))),
        ("annotations", annotations.map(|all| Data::Map(all.iter().map(annotation).collect()))),
        ("kubeVersion", filled(&metadata.kube_version)),
        ("dependencies", listed(dependencies.collect())),
        ("type", filled(&metadata.kind)),
    ];
    document(&map(fields.into_iter().filter_map(|(key, value)| Some((key, value?)))))
}

fn maintainer(one: &Maintainer) -> Data {
    let fields =
        [("name", filled(&clean(&one.name))), ("email", filled(&clean(&one.email))), ("url", filled(&clean(&one.url)))];
    map(fields.into_iter().filter_map(|(key, value)| Some((key, value?))))
}

fn listed(items: Vec<Data>) -> Option<Data> {
    (!items.is_empty()).then_some(Data::List(items))
}

/// Returns a text with plain spaces and without characters that are not printed.
fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        c if c.is_whitespace() => Some(' '),
        c if c.is_control() => None,
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_chart_has_the_files_that_helm_packs_in_its_order() {
        let source = ChartSource::from_files([
            ("Chart.yaml", "name: web\nversion: 1.0.0\napiVersion: v2\ndescription: |\n  two\n  lines\n"),
            ("values.yaml", "a: 1 # kept\n"),
            ("a.txt", "1"),
            ("a/b", "2"),
            ("templates/x.yaml", "x"),
            ("charts/sub/Chart.yaml", "apiVersion: v1\nname: other\nversion: 0.1.0\n"),
            ("charts/sub/requirements.yaml", "dependencies: []\n"),
        ])
        .unwrap();
        let packed = pack(&source, &|_| 7).unwrap();
        assert_eq!((packed.name.as_str(), packed.version.as_str()), ("web", "1.0.0"));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&packed.bytes[..]));
        let paths: Vec<String> =
            archive.entries().unwrap().map(|one| one.unwrap().path().unwrap().display().to_string()).collect();
        let expected = [
            "web/Chart.yaml",
            "web/values.yaml",
            "web/templates/x.yaml",
            "web/a/b",
            "web/a.txt",
            "web/charts/other/Chart.yaml",
            "web/charts/other/requirements.yaml",
        ];
        assert_eq!(paths, expected);
        let again = ChartSource::archive(&packed.bytes, super::super::super::Bounds::default()).unwrap();
        assert!(again.files()[0].bytes() == b"apiVersion: v2\ndescription: 'two lines '\nname: web\nversion: 1.0.0\n");
        let broken = [("Chart.yaml", "name: web\nversion: 1.0.0\n"), ("values.schema.json", "{")];
        assert!(pack(&ChartSource::from_files(broken).unwrap(), &|_| 0).is_err());
    }
}
