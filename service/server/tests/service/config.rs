//! Settings: where they come from, which of them wins, and what is said of those that cannot be used.

use std::{
    any::TypeId,
    collections::BTreeMap,
    fs,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use clap::{Arg, ArgAction, CommandFactory as _};
use herdsman_server::{Config, Invocation};
use proptest::{prelude::*, sample::Index};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    File,
    Variable,
    Flag,
}

const SOURCES: [Source; 3] = [Source::File, Source::Variable, Source::Flag];

impl Source {
    /// A setting as this source names it.
    fn name(self, id: &str) -> String {
        match self {
            Source::File => id.to_owned(),
            Source::Variable => format!("HERDSMAN_{}", id.to_uppercase()),
            Source::Flag => format!("--{}", id.replace('_', "-")),
        }
    }
}

/// Reads settings as the program does, or tells all that is wrong.
fn read(args: &[String], variables: &[(String, String)]) -> Result<Invocation, String> {
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
    Invocation::read(args.iter().map(Into::into), variables).map_err(|error| error.to_string())
}

/// A file with this in it.
fn file(text: impl AsRef<[u8]>) -> String {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = format!("{}/settings-{number}.toml", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&path, text).unwrap();
    path
}

fn read_file(text: impl AsRef<[u8]>) -> Result<Invocation, String> {
    read(&["--config".to_owned(), file(text)], &[])
}

/// Reads values, each from its source; in a file they are strings.
fn given(values: &[(Source, &str, &str)]) -> Result<Invocation, String> {
    let (mut text, mut variables, mut args) = (String::new(), vec![], vec![]);
    for &(source, id, value) in values {
        let name = source.name(id);
        match source {
            Source::File => text += &format!("{name} = {}\n", toml::Value::from(value)),
            Source::Variable => variables.push((name, value.to_owned())),
            Source::Flag => args.push(format!("{name}={value}")),
        }
    }
    if !text.is_empty() {
        args.push(format!("--config={}", file(text)));
    }
    read(&args, &variables)
}

fn settings() -> Vec<Arg> {
    Config::command().get_arguments().cloned().collect()
}

fn is_number(arg: &Arg) -> bool {
    let taken = arg.get_value_parser().type_id();
    taken == TypeId::of::<u32>() || taken == TypeId::of::<u64>()
}

/// Values that a setting takes, of each that takes some without another, whatever settings there are.
static TAKEN: LazyLock<Vec<(String, Vec<String>)>> = LazyLock::new(|| {
    let numbers = [0, 1, 7, 64, 3000, 5000, 1 << 20, 1 << 24, 1 << 30].map(|n: u64| n.to_string());
    let texts =
        ["true", "false", "debug", "[::1]:0", "0.0.0.0:7", "a=b", "b=ü \"q\" '#\\,guesses=c"];
    let values: Vec<String> = numbers.into_iter().chain(texts.map(str::to_owned)).collect();
    let settings = settings().into_iter().map(|arg| arg.get_id().to_string());
    let taken = settings.map(|id| {
        let mut values = values.clone();
        values.retain(|value| given(&[(Source::Flag, &id, value)]).is_ok());
        (id, values)
    });
    taken.filter(|(_, values)| !values.is_empty()).collect()
});

/// What is refused, alone, under the name that its source has for it.
#[track_caller]
fn refused(result: Result<Invocation, String>, name: &str) {
    let error = result.map(|read| read.config).expect_err(name);
    assert!(error.contains(name) && error.starts_with("1 of the settings"), "{name}: {error}");
}

