//! Builds events from tokens, with a stack of states.

use std::borrow::Cow;

use super::scan::{Mark, Result, Token, TokenScanner, problem_at};

/// The prefix of tags that a `!!` stands for.
const CORE: &str = "tag:yaml.org,2002:";

/// An event of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event<'t> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(&'t str),
    Scalar { text: Cow<'t, str>, anchor: Option<&'t str>, tag: Option<String>, plain: bool },
    SequenceStart { anchor: Option<&'t str> },
    MappingStart { anchor: Option<&'t str> },
    CollectionEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    ImplicitStart,
    Start,
    Content,
    End,
    BlockNode,
    SequenceFirst,
    SequenceEntry,
    Indentless,
    MapFirst,
    MapKey,
    MapValue,
    FlowListFirst,
    FlowListEntry,
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowMapFirst,
    FlowMapKey,
    FlowMapValue,
    FlowMapEmpty,
    Done,
}

#[derive(Debug)]
pub(super) struct Parser<'t> {
    scanner: TokenScanner<'t>,
    state: State,
    states: Vec<State>,
    /// The handles of tags and their prefixes.
    handles: Vec<(String, String)>,
    /// The place of a token that no rule expects.
    unexpected: Option<Mark>,
}

const fn empty<'t>() -> Event<'t> {
    Event::Scalar { text: Cow::Borrowed(""), anchor: None, tag: None, plain: true }
}

impl<'t> Parser<'t> {
    /// Creates a parser, like [`TokenScanner::new`].
    pub fn new(text: &'t str, depth: usize, usual: bool) -> Self {
        let scanner = TokenScanner::new(text, depth, usual);
        Self { scanner, state: State::ImplicitStart, states: Vec::new(), handles: Vec::new(), unexpected: None }
    }

