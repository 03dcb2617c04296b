//! Positions of a program's instructions in its sources, for diagnostics.

use std::sync::Arc;

use super::isa::Op;
use super::operands::Operand;
use super::places::Place;
use super::program::Program;
use super::records::Path;
use super::rows::{Region, Spanned};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Source;

/// The origin of a piece of joined text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// Text of the source, at its position.
    Text = 1,
    /// Text of the source before a value, at the position of the value.
    Before = 2,
    /// A computed value.
    Value = 3,
}

impl PieceKind {
    /// Every kind.
    const ALL: [PieceKind; 3] = [PieceKind::Text, PieceKind::Before, PieceKind::Value];

    /// Returns the kind of text at its position, if `is_behind`, or before a value.
    pub fn of(is_behind: bool) -> Self {
        if is_behind { PieceKind::Text } else { PieceKind::Before }
    }

    /// The shift of the kind in the part of an instruction that is a piece. Other parts are small.
    const SHIFT: u32 = 28;
}

/// Returns the part of an instruction that writes the piece of its text from byte `start` on.
pub(crate) fn piece_part(kind: PieceKind, start: usize) -> u32 {
    (kind as u32) << PieceKind::SHIFT | u32::try_from(start).unwrap_or(u32::MAX) & 0x0FFF_FFFF
}

/// The part of an instruction that compares what it reads: the whole comparison. The position of the instruction is that
/// of the path, which can fail.
pub(crate) const COMPARISON: u32 = (1 << PieceKind::SHIFT) - 1;

/// A piece of joined text.
#[derive(Debug, Clone, Copy)]
pub struct TextPiece {
    /// The byte of the text that it begins at.
    pub start: usize,
    /// The byte that it ends before. `None` for the last piece.
    pub end: Option<usize>,
    /// Its position.
    pub place: Spanned,
    /// Its origin.
    pub kind: PieceKind,
}

impl Program {
    /// Returns the piece with byte `nth` of the text that the instruction at word `at` writes, if the text was joined.
    pub fn text_piece(&self, at: u32, nth: usize) -> Option<TextPiece> {
        let (place, details) = (self.place(at)?, self.tables().details);
        let from = details.partition_point(|row| row[0] < at);
        let own = details.get(from..)?.iter().take_while(|row| row[0] == at);
        let mut pieces: Vec<TextPiece> = own
            .filter_map(|&[_, part, start, end]| {
                let kind = PieceKind::ALL.into_iter().find(|kind| *kind as u32 == part >> PieceKind::SHIFT)?;
                let place = Spanned::of(place.source, start, end);
                Some(TextPiece { start: (part & 0x0FFF_FFFF) as usize, end: None, place, kind })
            })
            .collect();
        pieces.small_sort_by_key(|piece| piece.start);
        let found = pieces.partition_point(|piece| piece.start <= nth).checked_sub(1)?;
        let end = pieces.get(found + 1).map(|piece| piece.start);
        pieces.get(found).map(|piece| TextPiece { end, ..*piece })
    }

    /// Returns the string that the instruction at word `at` writes, and `true` if its span is that of the string, `false` if
    /// it is that of a value written after the string.
    pub fn text_written(&self, at: u32) -> Option<(&str, bool)> {
        let instruction = self.code().instruction(at)?;
        let text = self.str(instruction.operand(Operand::Str)?);
        let info = instruction.op.info();
        info.writes.contains(Place::Output).then_some((text, !info.writes_path()))
    }

    /// Returns the position of the instruction at word `at`.
    pub fn place(&self, at: u32) -> Option<Spanned> {
        let spans = self.tables().spans;
        let behind = spans.partition_point(|row| row[0] <= at);
        let [_, source, start, end] = *spans.get(behind.checked_sub(1)?)?;
        Some(Spanned::of(source, start, end))
    }

    /// Returns the position of a part of the instruction at word `at`: an operand, an argument, a step of a path.
    pub fn detail(&self, at: u32, part: u32) -> Option<Spanned> {
        let place = self.place(at)?;
        let details = self.tables().details;
        if let Ok(row) = details.binary_search_by_key(&(at, part), |&[word, part, ..]| (word, part)) {
            let [_, _, start, end] = *details.get(row)?;
            return Some(Spanned::of(place.source, start, end));
        }
        let (start, len) = self.path_read_at(at)?.segment_span(part as usize)?;
        let start = place.span.start.saturating_add(start);
        Some(Spanned::of(place.source, start, start.saturating_add(len)))
    }

    /// Returns the position of the whole expression of the instruction at word `at`, with the comparison that it makes.
    pub fn whole_place(&self, at: u32) -> Option<Spanned> {
        self.detail(at, COMPARISON).or_else(|| self.place(at))
    }

    /// Returns the position of the first name of the path that the instruction at word `at` reads.
    pub fn root(&self, at: u32) -> Option<Spanned> {
        let (place, path) = (self.place(at)?, self.path_read_at(at)?);
        let name = self.str(path.name);
        let len = name.find(['.', '[', ' ', '\t', '\n', '\r']).unwrap_or(name.len());
        let end = place.span.start.saturating_add(u32::try_from(len).unwrap_or(0));
        Some(Spanned::of(place.source, place.span.start, end.min(place.span.end)))
    }

    fn path_read_at(&self, at: u32) -> Option<Path<'_>> {
        let word = self.words().get(at as usize).copied()?;
        let reads = Op::of(word).info().first() == Some(Operand::Path);
        reads.then(|| Path::at(self.tables().paths.get((word >> 8) as usize..)?)).flatten()
    }

    /// Returns the source of a position.
    pub fn source(&self, place: Spanned) -> Option<&Arc<Source>> {
        self.sources().get(place.source as usize)
    }

    /// Returns the calls that the code at word `at` was inlined for, innermost first.
    pub fn inlined_at(&self, at: u32) -> Vec<Spanned> {
        let covering = self.tables().inlined.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        let mut covering: Vec<_> = covering.collect();
        covering.small_sort_by_key(|[from, to, ..]| to - from);
        covering.into_iter().map(|&[_, _, source, start, end]| Spanned::of(source, start, end)).collect()
    }

    /// Returns the regions around the code at word `at`, outermost first.
    pub(crate) fn regions_at(&self, at: u32) -> Vec<Region> {
        let covering = self.tables().regions.iter().filter(|[from, to, ..]| (*from..*to).contains(&at));
        // Rows are sorted by end. If two end together, the inner one comes first.
        covering.rev().map(|&row| Region::of(row)).collect()
    }
}
