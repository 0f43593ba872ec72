//! Generates the messages and stubs from the `.proto` files, without protoc.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=herdsman");
    let files = protox::compile(["herdsman/v1/solver.proto"], ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("herdsman.v1.descriptors.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure().codec_path("crate::codec::SmallCodec").compile_fds(files)?;
    Ok(())
}
