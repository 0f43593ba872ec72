//! The token that a server may ask for: where it comes from, and to whom it is sent.

use std::{env, fs, net::IpAddr};

use tonic::{
    codegen::http::Uri,
    metadata::{Ascii, MetadataValue},
};

use crate::{args::Options, failure::Failure};

/// No flag has the token itself: everybody on a machine sees the arguments of its programs.
const VARIABLE: &str = "HERDSMAN_TOKEN";

/// What `authorization` is to be, if there is a token: of the file that is named, or of the environment.
pub(crate) fn authorization(
    options: &Options,
    server: &Uri,
) -> Result<Option<MetadataValue<Ascii>>, Failure> {
    let (source, token) = match &options.token_file {
        Some(file) => {
            let source = file.display().to_string();
            let text = fs::read_to_string(file)
                .map_err(|error| Failure::Read { source_name: source.clone(), error })?;
            (source, text)
        }
        None => match env::var(VARIABLE) {
            Ok(token) if !token.is_empty() => (VARIABLE.to_owned(), token),
            Err(env::VarError::NotUnicode(_)) => return Err(no_token(VARIABLE)),
            _ => return Ok(None),
        },
    };
    bearer(&source, token.trim(), server).map(Some)
}

fn bearer(source: &str, token: &str, server: &Uri) -> Result<MetadataValue<Ascii>, Failure> {
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(no_token(source));
    }
    if !keeps_secrets(server) {
        return Err(Failure::Usage(format!(
            "the token of {source} is not sent to {server}: everybody on the way could read it; a token goes to \
             https:// or to this machine only"
        )));
    }
    let mut value =
        MetadataValue::try_from(format!("Bearer {token}")).map_err(|_| no_token(source))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Never tells what is there: it may be a token nearly.
fn no_token(source: &str) -> Failure {
    Failure::Usage(format!(
        "{source} holds no token: that is one word of letters, digits and signs of ASCII"
    ))
}

/// Whether nobody can listen on the way.
fn keeps_secrets(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    server.scheme_str() == Some("https")
        || host == "localhost"
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(token: &str, server: &'static str) -> Result<String, String> {
        let value = bearer("FILE", token, &Uri::from_static(server));
        value.map(|value| value.to_str().unwrap().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_is_sent_where_nobody_listens_on_the_way() {
        for server in [
            "https://herdsman.example",
            "https://10.0.0.1:50051",
            "http://127.0.0.1:50051",
            "http://127.3.2.1",
            "http://[::1]:50051",
            "http://localhost:50051",
        ] {
            assert_eq!(sent("s3cret", server), Ok("Bearer s3cret".to_owned()), "{server}");
        }
        for server in [
            "http://herdsman.example",
            "http://10.0.0.1:50051",
            "http://localhost.example",
            "http://[2001:db8::1]",
        ] {
            let error = sent("s3cret", server).unwrap_err();
            assert!(error.contains("https://") && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn what_is_no_token_is_told_without_it() {
        for token in ["", "two words", "two\nlines", "s\u{e9}cret"] {
            let error = sent(token, "https://herdsman.example").unwrap_err();
            assert!(error.starts_with("FILE holds no token"), "{error}");
            assert!(token.is_empty() || !error.contains(token), "{error}");
        }
    }
}
