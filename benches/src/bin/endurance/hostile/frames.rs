//! HTTP/2 as a hostile peer speaks it: single frames, written and read one by one over a socket that blocks.
//!
//! Owns the form of frames, and as much of HPACK as a request and the status of a reply need. What is allowed in which
//! order is no concern of it: to break that is what it is for.

use std::{
    io::{self, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// Of DATA and HEADERS; the same bit is ACK in SETTINGS and PING.
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// What a client says first.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Error code of a reset that gives a call up.
pub(super) const CANCEL: [u8; 4] = 8_u32.to_be_bytes();
/// The window that a client which reads gives each stream and its connection.
pub(super) const WIDE: u32 = 16 << 20;
/// Nothing that is waited for takes longer, or the server is at fault.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A frame that came.
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

/// A connection to the server under test.
pub(super) struct Wire {
    reader: BufReader<TcpStream>,
}

impl Wire {
    /// Connects and says the preface. Each stream that the server sends on may hold `window` bytes.
    pub(super) fn open(address: SocketAddr, window: u32) -> io::Result<Wire> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut wire = Wire { reader: BufReader::new(stream) };
        let mut hello = PREFACE.to_vec();
        // No table of headers, so that each reply says its status anew, and the window.
        let settings = [[0, 1, 0, 0, 0, 0], setting(4, window)].concat();
        frame(&mut hello, SETTINGS, 0, 0, &settings);
        frame(&mut hello, WINDOW_UPDATE, 0, 0, &WIDE.to_be_bytes());
        wire.send(&hello)?;
        Ok(wire)
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    /// The next frame.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] and the like where the server closed the connection,
    /// [`io::ErrorKind::WouldBlock`] where nothing comes.
    pub(super) fn next(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.reader.read_exact(&mut head)?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.reader.read_exact(&mut payload)?;
        Ok(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }

    /// Sends `bytes` and waits until the server has read them, which the answer to a PING behind them tells. Gives
    /// `seen` every other frame that comes meanwhile.
    ///
    /// # Errors
    /// As [`next`](Wire::next).
    pub(super) fn send_and_sync(
        &mut self,
        mut bytes: Vec<u8>,
        mut seen: impl FnMut(&Frame),
    ) -> io::Result<()> {
        const MARK: &[u8] = b"have you";
        frame(&mut bytes, PING, 0, 0, MARK);
        // A server that closes before it has read all may still have told why.
        let sent = self.send(&bytes);
        loop {
            let frame = self.next()?;
            if frame.kind == PING && frame.flags & ACK != 0 && frame.payload == MARK {
                return sent;
            }
            seen(&frame);
        }
    }

    /// The `grpc-status` that ends a stream.
    ///
    /// # Errors
    /// As [`next`](Wire::next), or if the stream ends with none.
    pub(super) fn status(&mut self, stream: u32) -> io::Result<u8> {
        loop {
            let frame = self.next()?;
            if frame.stream != stream || frame.flags & END_STREAM == 0 || frame.kind > HEADERS {
                continue;
            }
            return grpc_status(&frame.payload)
                .ok_or_else(|| io::Error::other("a stream ended without a status"));
        }
    }
}

/// Writes a frame.
pub(super) fn frame(to: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    to.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    to.extend_from_slice(&[kind, flags]);
    to.extend_from_slice(&stream.to_be_bytes());
    to.extend_from_slice(payload);
}

/// One setting of a SETTINGS frame.
pub(super) fn setting(id: u8, value: u32) -> [u8; 6] {
    let [a, b, c, d] = value.to_be_bytes();
    [0, id, a, b, c, d]
}

/// The headers of a call, with more behind the usual ones, as literals without an index.
pub(super) fn request(path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let usual = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "herdsman"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let mut block = Vec::new();
    for (name, value) in usual.iter().chain(more) {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("these are short"));
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A message as gRPC frames it.
pub(super) fn message(bytes: &[u8]) -> Vec<u8> {
    [&[0], &(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

/// A whole unary call.
pub(super) fn call(to: &mut Vec<u8>, stream: u32, path: &str, more: &[(&str, &str)], bytes: &[u8]) {
    frame(to, HEADERS, END_HEADERS, stream, &request(path, more));
    frame(to, DATA, END_STREAM, stream, &message(bytes));
}

/// Finds `grpc-status` in a block of headers as the server's library writes it: in Huffman's code, under its name.
fn grpc_status(block: &[u8]) -> Option<u8> {
    // `grpc-status`, with its length in bytes in front.
    const NAME: [u8; 9] = [0x88, 0x9a, 0xca, 0xc8, 0xb2, 0x12, 0x34, 0xda, 0x8f];
    let at = block.windows(NAME.len()).position(|window| window == NAME)? + NAME.len();
    let (&length, code) = block[at..].split_first()?;
    let bits: Vec<u8> = code
        .get(..usize::from(length & 0x7f))?
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    // 0, 1 and 2 have five bits, the other digits six; what is left is ones.
    let (mut at, mut number) = (0, 0);
    let value = |bits: &[u8]| bits.iter().fold(0, |value, bit| value << 1 | bit);
    while bits.len() - at >= 5 {
        let short = value(&bits[at..at + 5]);
        let (digit, length) = match bits.get(at..at + 6) {
            _ if short < 3 => (short, 5),
            Some(long) if (25..=31).contains(&value(long)) => (value(long) - 22, 6),
            _ => break,
        };
        number = number * 10 + digit;
        at += length;
    }
    (at > 0).then_some(number)
}
