//! The string pool, and the constants of a program as values.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use self_cell::self_cell;

use super::sections::StringRow;
use dropforge_base::text::Text as PoolText;
use dropforge_value::{Shape, Text};

/// Text embedded in the binary or shared by programs.
#[derive(Clone)]
pub enum Pool {
    Static(&'static str),
    Shared(Arc<String>),
}

impl Pool {
    #[inline(always)]
    pub(super) fn text(&self) -> &str {
        match self {
            Pool::Static(text) => text,
            Pool::Shared(text) => text,
        }
    }

    /// Returns a part of the text without copying it.
    pub(super) fn part(&self, [start, end]: [u32; 2]) -> PoolText {
        self.range(start as usize..end as usize)
    }

    /// Returns a range of the text without copying it.
    pub(super) fn range(&self, range: Range<usize>) -> PoolText {
        match self {
            Pool::Static(text) => PoolText::Static(text.get(range).unwrap_or("")),
            Pool::Shared(text) => PoolText::Shared(text.clone(), range),
        }
    }
}

/// Returns the string with index `id`, or the empty string.
#[inline(always)]
pub(super) fn string<'p>(strings: &[StringRow], pool: &'p str, id: u32) -> &'p str {
    let [start, end] = strings.get(id as usize).copied().unwrap_or([0, 0]);
    pool.get(start as usize..end as usize).unwrap_or("")
}

// They live next to the pool that they borrow from, so each is a cell that owns the pool.

/// The string constants of a program, and the shapes of the maps that it builds.
#[derive(Default)]
pub(super) struct Constants {
    texts: OnceLock<Texts>,
    shapes: OnceLock<Shapes>,
}

/// A row of texts.
type Row<'p> = Box<[Text<'p>]>;

/// The shape of each record of keys, by its offset. `None` at other offsets.
type ShapeRow<'p> = Box<[Option<Shape<'p>>]>;

self_cell!(
    struct Texts {
        owner: Pool,
        #[covariant]
        dependent: Row,
    }
);

/// The keys of all maps, and the permutations that sort them.
struct Keys<'p> {
    texts: Row<'p>,
    sorted: Box<[u32]>,
}

self_cell!(
    struct OwnKeys {
        owner: Pool,
        #[covariant]
        dependent: Keys,
    }
);

self_cell!(
    struct Shapes {
        owner: OwnKeys,
        #[covariant]
        dependent: ShapeRow,
    }
);

/// The text of a range, readable as a block if the pool continues after it.
fn text(pool: &str, [start, end]: [u32; 2]) -> Text<'_> {
    Text::prefix_of(pool.get(start as usize..).unwrap_or(""), end.saturating_sub(start) as usize)
}

/// Returns the records of a table of keys: offset and string ids.
fn records(table: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (&count, rest) = table.get(at..)?.split_first()?;
        let (here, keys) = (at, rest.get(..count as usize)?);
        at += 1 + keys.len();
        Some((here, keys))
    })
}

impl Constants {
    /// The string constants if a run has needed them, or none.
    #[inline(always)]
    pub(super) fn known_texts(&self) -> &[Text<'_>] {
        self.texts.get().map_or(&[], |texts| &**texts.borrow_dependent())
    }

    /// The string constants. If the program builds maps, each string is classified as a word or not, because it is
    /// likely to be written.
    pub(super) fn texts(&self, pool: &Pool, strings: &[[u32; 2]], keys: &[u32]) -> &[Text<'_>] {
        let make = || Texts::new(pool.clone(), |pool| texts(pool.text(), strings, !keys.is_empty()));
        self.texts.get_or_init(make).borrow_dependent()
    }

    /// The shapes of the records of keys in the table, by their offsets. `None` for duplicate keys.
    pub(super) fn shapes(&self, pool: &Pool, strings: &[[u32; 2]], table: &[u32]) -> &[Option<Shape<'_>>] {
        let keys = || OwnKeys::new(pool.clone(), |pool| keys(pool.text(), strings, table));
        let shapes = || Shapes::new(keys(), |keys| shapes(keys.borrow_dependent(), table));
        self.shapes.get_or_init(shapes).borrow_dependent()
    }
}

