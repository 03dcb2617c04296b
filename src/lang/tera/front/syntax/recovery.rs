//! Recovery from errors inside tags. The grammar restarts after a broken tag. Stand-ins reopen the blocks that are open
//! there, so that their ends still match. After the first error the tree is discarded, and only further errors matter.

use super::lexer::{End, Spanned, Token};

/// Drops the tokens up to the end of the tag at offset `at`, except for open blocks. Returns the last of them, or
/// `None` if no tag ends after `at`.
pub(crate) fn skip_tag<'a>(tokens: &mut Vec<Spanned<'a>>, at: u32) -> Option<Token<'a>> {
    let ends = |(start, token, _): &Spanned<'_>| *start >= at && matches!(token, Token::End(_) | Token::Broken(_));
    let end = tokens.iter().position(ends)?;
    let mut open: Vec<Vec<Token<'static>>> = Vec::new();
    for (_, token, _) in tokens.iter().take(end) {
        match token {
            Token::If | Token::For | Token::Filter | Token::Block | Token::Macro => {
                open.push(stand_in(*token).to_vec())
            }
            Token::Else => open.iter_mut().last().into_iter().for_each(|block| block.push(Token::Else)),
            Token::EndIf | Token::EndFor | Token::EndFilter | Token::EndBlock | Token::EndMacro => drop(open.pop()),
            _ => {}
        }
    }
    let stand_ins = open.into_iter().flatten().map(|token| (0, token, 0));
    tokens.splice(..=end, stand_ins).next_back().map(|(_, token, _)| token)
}

/// Returns a valid opening tag of the same kind.
fn stand_in(head: Token<'_>) -> &'static [Token<'static>] {
    const NAME: Token<'static> = Token::Name("_");
    const END: Token<'static> = Token::End(End::Statement);
    match head {
        Token::If => &[Token::If, Token::Bool(true), END],
        Token::For => &[Token::For, NAME, Token::In, Token::Path("_"), END],
        Token::Filter => &[Token::Filter, NAME, END],
        Token::Block => &[Token::Block, NAME, END],
        Token::Macro => &[Token::Macro, NAME, Token::Open, Token::Close, END],
        _ => &[],
    }
}