#[test]
fn every_fault_of_every_setting_is_refused_by_its_name() {
    for arg in settings() {
        let id = arg.get_id().as_str();
        for source in SOURCES {
            let name = source.name(id);
            refused(given(&[(source, id, "")]), &name);
            refused(given(&[(source, &format!("{id}_x"), "1")]), &source.name(&format!("{id}_x")));
        }
        if is_number(&arg) {
            let bad = ["many", "-1", "1.5", "1_0", " 1", "18446744073709551615"];
            for (bad, source) in bad.into_iter().zip(SOURCES.into_iter().cycle()) {
                refused(given(&[(source, id, bad)]), &source.name(id));
            }
        }
        for bad in
            ["{}", "{ x = 1 }", "1979-05-27", "1.5", "nan", "[[]]", "[1]", "=", "", "nothing"]
        {
            refused(read_file(format!("{id} = {bad}")), id);
        }
        refused(read_file(format!("[{id}]\nx = 1")), id);
        let flag = Source::Flag.name(id);
        refused(read(&["--log=info".to_owned(), flag.clone() + "_x"], &[]), &flag);
        let list = matches!(arg.get_action(), ArgAction::Append);
        if !matches!(arg.get_action(), ArgAction::SetTrue) {
            refused(read(std::slice::from_ref(&flag), &[]), &flag);
        }
        if let (false, Some(value)) = (list, arg.get_default_values().first()) {
            let value = value.display();
            let once = format!("{flag}={value}");
            refused(read(&[once.clone(), once], &[]), &flag);
            refused(read_file(format!("{id} = '{value}'\n{id} = '{value}'")), id);
        }
    }
}

#[test]
fn a_file_that_is_none_is_refused_by_its_name_and_that_of_its_setting() {
    let missing = format!("{}/no-such-file", env!("CARGO_TARGET_TMPDIR"));
    let latin = file(b"threads = 3\nlog = \"\xe9\"");
    let large = file("#".repeat((1 << 20) + 1));
    for path in [missing, env!("CARGO_TARGET_TMPDIR").to_owned(), latin, large] {
        let flag = read(&["--config".to_owned(), path.clone()], &[]);
        let variable = read(&[], &[("HERDSMAN_CONFIG".to_owned(), path.clone())]);
        for (result, name) in [(flag, "--config"), (variable, "HERDSMAN_CONFIG")] {
            refused(result, &format!("{name}: {path}: "));
        }
    }
    refused(read(&["--config=".to_owned()], &[]), "--config");
    refused(read_file("config = 'other.toml'"), "config");
    refused(
        read(&[], &[("HERDSMAN_CHECK_CONFIG".to_owned(), "true".to_owned())]),
        "HERDSMAN_CHECK",
    );
}

#[test]
fn all_mistakes_of_all_sources_are_told_at_once_also_of_values_that_others_replace() {
    let path = file("max-turns = 3\n\nmax_queue = 'x'\nmax_pairs = = 1\nthreads = 2000\n");
    let args = ["--config", &path, "--threads", "3", "--max-cells", "100000000", "--max_codes=1"];
    let variables = [("HERDSMAN_MAX_TOPK", "1"), ("HERDSMAN_LOG", "a=b=c")];
    let error = read(
        &args.map(str::to_owned),
        &variables.map(|(name, value)| (name.to_owned(), value.to_owned())),
    )
    .unwrap_err();
    for told in [
        &format!("{path}:1: max-turns: no such setting; did you mean max_turns?"),
        &format!(
            "{path}:3: max_queue: \"x\" cannot be used: write a whole number from 0 to 100000"
        ),
        &format!("{path}:4: \"max_pairs = = 1\" is not TOML"),
        &format!("{path}:5: threads: \"2000\""),
        "HERDSMAN_MAX_TOPK: no such setting; did you mean HERDSMAN_MAX_TOP_K?",
        "HERDSMAN_LOG: \"a=b=c\"",
        "--max_codes: no such setting; did you mean --max-codes?",
        "--max-reply-bytes is 16777216, and a matrix of --max-cells 100000000",
        "8 of the settings",
    ] {
        assert!(error.contains(told), "{told}\n{error}");
    }
}

#[test]
fn what_thousands_of_mistakes_say_is_bounded() {
    let lines: String = (0..5000).map(|n| format!("x{n} = 1\n")).collect();
    let error = read_file(lines).unwrap_err();
    assert!(error.starts_with("5000 of the settings") && error.ends_with("and 4900 more"));
    let long = "x".repeat(1 << 16);
    assert!(read(&[format!("--log={long}=="), format!("--{long}")], &[]).unwrap_err().len() < 1000);
}

