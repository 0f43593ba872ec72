//! The proto3 JSON form of the API, for any method and message, from the compiled descriptors alone.
//!
//! Owns how messages look as JSON and how a method is called by its name; knows no message in particular, so a
//! new method needs nothing here.
//!
//! Written as proto3 JSON has it (lowerCamelCase names, 64-bit integers as strings, enums by name), and with
//! every field that cannot be unset, even where it holds its default: a script reads `{"remaining":0}`, not
//! `{}`. Read by the same rules, but a field that no message has is an error, for it is a typing mistake.

use std::sync::LazyLock;

use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, Kind, MessageDescriptor, MethodDescriptor, SerializeOptions,
};
use serde::{Deserializer, Serialize, Serializer};
use serde_path_to_error::{Path, Segment, Track};
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

/// Every descriptor of the API.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(crate::FILE_DESCRIPTOR_SET).expect("the compiled descriptors are sound")
});

/// Why a call in JSON cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// No method has this name.
    #[error("there is no method `{name}`: use {}", method_names())]
    UnknownMethod {
        /// The name as it came.
        name: String,
    },
    /// The request is no message of the method.
    #[error("{0}")]
    Request(String),
}

/// A message of the API that serialises as proto3 JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Json(DynamicMessage);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let options = SerializeOptions::new().skip_default_fields(false);
        self.0.serialize_with_options(serializer, &options)
    }
}

/// A method of the API. Also the codec that carries its requests and replies as [`Json`].
#[derive(Clone, Debug)]
pub struct Method(MethodDescriptor);

impl Method {
    /// Every method, in the order of the `.proto` files.
    pub fn all() -> impl Iterator<Item = Self> {
        POOL.services().flat_map(|service| service.methods().collect::<Vec<_>>()).map(Self)
    }

    /// The method called `name`, such as `Score`.
    ///
    /// # Errors
    /// [`JsonError::UnknownMethod`], which lists the methods.
    pub fn named(name: &str) -> Result<Self, JsonError> {
        Self::all()
            .find(|method| method.name() == name)
            .ok_or_else(|| JsonError::UnknownMethod { name: name.to_owned() })
    }

    /// The name, such as `Score`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The path that gRPC calls it by, such as `/herdsman.v1.SolverService/Score`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{}/{}", self.0.parent_service().full_name(), self.0.name())
    }

    /// Whether it answers with a stream of messages.
    #[must_use]
    pub fn streams(&self) -> bool {
        self.0.is_server_streaming()
    }

    /// Reads a request of this method.
    ///
    /// # Errors
    /// [`JsonError::Request`], which names the place and, for an unknown field, the fields that there are.
    pub fn request<'de>(&self, json: impl Deserializer<'de>) -> Result<Json, JsonError> {
        let mut track = Track::new();
        let tracked = serde_path_to_error::Deserializer::new(json, &mut track);
        let read = DynamicMessage::deserialize(self.0.input(), tracked);
        read.map(Json).map_err(|error| self.explain(&error.to_string(), &track.path()))
    }

    /// Turns a reply of this method into JSON.
    ///
    /// # Errors
    /// When `reply` is not the reply of this method.
    pub fn reply(&self, reply: &impl Message) -> Result<Json, prost::DecodeError> {
        DynamicMessage::decode(self.0.output(), reply.encode_to_vec().as_slice()).map(Json)
    }

    /// Says where in the request `error` is and, if that is in a message, which fields the message has.
    fn explain(&self, error: &str, path: &Path) -> JsonError {
        let mut place = Kind::Message(self.0.input());
        for segment in path {
            if let (Kind::Message(message), Segment::Map { key }) = (&place, segment)
                && let Some(field) =
                    message.get_field_by_json_name(key).or_else(|| message.get_field_by_name(key))
            {
                place = field.kind();
            }
        }
        let mut text = match path.iter().len() {
            0 => error.to_owned(),
            _ => format!("at `{path}`: {error}"),
        };
        if let Kind::Message(message) = place {
            text += &format!("; {} has {}", message.name(), field_names(&message));
        }
        JsonError::Request(text)
    }
}

