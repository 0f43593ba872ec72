//! The methods that the server has, each found once a call: nothing else that a caller writes becomes a name.

use std::sync::LazyLock;

use herdsman_proto::json;

use crate::grpc::SERVICE;

/// What is not in the contract but served beside it. Reflection has a version that older tools ask for.
const OTHERS: [(&str, &str, &str); 4] = [
    (HEALTH, "Check", "unary"),
    (HEALTH, "Watch", "server_stream"),
    ("grpc.reflection.v1.ServerReflection", "ServerReflectionInfo", "bidi_stream"),
    ("grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo", "bidi_stream"),
];
const HEALTH: &str = "grpc.health.v1.Health";
/// The name of all that the server does not have.
const UNKNOWN: &str = "unknown";

/// Every method, and last the one that stands for all unknown ones.
static METHODS: LazyLock<Vec<Method>> = LazyLock::new(|| {
    let ours = json::Method::all().map(|method| {
        let kind = if method.streams() { "server_stream" } else { "unary" };
        Method::new(SERVICE, method.name(), kind)
    });
    let others = OTHERS.iter().map(|&(service, name, kind)| Method::new(service, name, kind));
    let unknown = Method::new(UNKNOWN, UNKNOWN, UNKNOWN);
    let mut methods: Vec<_> = ours.chain(others).chain([unknown]).collect();
    (0..).zip(&mut methods).for_each(|(index, method)| method.index = index);
    methods
});

/// A method of the server.
#[derive(Debug)]
pub(crate) struct Method {
    /// Its place among all.
    pub(crate) index: usize,
    pub(crate) service: &'static str,
    pub(crate) name: String,
    /// `unary`, `server_stream`, `bidi_stream` or `unknown`.
    pub(crate) kind: &'static str,
    /// `/service/name`.
    path: String,
}

impl Method {
    fn new(service: &'static str, name: &str, kind: &'static str) -> Method {
        let path = format!("/{service}/{name}");
        Method { index: 0, service, name: name.to_owned(), kind, path }
    }

    /// All there are; the last one stands for those that there are not.
    pub(crate) fn all() -> &'static [Method] {
        &METHODS
    }

    /// The method of a path.
    pub(crate) fn at(path: &str) -> &'static Method {
        let known = METHODS.iter().find(|method| method.path == path);
        known.unwrap_or(&METHODS[METHODS.len() - 1])
    }

    /// Its name for the log; nothing where there is no such method.
    pub(crate) fn full_name(&self) -> Option<&str> {
        (self.service != UNKNOWN).then(|| &self.path[1..])
    }

    /// Whether it is one of the solver.
    pub(crate) fn solves(&self) -> bool {
        self.service == SERVICE
    }

    /// Whether it is one of the solver that may take long, and answers with a stream.
    pub(crate) fn takes_long(&self) -> bool {
        self.solves() && self.kind == "server_stream"
    }

    /// Whether it is for probes, which have no token and must not be counted out.
    pub(crate) fn is_open(&self) -> bool {
        self.service == HEALTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_path_and_nothing_else_is() {
        for method in Method::all() {
            assert_eq!(Method::at(&method.path).index, method.index);
        }
        let score = Method::at("/herdsman.v1.SolverService/Score");
        assert_eq!(score.full_name(), Some("herdsman.v1.SolverService/Score"));
        assert!(score.solves() && !score.takes_long() && !score.is_open());
        assert!(Method::at("/herdsman.v1.SolverService/Duel").takes_long());
        assert!(Method::at("/grpc.health.v1.Health/Check").is_open());
        for path in ["", "/", "/herdsman.v1.SolverService/Win", "/grpc.health.v1.Health/Check/"] {
            let method = Method::at(path);
            assert_eq!((method.full_name(), method.is_open()), (None, false), "{path}");
        }
    }
}
