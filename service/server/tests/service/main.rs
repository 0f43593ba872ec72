//! The service as its clients see it: a server in this process on a free port, spoken to over HTTP/2.

mod answers;
mod authority;
mod best;
mod config;
mod errors;
mod evaluate;
mod games;
mod host;
mod http2;
mod limits;
mod metrics;
mod play;
mod program;
mod rate;
mod saved;
mod secure;
mod solve;
mod stop;
mod tokens;
mod transport;
mod words;
mod work;
