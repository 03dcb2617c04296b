//! The values that a release of a project gets for one cluster.

use std::any::Any;

use dropforge::bulk::{Cluster, Layers, ReleaseSet, ReleaseView, Run};
use dropforge::diagnostics::{Code, Diagnostic};

use super::ReleasesOption;
use crate::exit::Failed;
use crate::fleet::FleetArgs;
use crate::input::InputFiles;
use crate::options::ValueArgs;
use crate::run::RunDefaults;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;

/// The values of a release for a cluster, and what they come from.
pub(crate) struct ShownRelease {
    pub(crate) view: ReleaseView,
    pub(crate) layers: Layers,
    pub(crate) cluster: Cluster,
}

/// Reads the values that the selected release gets for the only cluster of a fleet.
///
/// # Errors
/// Errors of reading; `usage` if several releases are selected.
pub(crate) fn view(
    (releases, fleet): (&ReleasesOption, &FleetArgs),
    (values, schema): (&ValueArgs, &SchemaArgs),
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<ShownRelease, Failed> {
    let defaults = RunDefaults::default();
    let reader = defaults.of_releases((releases, fleet), (values, schema))?;
    let Run { set, values: layers, fleet, .. } = reader.read(files, stderr)?;
    let cluster = fleet.reader().cluster(0)?.clone();
    let set: Box<dyn Any> = set;
    let Ok(set) = set.downcast::<ReleaseSet>() else {
        return Err(Diagnostic::new(Code::Usage, "there are no releases").into());
    };
    let names: Vec<&str> = set.names().collect();
    if names.len() > 1 {
        let error = Diagnostic::new(Code::Usage, "`-r` selects several releases").with_available(names);
        return Err(error.with_help("name one of them: `-r NAME`").into());
    }
    let Some(view) = set.view(0, &layers, &cluster)? else {
        return Err(Diagnostic::new(Code::Usage, "there are no releases").into());
    };
    if !view.is_enabled {
        let name = names.first().copied().unwrap_or_default();
        stderr.warning(&format!("the cluster `{}` does not want the release `{name}`", cluster.name()));
    }
    Ok(ShownRelease { view, layers, cluster })
}
