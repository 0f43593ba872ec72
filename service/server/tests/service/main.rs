//! The service as its clients see it: a server in this process on a free port, spoken to over HTTP/2.

mod answers;
mod best;
mod errors;
mod evaluate;
mod games;
mod host;
mod play;
mod program;
mod saved;
mod solve;
mod stop;
mod transport;
mod words;
mod work;
