//! Lengths that Arrow files and streams declare. A length that no file can have would end the process: memory is
//! allocated for it before the bytes are read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use arrow_ipc::{Block, Message, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;

/// Maximum number of bytes of a record batch, and of all dictionaries of a file, without compression.
const MAX_BATCH: u64 = 1 << 30;
/// The mark before the length of a message.
const MARK: u32 = u32::MAX;
/// The mark and the length of a message.
const PREFIX: u64 = 8;
/// The length of a footer and the magic number, at the end of a file.
const TAIL: u64 = 10;

type Checked<T> = Result<T, ArrowError>;

/// Checks the lengths of all messages of a stream.
///
/// # Errors
/// An error if a message is longer than the rest of the file, or too long.
pub(super) fn check_stream(file: &File) -> Checked<()> {
    let size = file.metadata()?.len();
    let mut at = 0;
    // A stream ends with the file, or with a message of no length. A part of a message is found by the reader.
    while at + PREFIX <= size {
        let (start, length) = match (number(file, at)?, number(file, at + 4)?) {
            (MARK, length) => (at + PREFIX, length),
            (length, _) => (at + 4, length),
        };
        if length == 0 {
            return Ok(());
        }
        let (end, _) = check_message(file, start, u64::from(length), size)?;
        at = end;
    }
    Ok(())
}

/// Checks the lengths of all messages that the footer of a file names.
///
/// # Errors
/// An error if a message is longer than the file, or too long.
pub(super) fn check_file(file: &File) -> Checked<()> {
    let size = file.metadata()?.len();
    let end = size.checked_sub(TAIL).ok_or_else(|| refused("the file is too short"))?;
    let length = u64::from(number(file, end)?);
    let start = end.checked_sub(length).ok_or_else(|| refused("the footer is longer than the file"))?;
    let bytes = read(file, start, length)?;
    let footer = root_as_footer(&bytes).map_err(|error| refused(&format!("the footer is damaged: {error}")))?;
    let mut dictionaries = 0_u64;
    for block in footer.dictionaries().into_iter().flatten() {
        dictionaries = dictionaries.saturating_add(check_block(file, block, size)?);
        if dictionaries > MAX_BATCH {
            return Err(refused("the dictionaries are too long: the limit is 1 GiB"));
        }
    }
    let batches = footer.recordBatches();
    batches.into_iter().flatten().try_for_each(|block| check_block(file, block, size).map(drop))
}

/// Returns the number of bytes of the message of a block, without compression.
fn check_block(file: &File, block: &Block, size: u64) -> Checked<u64> {
    let long = || refused("a message is longer than the file");
    let start = u64::try_from(block.offset()).map_err(|_| long())?;
    let (meta, body) = (u64::try_from(block.metaDataLength()), u64::try_from(block.bodyLength()));
    let (meta, body) = (meta.map_err(|_| long())?, body.map_err(|_| long())?);
    let end = start.checked_add(meta).and_then(|end| end.checked_add(body)).filter(|end| *end <= size);
    if end.is_none() || body > MAX_BATCH {
        return Err(long());
    }
    let prefix = if meta >= PREFIX && number(file, start)? == MARK { PREFIX } else { 4.min(meta) };
    check_message(file, start + prefix, meta - prefix, size).map(|(_, bytes)| bytes)
}

/// Returns the end of the message whose head lies at `start`, and its number of bytes without compression.
fn check_message(file: &File, start: u64, length: u64, size: u64) -> Checked<(u64, u64)> {
    let body = start.checked_add(length).filter(|end| *end <= size);
    let body = body.ok_or_else(|| refused("a message is longer than the file"))?;
    let head = read(file, start, length)?;
    let message = root_as_message(&head).map_err(|error| refused(&format!("a message is damaged: {error}")))?;
    let bytes = u64::try_from(message.bodyLength()).unwrap_or(u64::MAX);
    let end = body.checked_add(bytes).filter(|end| *end <= size);
    let end = end.ok_or_else(|| refused("a message is longer than the file"))?;
    match unpacked(file, &message, body, end)? {
        bytes if bytes > MAX_BATCH => Err(refused("a record batch is too long: the limit is 1 GiB")),
        bytes => Ok((end, bytes)),
    }
}

/// Returns the number of bytes of a body from `start` to `end` without compression.
fn unpacked(file: &File, message: &Message<'_>, start: u64, end: u64) -> Checked<u64> {
    let of_dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let batch: Option<RecordBatch<'_>> = message.header_as_record_batch().or_else(of_dictionary);
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(end - start) };
    let mut all = 0_u64;
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
        let at = u64::try_from(buffer.offset()).ok().and_then(|offset| start.checked_add(offset));
        let at =
            at.filter(|at| *at <= end.saturating_sub(8)).ok_or_else(|| refused("a buffer lies outside its message"))?;
        let mut length = [0; 8];
        file.read_exact_at(&mut length, at)?;
        // -1 is a buffer without compression.
        let length = u64::try_from(i64::from_le_bytes(length)).unwrap_or(buffer.length().unsigned_abs());
        all = all.saturating_add(length);
    }
    Ok(all.max(end - start))
}

fn number(file: &File, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Reads bytes that are known to lie in the file.
fn read(file: &File, at: u64, length: u64) -> Checked<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| refused("a message is too long"))?];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

fn refused(why: &str) -> ArrowError {
    ArrowError::IpcError(why.to_owned())
}