    /// Returns the next event.
    pub fn next(&mut self) -> Result<Event<'t>> {
        match self.state {
            State::ImplicitStart => self.document_start(true),
            State::Start => self.document_start(false),
            State::Content => self.content(),
            State::End => self.document_end(),
            State::BlockNode => self.node(true, false),
            State::SequenceFirst | State::SequenceEntry => self.sequence(),
            State::Indentless => self.indentless(),
            State::MapFirst | State::MapKey => self.map_key(),
            State::MapValue => self.map_value(),
            State::FlowListFirst => self.flow_list(true),
            State::FlowListEntry => self.flow_list(false),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => {
                self.state = State::FlowListEntry;
                Ok(Event::CollectionEnd)
            }
            State::FlowMapFirst => self.flow_map(true),
            State::FlowMapKey => self.flow_map(false),
            State::FlowMapValue => self.flow_map_value(false),
            State::FlowMapEmpty => self.flow_map_value(true),
            State::Done => Ok(Event::StreamEnd),
        }
    }

    #[inline]
    fn peek(&mut self) -> Result<&Token<'t>> {
        Ok(self.scanner.peek()?.0)
    }

    #[inline]
    fn is(&mut self, token: &Token<'_>) -> Result<bool> {
        Ok(self.peek()? == token)
    }

    /// Takes the next token if it is `token`.
    fn eat(&mut self, token: &Token<'_>) -> Result<bool> {
        let found = self.is(token)?;
        if found {
            self.scanner.take()?;
        }
        Ok(found)
    }

    /// Returns a problem with the next token. Its line is counted from zero, and the first one is not named.
    fn unexpected<T>(&mut self, message: &str) -> Result<T> {
        let mark = self.scanner.peek()?.1;
        self.unexpected = Some(mark);
        Err(problem_at(mark.line, message))
    }

    /// Returns the place of the problem that ended parsing: that of an unexpected token, or the one that the scanner
    /// reached.
    pub fn problem_place(&self) -> Mark {
        self.unexpected.unwrap_or(self.scanner.mark)
    }

    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Done);
    }

    fn document_start(&mut self, mut implicit: bool) -> Result<Event<'t>> {
        while !implicit && self.eat(&Token::DocumentEnd)? {}
        let starts =
            matches!(self.peek()?, Token::Version(..) | Token::TagHandle(..) | Token::DocumentStart | Token::StreamEnd);
        implicit &= !starts;
        self.handles = vec![("!".to_owned(), "!".to_owned()), ("!!".to_owned(), CORE.to_owned())];
        if implicit {
            self.states.push(State::End);
            self.state = State::BlockNode;
            return Ok(Event::DocumentStart);
        }
        if self.is(&Token::StreamEnd)? {
            self.state = State::Done;
            return Ok(Event::StreamEnd);
        }
        self.directives()?;
        if !self.eat(&Token::DocumentStart)? {
            return self.unexpected("did not find expected <document start>");
        }
        self.states.push(State::End);
        self.state = State::Content;
        Ok(Event::DocumentStart)
    }

    fn directives(&mut self) -> Result<()> {
        let (mut versions, standard) = (0, self.handles.len());
        loop {
            match self.peek()?.clone() {
                Token::Version(major, minor) => {
                    versions += 1;
                    if versions > 1 {
                        return self.unexpected("found duplicate %YAML directive");
                    }
                    if (major, minor) != (1, 1) {
                        return self.unexpected("found incompatible YAML document");
                    }
                }
                Token::TagHandle(handle, prefix) => {
                    if self.handles.iter().skip(standard).any(|(known, _)| known == handle) {
                        return self.unexpected("found duplicate %TAG directive");
                    }
                    self.handles.push((handle.to_owned(), prefix));
                }
                _ => return Ok(()),
            }
            self.scanner.take()?;
        }
    }

    fn content(&mut self) -> Result<Event<'t>> {
        let ends = matches!(
            self.peek()?,
            Token::Version(..) | Token::TagHandle(..) | Token::DocumentStart | Token::DocumentEnd | Token::StreamEnd
        );
        if ends {
            self.pop();
            return Ok(empty());
        }
        self.node(true, false)
    }

    fn document_end(&mut self) -> Result<Event<'t>> {
        self.eat(&Token::DocumentEnd)?;
        self.state = State::Start;
        Ok(Event::DocumentEnd)
    }

    /// Returns the anchor and the tag of a node.
    fn properties(&mut self) -> Result<(Option<&'t str>, Option<String>)> {
        let (mut anchor, mut tag) = (None, None);
        loop {
            match self.peek()? {
                Token::Anchor(name) if anchor.is_none() => anchor = Some(*name),
                Token::Tag(handle, suffix) if tag.is_none() => {
                    let (handle, suffix) = (*handle, suffix.clone());
                    tag = Some(self.whole_tag(handle, &suffix)?);
                }
                _ => return Ok((anchor, tag)),
            }
            self.scanner.take()?;
        }
    }

    fn whole_tag(&mut self, handle: &str, suffix: &str) -> Result<String> {
        if handle.is_empty() {
            return Ok(suffix.to_owned());
        }
        match self.handles.iter().rev().find(|(known, _)| known == handle) {
            Some((_, prefix)) => Ok(format!("{prefix}{suffix}")),
            None => self.unexpected("found undefined tag handle"),
        }
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<Event<'t>> {
        if let Token::Alias(name) = *self.peek()? {
            self.scanner.take()?;
            self.pop();
            return Ok(Event::Alias(name));
        }
        let (anchor, tag) = self.properties()?;
        let (state, event) = match self.peek()? {
            Token::BlockEntry if indentless => (State::Indentless, Event::SequenceStart { anchor }),
            Token::Scalar(..) => return self.scalar(anchor, tag),
            Token::FlowSequence => (State::FlowListFirst, Event::SequenceStart { anchor }),
            Token::FlowMapping => (State::FlowMapFirst, Event::MappingStart { anchor }),
            Token::BlockSequence if block => (State::SequenceFirst, Event::SequenceStart { anchor }),
            Token::BlockMapping if block => (State::MapFirst, Event::MappingStart { anchor }),
            _ if anchor.is_some() || tag.is_some() => {
                self.pop();
                let plain = tag.as_deref().is_none_or(|tag| tag == "!");
                let tag = tag.filter(|tag| tag != "!");
                return Ok(Event::Scalar { text: Cow::Borrowed(""), anchor, tag, plain });
            }
            _ => return self.unexpected("did not find expected node content"),
        };
        self.state = state;
        if state != State::Indentless {
            self.scanner.take()?;
        }
        Ok(event)
    }

    fn scalar(&mut self, anchor: Option<&'t str>, tag: Option<String>) -> Result<Event<'t>> {
        let Token::Scalar(text, is_plain) = self.scanner.take()? else { return Ok(empty()) };
        self.pop();
        let (plain, tag) = match tag {
            None => (is_plain, None),
            Some(tag) if tag == "!" => (true, None),
            tag => (false, tag),
        };
        Ok(Event::Scalar { text, anchor, tag, plain })
    }

    fn sequence(&mut self) -> Result<Event<'t>> {
        if self.eat(&Token::BlockEntry)? {
            if matches!(self.peek()?, Token::BlockEntry | Token::BlockEnd) {
                self.state = State::SequenceEntry;
                return Ok(empty());
            }
            self.states.push(State::SequenceEntry);
            return self.node(true, false);
        }
        self.block_end("did not find expected '-' indicator")
    }

    fn block_end(&mut self, message: &'static str) -> Result<Event<'t>> {
        if self.eat(&Token::BlockEnd)? {
            self.pop();
            return Ok(Event::CollectionEnd);
        }
        self.unexpected(message)
    }

    fn indentless(&mut self) -> Result<Event<'t>> {
        if !self.eat(&Token::BlockEntry)? {
            self.pop();
            return Ok(Event::CollectionEnd);
        }
        if matches!(self.peek()?, Token::BlockEntry | Token::Key | Token::Value | Token::BlockEnd) {
            self.state = State::Indentless;
            return Ok(empty());
        }
        self.states.push(State::Indentless);
        self.node(true, false)
    }

    fn map_key(&mut self) -> Result<Event<'t>> {
        if self.eat(&Token::Key)? {
            if matches!(self.peek()?, Token::Key | Token::Value | Token::BlockEnd) {
                self.state = State::MapValue;
                return Ok(empty());
            }
            self.states.push(State::MapValue);
            return self.node(true, true);
        }
        self.block_end("did not find expected key")
    }

    fn map_value(&mut self) -> Result<Event<'t>> {
        if self.eat(&Token::Value)? && !matches!(self.peek()?, Token::Key | Token::Value | Token::BlockEnd) {
            self.states.push(State::MapKey);
            return self.node(true, true);
        }
        self.state = State::MapKey;
        Ok(empty())
    }

    fn flow_list(&mut self, first: bool) -> Result<Event<'t>> {
        if !self.is(&Token::FlowSequenceEnd)? {
            if !first && !self.eat(&Token::FlowEntry)? {
                return self.unexpected("did not find expected ',' or ']'");
            }
            if self.eat(&Token::Key)? {
                self.state = State::FlowPairKey;
                return Ok(Event::MappingStart { anchor: None });
            }
            if !self.is(&Token::FlowSequenceEnd)? {
                self.states.push(State::FlowListEntry);
                return self.node(false, false);
            }
        }
        self.scanner.take()?;
        self.pop();
        Ok(Event::CollectionEnd)
    }

    fn flow_pair_key(&mut self) -> Result<Event<'t>> {
        if matches!(self.peek()?, Token::Value | Token::FlowEntry | Token::FlowSequenceEnd) {
            self.state = State::FlowPairValue;
            return Ok(empty());
        }
        self.states.push(State::FlowPairValue);
        self.node(false, false)
    }

    fn flow_pair_value(&mut self) -> Result<Event<'t>> {
        if self.eat(&Token::Value)? && !matches!(self.peek()?, Token::FlowEntry | Token::FlowSequenceEnd) {
            self.states.push(State::FlowPairEnd);
            return self.node(false, false);
        }
        self.state = State::FlowPairEnd;
        Ok(empty())
    }

    fn flow_map(&mut self, first: bool) -> Result<Event<'t>> {
        if !self.is(&Token::FlowMappingEnd)? {
            if !first && !self.eat(&Token::FlowEntry)? {
                return self.unexpected("did not find expected ',' or '}'");
            }
            if self.eat(&Token::Key)? {
                if matches!(self.peek()?, Token::Value | Token::FlowEntry | Token::FlowMappingEnd) {
                    self.state = State::FlowMapValue;
                    return Ok(empty());
                }
                self.states.push(State::FlowMapValue);
                return self.node(false, false);
            }
            if !self.is(&Token::FlowMappingEnd)? {
                self.states.push(State::FlowMapEmpty);
                return self.node(false, false);
            }
        }
        self.scanner.take()?;
        self.pop();
        Ok(Event::CollectionEnd)
    }

    fn flow_map_value(&mut self, empty_value: bool) -> Result<Event<'t>> {
        let has_value = !empty_value
            && self.eat(&Token::Value)?
            && !matches!(self.peek()?, Token::FlowEntry | Token::FlowMappingEnd);
        if has_value {
            self.states.push(State::FlowMapKey);
            return self.node(false, false);
        }
        self.state = State::FlowMapKey;
        Ok(empty())
    }
}