#[test]
fn variables_of_the_client_are_let_be_and_those_of_kubernetes_explained() {
    let one = |name: &str| read(&[], &[(name.to_owned(), "tcp://10.0.0.1:50051".to_owned())]);
    for name in ["HERDSMAN_SERVER", "HERDSMAN_TOKEN", "HERDSMAN_CA", "HERDSMAN", "herdsman_x"] {
        assert_eq!(one(name).unwrap().config, Config::default(), "{name}");
    }
    for name in ["HERDSMAN_PORT", "HERDSMAN_SERVICE_HOST", "HERDSMAN_PORT_50051_TCP_ADDR"] {
        let error = one(name).unwrap_err();
        assert!(error.contains(name) && error.contains("enableServiceLinks: false"), "{error}");
    }
    refused(one("HERDSMAN_max_turns"), "did you mean HERDSMAN_MAX_TURNS?");
}

#[test]
fn each_source_has_precedence_over_those_below() {
    for (id, values) in TAKEN.iter() {
        let three = SOURCES.into_iter().zip(values.iter().cycle());
        let layers: Vec<_> =
            three.map(|(source, value)| (source, id.as_str(), value.as_str())).collect();
        for top in 0..3 {
            let alone = given(&[(Source::Flag, id, layers[top].2)]).unwrap().config;
            assert_eq!(given(&layers[..=top]).unwrap().config, alone, "{layers:?}");
        }
    }
    assert_eq!(read(&[], &[]).unwrap().config, Config::default());
    assert_eq!(read_file("").unwrap().config, Config::default());
}

#[test]
fn a_file_may_write_values_as_toml_does() {
    let config = |text: &str| read_file(text).unwrap().config;
    let wanted = Config { max_pairs: 1000, max_turns: 16, ..Config::default() };
    assert_eq!(config("\u{feff}max_pairs = 1_000 # pairs\r\n\"max_turns\" = 0x10\r\n"), wanted);
    let two = "a=x;b=y,guesses=z".to_owned();
    let wanted = read(&["--dictionary".to_owned(), two], &[]).unwrap().config;
    assert_eq!(config("dictionary = ['a=x', '''b=y,guesses=z''']"), wanted);
    assert_eq!(config("dictionary = 'a=x;b=y,guesses=z'"), wanted);
    assert_eq!(config("dictionary = []"), Config::default());
}

#[test]
fn what_is_printed_is_read_as_the_same_settings() {
    let again = |read: &Invocation| read_file(&read.toml).unwrap().config;
    let defaults = read(&[], &[]).unwrap();
    assert_eq!(again(&defaults), defaults.config);

    let picks = (any::<Index>(), any::<Index>(), 0..SOURCES.len());
    let picks = proptest::collection::vec(picks, 1..12);
    proptest!(ProptestConfig::with_cases(64), |(picks in picks)| {
        let picked = picks.iter().map(|(setting, value, source)| {
            let (id, values) = setting.get(&TAKEN);
            ((SOURCES[*source], id.as_str()), value.get(values).as_str())
        });
        // Once of each, or it would be a mistake.
        let picked: BTreeMap<_, _> = picked.collect();
        let values: Vec<_> = picked.iter().map(|(&(source, id), &value)| (source, id, value)).collect();
        // Some go together with no others.
        let Ok(read) = given(&values) else { return Err(TestCaseError::reject("at odds")) };
        prop_assert_eq!(again(&read), read.config);
        for (source, id, _) in values {
            let over = picked.keys().any(|(other, of)| *of == id && *other > source);
            prop_assert_eq!(read.toml.contains(&format!(" {};", source.name(id))), !over);
        }
    });
}