fn texts<'p>(pool: &'p str, strings: &[[u32; 2]], classified: bool) -> Row<'p> {
    let known = |text: Text<'p>| if classified { text.classified() } else { text };
    strings.iter().map(|range| known(text(pool, *range))).collect()
}

fn keys<'p>(pool: &'p str, strings: &[[u32; 2]], table: &[u32]) -> Keys<'p> {
    let range = |key: &u32| strings.get(*key as usize).copied().unwrap_or_default();
    let texts: Row<'p> =
        records(table).flat_map(|(_, keys)| keys).map(|key| text(pool, range(key)).classified()).collect();
    let mut sorted = Vec::with_capacity(texts.len());
    for (_, keys) in records(table) {
        let own = texts.get(sorted.len()..).and_then(|texts| texts.get(..keys.len())).unwrap_or(&[]);
        sorted.extend(Shape::sorted_places(own));
    }
    Keys { texts, sorted: sorted.into() }
}

fn shapes<'p>(keys: &'p Keys<'p>, table: &[u32]) -> ShapeRow<'p> {
    let mut shapes = vec![None; table.len()];
    let mut from = 0;
    for (at, ids) in records(table) {
        let own = from..from + ids.len();
        from = own.end;
        let parts = keys.texts.get(own.clone()).zip(keys.sorted.get(own));
        if let (Some((texts, sorted)), Some(place)) = (parts, shapes.get_mut(at)) {
            *place = Shape::with_order(texts, sorted);
        }
    }
    shapes.into()
}

impl std::fmt::Debug for Constants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constants").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        Pool::Static("abbaé")
    }

    const STRINGS: &[[u32; 2]] = &[[0, 1], [1, 3], [3, 4], [4, 6], [1, 1]];

    #[test]
    fn texts_are_made_once_and_borrow_from_the_pool_of_the_program() {
        let (constants, pool) = (Constants::default(), pool());
        let texts = constants.texts(&pool, STRINGS, &[]);
        assert_eq!(texts.iter().map(Text::as_str).collect::<Vec<_>>(), ["a", "bb", "a", "é", ""]);
        assert!(std::ptr::eq(texts, constants.texts(&pool, STRINGS, &[])));
        assert_eq!(texts[1].as_str().as_ptr(), pool.text()[1..].as_ptr());
    }

    #[test]
    fn shapes_are_built_unless_a_key_is_duplicated() {
        let (constants, pool) = (Constants::default(), pool());
        // The first and the third string are the same text.
        let table = [3, 3, 1, 0, 2, 0, 2, 0, 1, 1];
        let shapes = constants.shapes(&pool, STRINGS, &table);
        let keys = |shape: &Shape<'_>| shape.keys().iter().map(|key| key.as_str().to_owned()).collect::<Vec<_>>();
        let found: Vec<_> =
            shapes.iter().enumerate().filter_map(|(at, shape)| Some((at, keys(shape.as_ref()?)))).collect();
        let expected = [(0, vec!["é", "bb", "a"]), (7, vec![]), (8, vec!["bb"])];
        assert_eq!(found, expected.map(|(at, keys)| (at, keys.into_iter().map(str::to_owned).collect::<Vec<_>>())));
        assert_eq!(shapes[0].map(|shape| shape.sorted().to_vec()), Some(vec![2, 1, 0]));
        let ids: std::collections::HashSet<_> = shapes.iter().flatten().map(Shape::id).collect();
        assert_eq!((ids.len(), ids.contains(&0)), (3, false));
    }

    #[test]
    fn a_table_that_is_not_whole_has_the_shapes_in_front_of_that() {
        let (constants, pool) = (Constants::default(), pool());
        let shapes = constants.shapes(&pool, STRINGS, &[1, 0, 9, 1]);
        assert_eq!(shapes.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false]);
    }
}
