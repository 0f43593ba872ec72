//! The server: finding it, and calling it with a deadline.

use std::time::Duration;

use herdsman_proto::{
    json::{Json, Method},
    v1::solver_service_client::SolverServiceClient,
};
use tonic::{
    Request, Status,
    client::Grpc,
    codec::Codec,
    codegen::http::uri::PathAndQuery,
    metadata::{Ascii, MetadataValue},
    transport::{Channel, Endpoint},
};

use crate::{args::Options, failure::Failure, tls, token};

/// How long to wait for the answer to a call, where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait for a connection: a host that drops packets would hold us for minutes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest reply: a matrix of the server's ten million cells at two bytes each is 20 MB.
const MAX_REPLY_BYTES: usize = 32 << 20;

/// A connected server.
#[derive(Clone)]
pub(crate) struct Remote {
    channel: Channel,
    server: String,
    timeout: Option<Duration>,
    authorization: Option<MetadataValue<Ascii>>,
}

impl Remote {
    pub(crate) async fn connect(options: &Options) -> Result<Self, Failure> {
        let server = match options.server.split_once("://") {
            None => format!("http://{}", options.server),
            Some(_) => options.server.clone(),
        };
        let refuse = |reason| Failure::Address { server: server.clone(), reason };
        let endpoint = Endpoint::from_shared(server.clone())
            .map_err(|_| refuse("write it as http://127.0.0.1:50051"))?;
        let endpoint = match endpoint.uri().scheme_str() {
            Some("http") => {
                tls::refuse_flags(options)?;
                endpoint
            }
            Some("https") => tls::secure(endpoint, CONNECT_TIMEOUT, options)?,
            _ => return Err(refuse("only http:// and https:// are spoken")),
        };
        let authorization = token::authorization(options, endpoint.uri())?;
        let channel =
            endpoint.connect_timeout(CONNECT_TIMEOUT).connect().await.map_err(|error| {
                match tls::fault(&error) {
                    Some(fault) => Failure::Tls { server: server.clone(), fault },
                    None => Failure::Unreachable { server: server.clone() },
                }
            })?;
        Ok(Self { channel, server, timeout: options.timeout, authorization })
    }

    /// The address of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The typed client. Its requests are made by [`Remote::request`].
    pub(crate) fn solver(&self) -> SolverServiceClient<Channel> {
        SolverServiceClient::new(self.channel.clone()).max_decoding_message_size(MAX_REPLY_BYTES)
    }

    /// `message` with the deadline that was asked for, or the usual one.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        self.request_within(Some(self.timeout.unwrap_or(TIMEOUT)), message)
    }

    /// `message` with the usual deadline, whatever was asked for.
    pub(crate) fn usual_request<T>(&self, message: T) -> Request<T> {
        self.request_within(Some(TIMEOUT), message)
    }

    /// `message` with the deadline that was asked for, or none but the server's own.
    pub(crate) fn patient_request<T>(&self, message: T) -> Request<T> {
        self.request_within(self.timeout, message)
    }

    fn request_within<T>(&self, timeout: Option<Duration>, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(timeout) = timeout {
            request.set_timeout(timeout);
        }
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        request
    }

    /// Calls any method, in JSON. The last message of a stream is its answer.
    pub(crate) async fn call(&self, method: Method, request: Json) -> Result<Json, Status> {
        let path = PathAndQuery::try_from(method.path())
            .map_err(|error| Status::internal(error.to_string()))?;
        if !method.streams() {
            return self.unary(method, path, request).await;
        }
        let mut grpc = self.grpc().await?;
        let request = self.request(request);
        let mut stream = grpc.server_streaming(request, path, method).await?.into_inner();
        let mut last = Err(Status::internal("the stream ended without an answer"));
        while let Some(message) = stream.message().await? {
            last = Ok(message);
        }
        last
    }

    /// Calls a method of one answer, with messages as `codec` has them.
    pub(crate) async fn unary<C: Codec>(
        &self,
        codec: C,
        path: PathAndQuery,
        message: C::Encode,
    ) -> Result<C::Decode, Status>
    where
        C::Encode: Send + Sync + 'static,
        C::Decode: Send + Sync + 'static,
    {
        Ok(self.grpc().await?.unary(self.request(message), path, codec).await?.into_inner())
    }

    /// A client that knows no method, when it can take a call.
    async fn grpc(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(MAX_REPLY_BYTES);
        grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(grpc)
    }
}
