//! Flow collections, on one or several lines.

use super::Scan;
use super::block::{LONGEST_KEY, is_gap};
use super::bytes::END;
use super::nest::Kind;
use super::scalar::Stop;

impl Scan<'_> {
    /// Scans a flow collection with all it contains.
    pub(super) fn flow(&mut self) -> Option<()> {
        let (around, parent) = (self.nest.depth(), self.parent());
        self.open_flow(parent)?;
        while self.nest.depth() > around {
            self.skip_gap(parent)?;
            let is_map = self.nest.top()?.kind == Kind::Map;
            match self.here() {
                b'}' if is_map => self.close_flow(parent, around)?,
                b']' if !is_map => self.close_flow(parent, around)?,
                _ => {
                    if is_map {
                        self.flow_key()?;
                    }
                    self.flow_value(parent, around)?;
                }
            }
        }
        Some(())
    }

    fn open_flow(&mut self, parent: Option<usize>) -> Option<()> {
        let kind = if self.here() == b'{' { Kind::Map } else { Kind::List };
        self.at += 1;
        self.nest.open(kind, parent.unwrap_or(0))
    }

    fn close_flow(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        self.at += 1;
        self.nest.close()?;
        self.end_flow_entry(parent, around)
    }

    /// Scans the comma behind an entry, if there is one.
    fn end_flow_entry(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        if self.nest.depth() == around {
            return Some(());
        }
        self.skip_gap(parent)?;
        match self.here() {
            b',' => self.at += 1,
            b'}' | b']' => {}
            _ => return None,
        }
        Some(())
    }

    /// Scans a key and its colon.
    fn flow_key(&mut self) -> Option<()> {
        let start = self.at;
        let name = match self.here() {
            b'"' | b'\'' => {
                let quoted = self.quoted(None)?;
                self.bytes.get(start + 1..self.at - 1).filter(|_| quoted.is_verbatim && self.here() == b':')?
            }
            _ => {
                self.begin_plain()?;
                let Stop::Colon = self.plain_in_flow()? else { return None };
                self.plain_key(start)?
            }
        };
        if name.len() > LONGEST_KEY {
            return None;
        }
        self.nest.key(name);
        self.at += 1;
        self.skip_spaces();
        Some(())
    }

    fn flow_value(&mut self, parent: Option<usize>, around: usize) -> Option<()> {
        match self.here() {
            b'{' | b'[' => return self.open_flow(parent),
            b'"' | b'\'' => {
                self.quoted(None)?;
            }
            _ => {
                self.begin_plain()?;
                let Stop::End = self.plain_in_flow()? else { return None };
            }
        }
        self.end_flow_entry(parent, around)
    }

    /// Skips spaces, line ends and comments. Further lines are indented deeper than `parent`.
    #[inline]
    fn skip_gap(&mut self, parent: Option<usize>) -> Option<()> {
        self.skip_spaces();
        while self.is_line_over() {
            if self.here() == END {
                return None;
            }
            self.skip_line();
            let line = self.at;
            self.skip_spaces();
            let column = self.at - line;
            if !is_gap(self.here()) && (parent.is_some_and(|parent| column <= parent) || self.is_marker(column)) {
                return None;
            }
        }
        Some(())
    }

    fn is_marker(&self, column: usize) -> bool {
        column == 0 && matches!(self.here(), b'-' | b'.')
    }
}
