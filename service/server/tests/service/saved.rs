//! Answers that outlive the server: saved, read back, and never wrong whatever became of their file.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use herdsman_proto::v1::{self, Source, Strategy, solver_service_client::SolverServiceClient};
use herdsman_server::{Config, Server};
use tonic::transport::{Channel, Endpoint};

use crate::{
    host::{Client, Host, codes, guess_request, numbers, preset, turns},
    program::{herdsmand, signal, start, started},
};

/// A file of a test's own, in a directory that goes with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("saved-{name}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        Place(directory)
    }

    fn file(&self) -> PathBuf {
        self.0.join("answers")
    }

    /// Settings of a server that saves there.
    fn config(&self) -> Config {
        Config { cache_file: Some(self.file()), threads: 2, ..Config::default() }
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(self.file(), bytes).unwrap();
    }

    /// The bytes of a file that a server saved with these answers in it.
    async fn saved(&self, questions: &[v1::BestNextGuessRequest]) -> Vec<u8> {
        let host = Host::start(self.config()).await;
        guesses(&mut host.client(), questions).await;
        host.stop().await;
        fs::read(self.file()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How many answers a server that starts with these settings finds.
fn found(config: Config) -> u64 {
    let counts = Server::new(config).unwrap().cache_counts()();
    counts.iter().map(|(_, counts)| counts.kept).sum()
}

async fn guesses(
    client: &mut Client,
    questions: &[v1::BestNextGuessRequest],
) -> Vec<v1::BestNextGuessResponse> {
    let mut replies = vec![];
    for question in questions {
        replies.push(client.best_next_guess(question.clone()).await.unwrap().into_inner());
    }
    replies
}

/// Up to 1000 questions, each of another history.
fn histories(count: usize) -> Vec<v1::BestNextGuessRequest> {
    let question = |at: usize| {
        let answer = ["0b0c", "1b0c"][at % 2];
        let strategies = [Strategy::Optimal, Strategy::Entropy, Strategy::FirstConsistent];
        v1::BestNextGuessRequest {
            strategy: strategies[at % 3].into(),
            ..guess_request(codes("0123456789", 3, true), &format!("{at:03}={answer}"))
        }
    };
    (0..count).map(question).collect()
}

/// Questions of every kind that a key has.
fn kinds() -> Vec<v1::BestNextGuessRequest> {
    let asked = |rules, history, change: fn(&mut v1::BestNextGuessRequest)| {
        let mut request = guess_request(rules, history);
        change(&mut request);
        request
    };
    let player = |request: &mut v1::BestNextGuessRequest| {
        request.strategy = Strategy::Minimax.into();
        request.tie = v1::TieRule::Any.into();
        request.pool = v1::GuessPool::Consistent.into();
    };
    vec![
        asked(preset("mastermind"), "", |_| {}),
        asked(preset("bulls-and-cows"), "0123=4b0c", |_| {}),
        asked(preset("bulls-and-cows"), "0123=0b1c 4567=1b1c", player),
        asked(preset("bulls-and-cows"), "4567=1b1c 0123=0b1c 0123=0b1c", |request| {
            request.strategy = Strategy::RandomConsistent.into();
            request.seed = -7;
        }),
        asked(preset("bulls-and-cows-3"), "012=0b1c", |request| request.max_lies = 1),
        asked(preset("mastermind"), "0011=1b0c", |request| request.level = v1::Level::Easy.into()),
        asked(codes("abcdefghijklmnopqrst", 8, true), "aabbccdd=2b1c", |request| {
            request.strategy = Strategy::FirstConsistent.into();
        }),
        asked(numbers(-500, 500), "0=>", |_| {}),
        asked(preset("bulls-and-cows"), "0123=0b1c", |request| {
            request.limits = Some(v1::SearchLimits { max_scores: 100_000_000 });
        }),
    ]
}

#[tokio::test]
async fn a_thousand_answers_are_there_after_a_restart_and_equal_fresh_ones_but_for_their_source() {
    let place = Place::new("restart");
    let words = place.0.join("words");
    fs::write(&words, "match\npatch\nhatch\nwatch\ncrane\nslate\n").unwrap();
    let dictionary = vec![format!("tiny={}", words.display()).parse().unwrap()];
    let config = || Config { dictionary: dictionary.clone(), ..place.config() };
    let named = v1::WordRules { dictionary: "tiny".into(), ..Default::default() };
    let named = v1::Rules { game: Some(v1::rules::Game::Words(named)), ..Default::default() };
    let mut questions = [kinds(), histories(990)].concat();
    questions.push(guess_request(Some(named), "match=-GGGG"));
    let analysis = v1::AnalyzeRequest {
        rules: preset("bulls-and-cows"),
        history: turns("1234=0b4c"),
        guess: "1243".into(),
        rate: true,
    };

    let first = Host::start(config()).await;
    let told = guesses(&mut first.client(), &questions).await;
    let analysed = first.client().analyze(analysis.clone()).await.unwrap().into_inner();
    let kept = first.counts("advice").kept;
    first.stop().await;

    let second = Host::start(config()).await;
    assert_eq!((second.counts("advice").kept, second.counts("analyses").kept), (kept, 1));
    let again = guesses(&mut second.client(), &questions).await;
    assert_eq!(second.client().analyze(analysis).await.unwrap().into_inner(), analysed);
    // What was not measured whole is not kept.
    let partial = told.iter().filter(|reply| !reply.exhaustive).count() as u64;
    assert_eq!((second.counts("advice").misses, partial), (partial, 1));
    second.stop().await;

    let other = Host::start(Config { cache_file: None, ..config() }).await;
    let fresh = guesses(&mut other.client(), &questions).await;
    for ((again, fresh), told) in again.into_iter().zip(fresh).zip(told) {
        let kept = again.source() != Source::Computed;
        assert_eq!(kept, again.exhaustive, "{again:?}");
        assert_eq!(v1::BestNextGuessResponse { source: fresh.source, ..again }, fresh);
        assert_eq!(v1::BestNextGuessResponse { source: fresh.source, ..told }, fresh);
    }
}

#[tokio::test]
async fn what_took_longest_is_saved_where_there_is_not_room_for_all() {
    let place = Place::new("room");
    let config = || Config { cache_file_bytes: 4 << 10, ..place.config() };
    let host = Host::start(config()).await;
    guesses(&mut host.client(), &histories(300)).await;
    let slow = v1::BestNextGuessRequest {
        strategy: Strategy::Entropy.into(),
        ..guess_request(codes("0123456789", 5, true), "01234=1b2c")
    };
    guesses(&mut host.client(), std::slice::from_ref(&slow)).await;
    host.stop().await;
    let host = Host::start(config()).await;
    assert!((2..100).contains(&host.counts("advice").kept));
    assert_eq!(guesses(&mut host.client(), &[slow]).await[0].source(), Source::Cache);
}

#[tokio::test]
async fn a_file_that_is_damaged_anywhere_is_as_good_as_none() {
    let place = Place::new("damage");
    let bytes = place.saved(&histories(20)).await;
    assert_eq!(found(place.config()), 20);
    let length = bytes.len();
    let lengths = [0, 1, 5, 15, 16, 64, 79, 80, 81, 4095, 4096, 4097, length / 2, length - 1];
    for length in lengths {
        place.write(&bytes[..length]);
        assert_eq!(found(place.config()), 0, "cut to {length} bytes");
    }
    // All over the file, and each byte of the seal.
    let all_over = (0..200).map(|at| at * length / 200);
    for (bit, at) in all_over.chain(0..80).enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (bit % 8);
        place.write(&damaged);
        assert_eq!(found(place.config()), 0, "bit {} of byte {at}", bit % 8);
    }
    place.write(&[&bytes[..], b"more"].concat());
    assert_eq!(found(place.config()), 0);
    place.write(&bytes);
    assert_eq!(found(place.config()), 20);
}

#[tokio::test]
async fn what_servers_of_other_settings_saved_is_not_used_and_replaced() {
    let place = Place::new("other");
    place.saved(&histories(20)).await;
    let other = || Config { max_codes: 1_000_000, ..place.config() };
    assert_eq!(found(other()), 0);
    let host = Host::start(other()).await;
    guesses(&mut host.client(), &histories(3)).await;
    host.stop().await;
    assert_eq!((found(place.config()), found(other())), (0, 3));
    // Of the same settings, but for a limit that changes what is asked.
    let limited = Config { max_scores: 1000, ..other() };
    assert_eq!(found(limited), 0);
    let short = Config { cache_file_bytes: 1 << 10, ..other() };
    assert_eq!(found(short), 3);
}

#[tokio::test]
async fn what_herdsmand_did_not_write_is_left_alone() {
    let place = Place::new("foreign");
    for text in ["root:x:0:0", "redb\x1a\x0a", "SQLite format 3\0"] {
        place.write(text.as_bytes());
        let host = Host::start(place.config()).await;
        guesses(&mut host.client(), &histories(3)).await;
        host.stop().await;
        assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
    }
    fs::remove_file(place.file()).unwrap();
    fs::create_dir(place.file()).unwrap();
    let host = Host::start(place.config()).await;
    guesses(&mut host.client(), &histories(3)).await;
    host.stop().await;
    assert!(place.file().is_dir());
}

#[tokio::test]
async fn of_two_servers_one_saves_and_the_other_takes_over_after_its_end() {
    let place = Place::new("two");
    let (first, second) = (Host::start(place.config()).await, Host::start(place.config()).await);
    let third = Host::start(place.config()).await;
    guesses(&mut second.client(), &histories(5)).await;
    second.stop().await;
    assert!(!place.file().exists());
    guesses(&mut first.client(), &histories(3)).await;
    first.stop().await;
    assert_eq!(found(place.config()), 3);
    guesses(&mut third.client(), &histories(4)).await;
    third.stop().await;
    assert_eq!(found(place.config()), 4);
}

/// A connection to the program.
async fn connect(address: &str) -> SolverServiceClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    SolverServiceClient::new(endpoint.connect().await.unwrap())
}

