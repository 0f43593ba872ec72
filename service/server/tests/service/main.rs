//! The service as its clients see it: a server in this process on a free port, spoken to over HTTP/2.

mod answers;
mod best;
mod errors;
mod host;
mod program;
mod solve;
mod stop;
mod transport;
mod work;
