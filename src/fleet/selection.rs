//! Some clusters of a fleet.

use roaring::RoaringBitmap;

use super::cluster::Cluster;
use super::fleet::Fleet;
use super::layers::Layers;
use super::selector::Selector;
use dropforge_base::diagnostics::Result;

/// Some clusters of a fleet, in its order.
#[derive(Debug, Clone)]
pub struct Selection<'f> {
    fleet: &'f Fleet,
    clusters: RoaringBitmap,
}

impl<'f> Selection<'f> {
    pub(super) fn new(fleet: &'f Fleet, clusters: RoaringBitmap) -> Self {
        Self { fleet, clusters }
    }

    /// Selects clusters by their merged values.
    ///
    /// ```
    /// use dropforge::bulk::{Fleet, FleetOptions, Format, Layers, Selection, Selector};
    /// use dropforge::text::Source;
    /// let source = Source::new("fleet.csv", "name,env\na,dev\nb,prod\nc,dev\n");
    /// let fleet = Fleet::read(&source, Format::Csv, &FleetOptions::default())?;
    /// let dev = Selection::of(&fleet, &Layers::default(), &Selector::parse("env=dev")?)?;
    /// let mut names = Vec::new();
    /// dev.each(&mut |at, cluster| Ok(names.push(format!("{at} {}", cluster.name()))))?;
    /// assert_eq!(names, ["0 a", "2 c"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Layers::view`] and [`Fleet::each`].
    pub fn of(fleet: &'f Fleet, layers: &Layers, selector: &Selector) -> Result<Self> {
        let mut clusters = RoaringBitmap::new();
        fleet.each(&mut |at, cluster| {
            if selector.is_empty() || selector.matches(&layers.view(cluster)?) {
                clusters.extend(u32::try_from(at));
            }
            Ok(())
        })?;
        clusters.optimize();
        Ok(Self { fleet, clusters })
    }

    /// Returns the number of clusters.
    pub fn len(&self) -> usize {
        usize::try_from(self.clusters.len()).unwrap_or(usize::MAX)
    }

    /// Returns `true` if there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// Calls `each` with the clusters and their indexes in the fleet, until one fails.
    ///
    /// # Errors
    /// Errors of reading clusters and of `each`.
    pub fn each(&self, each: &mut dyn FnMut(usize, &Cluster) -> Result<()>) -> Result<()> {
        let mut reader = self.fleet.reader();
        self.clusters.iter().try_for_each(|at| each(at as usize, reader.cluster(at as usize)?))
    }

    /// Returns the fleet.
    pub fn fleet(&self) -> &'f Fleet {
        self.fleet
    }
}