/// The warnings that the program has logged by its end.
fn warnings(child: &mut Child) -> Vec<String> {
    let log = BufReader::new(child.stderr.take().unwrap());
    log.lines().map(Result::unwrap).filter(|line| line.contains("\"WARN\"")).collect()
}

#[tokio::test]
async fn a_file_whose_server_was_killed_while_it_saved_is_used_rightly() {
    let place = Place::new("killed");
    let file = place.file();
    let questions = histories(350);
    let mut most = 0;
    for round in 0..12 {
        let args = ["--cache-file", file.to_str().unwrap(), "--cache-save-ms", "1"];
        let (mut child, address) = start(&args);
        let mut client = connect(&address).await;
        // Answers make it save all the time; it is killed somewhere among them.
        let some = &questions[round * 20..round * 20 + 20 + round * 7];
        for question in some {
            client.best_next_guess(question.clone()).await.unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(warnings(&mut child), [""; 0], "round {round}");
        most = most.max(found(Config { cache_save_ms: 86_400_000, ..place.config() }));
    }
    assert!(most > 0, "nothing was ever saved");
    let host = Host::start(place.config()).await;
    let other = Host::start(Config::default()).await;
    let told = guesses(&mut host.client(), &questions).await;
    let fresh = guesses(&mut other.client(), &questions).await;
    for (told, fresh) in told.into_iter().zip(fresh) {
        assert_eq!(v1::BestNextGuessResponse { source: fresh.source, ..told }, fresh);
    }
}

#[tokio::test]
async fn what_was_asked_of_a_dictionary_is_known_to_the_next_process_with_its_words_only() {
    let place = Place::new("dictionary");
    let list = place.0.join("words");
    let dictionary = format!("own={}", list.display());
    let file = place.file();
    let args = ["--cache-file", file.to_str().unwrap(), "--dictionary", &dictionary];
    let question = v1::BestNextGuessRequest {
        rules: Some(v1::Rules { dictionary: "own".into(), ..preset("wordle").unwrap() }),
        ..Default::default()
    };
    for (words, told) in [
        ("crane\nslate\nmoist\n", "\"used\":0"),
        ("crane\nslate\nmoist\n", "\"used\":1"),
        ("crane\nslate\nmoist 2\n", "other dictionaries"),
    ] {
        fs::write(&list, words).unwrap();
        let (mut child, address) = start(&args);
        connect(&address).await.best_next_guess(question.clone()).await.unwrap();
        signal(&child, "-TERM");
        let log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let log: Vec<_> = log.filter(|line| line.contains("saved answers")).collect();
        child.wait().unwrap();
        assert!(log.len() == 1 && log[0].contains(told), "{told}: {log:?}");
    }
}

#[tokio::test]
async fn a_disk_that_is_full_is_a_warning_and_what_was_saved_stays() {
    let place = Place::new("full");
    let bytes = place.saved(&histories(20)).await;
    let program = env!("CARGO_BIN_EXE_herdsmand");
    let limited = format!("ulimit -f 64; exec {program} --listen 127.0.0.1:0 --cache-save-ms 1");
    let mut command = Command::new("sh");
    command.args(["-c", &limited]).env("HERDSMAN_CACHE_FILE", place.file());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, address) = started(&mut command);
    let mut client = connect(&address).await;
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    for question in &histories(40)[20..] {
        client.best_next_guess(question.clone()).await.unwrap();
    }
    let warning = log.find(|line| line.as_ref().unwrap().contains("\"WARN\"")).unwrap().unwrap();
    assert!(warning.contains("answers are not saved"), "{warning}");
    client.best_next_guess(histories(1)[0].clone()).await.unwrap();
    signal(&child, "-TERM");
    assert_eq!((log.count() > 0, child.wait().unwrap().code()), (true, Some(0)));
    assert_eq!(fs::read(place.file()).unwrap(), bytes);
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 2, "the file and its lock");
}

#[tokio::test]
async fn what_cannot_be_used_is_one_warning_and_the_server_serves() {
    let place = Place::new("warned");
    let mut bytes = place.saved(&histories(20)).await;
    bytes[5000] ^= 1;
    place.write(&bytes);
    let missing = place.0.join("missing/answers");
    for (path, word) in
        [(place.file(), "damaged"), (missing, "not saved"), (place.0.clone(), "a directory")]
    {
        let (mut child, address) =
            started(herdsmand(&["--listen", "127.0.0.1:0", "--cache-file"]).arg(path));
        connect(&address).await.best_next_guess(histories(1)[0].clone()).await.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let warnings = warnings(&mut child);
        assert!(warnings.len() == 1 && warnings[0].contains(word), "{word}: {warnings:?}");
    }
}
