//! The wire API of Herdsman: package `herdsman.v1`, its JSON form and its text forms.
//!
//! The contract is in `herdsman/v1/*.proto`; everything in [`v1`] is generated from it. This crate knows how
//! messages are written, not what they mean: rules are checked by the engine, behind the server.

pub mod codec;
pub mod json;
pub mod text;

/// Messages, client and server of package `herdsman.v1`, generated from the `.proto` files.
#[allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all, clippy::pedantic)]
pub mod v1 {
    tonic::include_proto!("herdsman.v1");
}

/// The compiled `.proto` files, as server reflection and JSON need them: a serialised `FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/herdsman.v1.descriptors.bin"));
