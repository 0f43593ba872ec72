//! How messages become bytes: as protobuf, with buffers of the size that most of them have.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

/// Bytes that a call has for its request, and for its reply, before it is known how large they are: room for a guess, its
/// history and the answer. tonic's own 8 KiB each are what most of a call's memory would be, also of one that is
/// given up before it says anything. A buffer grows with what is larger.
const BUFFER_BYTES: usize = 1 << 10;
/// Bytes of a stream that are gathered before they are sent, as tonic has it.
const GATHERED_BYTES: usize = 32 << 10;

fn buffers() -> BufferSettings {
    BufferSettings::new(BUFFER_BYTES, GATHERED_BYTES)
}

/// The codec of all generated clients and servers: writes `T`, reads `U`.
#[derive(Debug)]
pub struct SmallCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        SmallCodec(PhantomData)
    }
}

impl<T, U> Codec for SmallCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstCodec::<T, U>::raw_encoder(buffers())
    }

    fn decoder(&mut self) -> ProstDecoder<U> {
        ProstCodec::<T, U>::raw_decoder(buffers())
    }
}