impl Codec for Method {
    type Encode = Json;
    type Decode = Json;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        self.clone()
    }

    fn decoder(&mut self) -> Self {
        self.clone()
    }
}

impl Encoder for Method {
    type Item = Json;
    type Error = Status;

    fn encode(&mut self, item: Json, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.0.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Method {
    type Item = Json;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Json>, Status> {
        DynamicMessage::decode(self.0.output(), buffer)
            .map(|message| Some(Json(message)))
            .map_err(|error| Status::internal(error.to_string()))
    }
}

fn method_names() -> String {
    Method::all().map(|method| method.name().to_owned()).collect::<Vec<_>>().join(", ")
}

fn field_names(message: &MessageDescriptor) -> String {
    let names: Vec<_> = message.fields().map(|field| field.json_name().to_owned()).collect();
    if names.is_empty() { "no fields".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::v1;

    #[track_caller]
    fn refuse(method: &str, request: Value, sentence: &str) {
        let error = Method::named(method).unwrap().request(request).unwrap_err();
        assert_eq!(error.to_string(), sentence);
    }

    #[test]
    fn every_method_of_the_service_is_known_by_its_path() {
        let paths: Vec<_> = Method::all().map(|method| method.path()).collect();
        assert!(
            paths.contains(&"/herdsman.v1.SolverService/BestNextGuess".to_owned()),
            "{paths:?}"
        );
        assert_eq!(
            Method::named("score").unwrap_err().to_string(),
            format!("there is no method `score`: use {}", method_names())
        );
    }

    #[test]
    fn a_request_is_read_by_either_spelling_of_its_fields() {
        let request = json!({
            "rules": {"codes": {"alphabet": "ab", "length": 2, "not_first": "a"}},
            "history": [{"guess": "ba", "feedback": {"bulls": 0}}],
            "topK": 3, "seed": "-7", "strategy": "STRATEGY_ENTROPY",
        });
        let json = Method::named("BestNextGuess").unwrap().request(request).unwrap();
        let typed: v1::BestNextGuessRequest = json.0.transcode_to().unwrap();
        let codes = v1::CodeRules {
            alphabet: "ab".to_owned(),
            length: 2,
            repeats: false,
            not_first: "a".to_owned(),
        };
        assert_eq!(typed.rules.unwrap().game, Some(v1::rules::Game::Codes(codes)));
        let feedback = v1::Feedback { bulls: Some(0), ..Default::default() };
        assert_eq!(typed.history[0].feedback, Some(feedback));
        assert_eq!(
            (typed.top_k, typed.seed, typed.strategy),
            (3, -7, v1::Strategy::Entropy as i32)
        );
    }

    #[test]
    fn a_bad_request_is_refused_with_its_place_and_what_would_be_right() {
        refuse(
            "Score",
            json!({"gues": "0123"}),
            "unrecognized field name 'gues'; ScoreRequest has rules, secret, guess",
        );
        refuse(
            "Filter",
            json!({"history": [{"guess": "0123", "feedback": {"bull": 1}}]}),
            "at `history[0].feedback`: unrecognized field name 'bull'; \
             Feedback has bulls, cows, total, solved, marks, order",
        );
        refuse("Filter", json!({"pageSize": "x"}), "at `pageSize`: invalid digit found in string");
        refuse(
            "GetServerInfo",
            json!([]),
            "invalid type: sequence, expected a map; GetServerInfoRequest has no fields",
        );
    }

    #[test]
    fn a_reply_shows_defaults_but_not_what_is_unset() {
        let reply = v1::ScoreResponse {
            feedback: Some(v1::Feedback { bulls: Some(0), ..Default::default() }),
            solved: false,
        };
        let json = Method::named("Score").unwrap().reply(&reply).unwrap();
        let text = serde_json::to_string(&json).unwrap();
        assert_eq!(text, r#"{"feedback":{"bulls":0},"solved":false}"#);
        let empty = Method::named("Filter").unwrap().reply(&v1::FilterResponse::default()).unwrap();
        assert_eq!(
            serde_json::to_value(empty).unwrap(),
            json!({
                "remaining": 0, "candidates": [], "nextPageToken": "", "solved": false,
                "remainingByLies": [],
            })
        );
    }
}