#[test]
fn a_reply_must_have_room_for_the_largest() {
    let error = given(&[(Source::Variable, "max_cells", "100000000")]).unwrap_err();
    for name in ["--max-reply-bytes", "--max-cells", "(given: HERDSMAN_MAX_CELLS)"] {
        assert!(error.contains(name), "{error}");
    }
    let small = [(Source::Flag, "max_cells", "100"), (Source::Flag, "max_reply_bytes", "8192")];
    let error = given(&small).unwrap_err();
    for name in ["--max-pairs", "--max-page-size", "--max-top-k"] {
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_certificate_needs_its_key_and_authorities_need_both() {
    let tls = |ids: &[&str]| {
        let values: Vec<_> = ids.iter().map(|id| (Source::Flag, *id, "file")).collect();
        given(&values)
    };
    refused(tls(&["tls_cert"]), "--tls-key");
    refused(tls(&["tls_key", "tls_client_ca"]), "--tls-cert");
    refused(tls(&["tls_client_ca"]), "--tls-cert");
    assert!(tls(&["tls_cert", "tls_key", "tls_client_ca"]).is_ok());
}

#[test]
fn metrics_need_a_port_of_their_own() {
    let both = |listen: &str, metrics: &str| {
        read(&[format!("--listen={listen}"), format!("--metrics-listen={metrics}")], &[])
    };
    for listen in ["127.0.0.1:7", "0.0.0.0:7", "[::]:7", "[::ffff:127.0.0.1]:7"] {
        refused(both(listen, "127.0.0.1:7"), "--metrics-listen");
    }
    for (listen, metrics) in [("127.0.0.1:7", "127.0.0.2:7"), ("127.0.0.1:0", "127.0.0.1:0")] {
        assert!(both(listen, metrics).is_ok(), "{listen}, {metrics}");
    }
}

#[test]
fn who_listens_to_others_is_told_what_they_can_do() {
    let exposed = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        read(&args, &[]).unwrap().config.exposed().len()
    };
    assert_eq!(exposed(&["--listen=127.0.0.1:1"]), 0);
    assert_eq!(exposed(&["--listen=[::ffff:127.0.0.1]:1"]), 0);
    assert_eq!(exposed(&["--listen=0.0.0.0:1"]), 2);
    let tls = ["--listen=[::]:1", "--tls-cert=a", "--tls-key=b"];
    assert_eq!(exposed(&tls), 1);
    assert_eq!(exposed(&[&tls[..], &["--tls-client-ca=c"]].concat()), 0);
    assert_eq!(exposed(&[&tls[..], &["--tokens=c"]].concat()), 0);
    let metrics = "--metrics-listen=0.0.0.0:2";
    assert_eq!(exposed(&["--metrics-listen=127.0.0.1:2"]), 0);
    assert_eq!(exposed(&["--listen=127.0.0.1:1", metrics]), 1);
    assert_eq!(exposed(&[&tls[..], &["--tokens=c", metrics]].concat()), 1);
}

#[test]
fn every_setting_has_its_reason_and_every_number_its_range() {
    Config::command().debug_assert();
    let printed = read(&[], &[]).unwrap().toml;
    for arg in settings() {
        let id = arg.get_id().as_str();
        assert!(arg.get_help().is_some(), "{id} is not documented");
        let line = format!("{id} = ");
        let of_it = printed.split("\n\n").find(|part| part.contains(&line)).expect(id);
        assert_eq!(is_number(&arg), of_it.contains("# A whole number from "), "{of_it}");
    }
}

#[test]
fn the_file_that_ships_has_the_settings_and_the_words_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/herdsmand.toml");
    let shipped = fs::read_to_string(path).unwrap_or_default();
    assert!(
        shipped == read(&[], &[]).unwrap().toml,
        "deploy/herdsmand.toml is not what the code says; to write it anew, at the root of the project: \
         cargo run -p herdsman-server -- --print-config > deploy/herdsmand.toml"
    );
}

#[test]
fn what_runs_the_server_sets_only_what_there_is() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let files = ["README.md", "Dockerfile", "compose.yaml", "kubernetes/deployment.yaml"];
    for file in files.into_iter().chain(["systemd/herdsmand.service", "herdsmand.toml"]) {
        let text = fs::read_to_string(format!("{root}deploy/{file}")).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        // Of a whole name only; the form of all names is no name.
        let named = words.filter(|word| word.len() > 9 && word.starts_with("HERDSMAN_"));
        for name in named {
            let error = read(&[], &[(name.to_owned(), String::new())]).err().unwrap_or_default();
            let other = error.contains("no such setting") && !error.contains("Kubernetes");
            assert!(!other, "deploy/{file}: {error}");
        }
    }
}
