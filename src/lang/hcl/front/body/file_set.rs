//! Files that live as long as the values read from them.

use std::cell::{Cell, OnceCell};

use super::File;

/// Room for this many doublings, which is more files than memory holds.
const DOUBLINGS: usize = 32;

/// Parsed files, to which more can be added while a [`Context`](super::Context) exists. The values of a file may refer to
/// it, so it has to live longer than the context: here it does, whenever it is added.
///
/// ```
/// use dropforge::hcl::body::{BodySchema, Context, File, FileSet};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::Space;
///
/// let (limits, space, files, mut diagnostics) = (Limits::default(), Space::new(), FileSet::new(), Vec::new());
/// let (context, schema) = (Context::new(&space, &limits), BodySchema::new().required("port"));
/// let mut ports = Vec::new();
/// for text in ["port = 80 + 1", "port = 80 + 2"] {
///     let file = files.add(File::parse(&Source::new("a.hcl", text), &Default::default(), &limits));
///     let content = file.body().content(&schema, &mut diagnostics);
///     ports.push(content.attributes["port"].expr.evaluate(&context, &mut diagnostics).to_data());
/// }
/// assert_eq!(ports, [81, 82].map(dropforge::value::Data::Int));
/// ```
#[derive(Debug, Default)]
pub struct FileSet {
    count: Cell<usize>,
    /// The files in groups, each with room for as many as all before it and one more.
    groups: [OnceCell<Box<[OnceCell<File>]>>; DOUBLINGS],
}

impl FileSet {
    /// Returns an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file. Returns it with the lifetime of the set.
    pub fn add(&self, file: File) -> &File {
        let number = self.count.get() + 1;
        self.count.set(number);
        let group = number.ilog2() as usize;
        let files = self.groups[group].get_or_init(|| (0..1_usize << group).map(|_| OnceCell::new()).collect());
        files[number - (1 << group)].get_or_init(|| file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    #[test]
    fn files_stay_where_they_are() {
        let (files, limits) = (FileSet::new(), Limits::default());
        let name = |at: usize| format!("{at}.hcl");
        let add = |at| files.add(File::parse(&Source::new(name(at), "a = 1"), &Default::default(), &limits));
        let added: Vec<&File> = (0..100).map(add).collect();
        assert!(added.iter().enumerate().all(|(at, file)| file.source().name() == name(at)));
    }
}
