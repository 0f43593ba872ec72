//! Words: lists that requests bring, dictionaries of the server, marks and hints.

use std::{io::Write as _, path::PathBuf};

use herdsman_engine::{Game, Rules, WordList};
use herdsman_proto::v1::{self, Strategy, rules::Game as Wire};
use herdsman_server::{Config, DictionaryFiles, Server};
use proptest::prelude::*;
use tonic::{Code, Status};

use crate::{
    answers::compare,
    errors::check,
    host::{Client, Host, codes, guess_request, numbers, preset, service, words},
};

const ENDINGS: &str = "match patch hatch latch catch batch watch";

/// A file in the target directory that is gone with the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, text: &[u8]) -> Temporary {
        let name = format!("{}-{name}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::File::create(&path).unwrap().write_all(text).unwrap();
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn dictionary(name: &str, secrets: &Temporary, guesses: Option<&Temporary>) -> DictionaryFiles {
    let guesses = guesses.map(|file| file.0.clone());
    DictionaryFiles { name: name.to_owned(), secrets: secrets.0.clone(), guesses }
}

fn named(preset_name: &str, dictionary: &str) -> Option<v1::Rules> {
    Some(v1::Rules { dictionary: dictionary.to_owned(), ..preset(preset_name).unwrap() })
}

fn marks(guess: &str, marks: &str) -> v1::Turn {
    let feedback = v1::Feedback { marks: Some(marks.into()), ..Default::default() };
    v1::Turn { guess: guess.into(), feedback: Some(feedback) }
}

async fn filter(client: &mut Client, request: v1::FilterRequest) -> v1::FilterResponse {
    client.filter(request).await.unwrap().into_inner()
}

async fn left(
    client: &mut Client,
    rules: Option<v1::Rules>,
    history: Vec<v1::Turn>,
) -> Vec<String> {
    let request = v1::FilterRequest { rules, history, ..Default::default() };
    filter(client, request).await.candidates
}

async fn refused(client: &mut Client, rules: Option<v1::Rules>) -> Status {
    let request = v1::FilterRequest { rules, ..Default::default() };
    client.filter(request).await.unwrap_err()
}

#[track_caller]
fn check_bad(status: &Status, reason: &str, field: &str) {
    check(status, Code::InvalidArgument, reason, &[field]);
}

#[tokio::test]
async fn words_of_a_request_are_played_with_marks_unless_it_says_otherwise() {
    let (_host, mut client) = service().await;
    let mut rules = words("crane crate trace grace brace", "ABBEY");
    let rest = left(&mut client, rules.clone(), vec![marks("crane", "GGG-G")]).await;
    assert_eq!(rest, ["crate"]);
    // Letter case is no matter, and what is only guessed is never left.
    let rest = left(&mut client, rules.clone(), vec![marks("Abbey", "y--y-")]).await;
    assert_eq!(rest, ["crane", "crate", "grace", "trace"]);
    let score = |rules| v1::ScoreRequest { rules, secret: "crane".into(), guess: "trace".into() };
    for (rule, answer) in [
        (
            v1::FeedbackRule::Unspecified,
            v1::Feedback { marks: Some("-GGYG".into()), ..Default::default() },
        ),
        (v1::FeedbackRule::Bulls, v1::Feedback { bulls: Some(3), ..Default::default() }),
        (
            v1::FeedbackRule::Total,
            v1::Feedback { total: Some(4), solved: Some(false), ..Default::default() },
        ),
        (
            v1::FeedbackRule::Pegs,
            v1::Feedback { bulls: Some(3), cows: Some(1), ..Default::default() },
        ),
    ] {
        rules.as_mut().unwrap().feedback = rule.into();
        let reply = client.score(score(rules.clone())).await.unwrap().into_inner();
        assert_eq!(reply.feedback, Some(answer));
    }
}

#[test]
fn words_and_numbers_on_the_wire_are_those_of_the_engine() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_host, client) = runtime.block_on(service());
    let picks = || prop::collection::vec((any::<u32>(), any::<u32>()), 0..4);
    proptest!(ProptestConfig::with_cases(32), |(picks in picks(), rule in 1..5, min in -50..50)| {
        let mut list = words("місто тісто пісня вікно ґанок", "кісто пісто").unwrap();
        list.feedback = rule;
        let Some(Wire::Words(own)) = &list.game else { unreachable!() };
        let spelled = WordList::new(&own.secrets, &own.guesses, &[]).unwrap();
        let rule = [
            herdsman_engine::FeedbackRule::Pegs,
            herdsman_engine::FeedbackRule::Bulls,
            herdsman_engine::FeedbackRule::Total,
            herdsman_engine::FeedbackRule::Marks,
        ][rule as usize - 1];
        let game = Game::new(Rules::words(spelled, rule).unwrap(), 100).unwrap();
        runtime.block_on(compare(client.clone(), &game, Some(list), &picks));
        let game = Game::new(Rules::numbers(min, min + 40).unwrap(), 100).unwrap();
        runtime.block_on(compare(client.clone(), &game, numbers(min, min + 40), &picks));
    });
}

#[tokio::test]
async fn a_dictionary_is_read_at_the_start_told_and_named_by_requests() {
    let text = b"# daily\r\ncrane\r\ncrate 3\r\n\r\ntrace\r\nCRANE\r\nfour\r\n";
    let secrets = Temporary::new("secrets.txt", text);
    let guesses = Temporary::new("guesses.txt", "abbey\ntouch\n".as_bytes());
    let dictionary =
        vec![dictionary("daily", &secrets, Some(&guesses)), dictionary("plain-5", &guesses, None)];
    let host = Host::start(Config { dictionary, ..Config::default() }).await;
    let mut client = host.client();
    let info = client.get_server_info(v1::GetServerInfoRequest {}).await.unwrap().into_inner();
    let daily = &info.dictionaries[0];
    assert_eq!((daily.name.as_str(), daily.letters, daily.weighted), ("daily", 5, true));
    assert_eq!((daily.secrets, daily.guesses, daily.reports.len()), (3, 5, 2));
    let report = v1::ListReport { words: 3, blank: 1, comments: 1, duplicates: 1, wrong_length: 1 };
    assert_eq!(daily.reports[0], report);
    assert_eq!(info.dictionaries[1].guesses, 2);

    let words = v1::WordRules { dictionary: "daily".into(), ..Default::default() };
    let by_words = Some(v1::Rules { game: Some(Wire::Words(words)), ..Default::default() });
    for rules in [by_words, named("wordle", "daily")] {
        let rest = left(&mut client, rules, vec![marks("touch", "Y--Y-")]).await;
        assert_eq!(rest, ["crate"]);
    }
    for name in ["jotto", "likeness"] {
        let request = guess_request(named(name, "daily"), "");
        assert_eq!(client.best_next_guess(request).await.unwrap().into_inner().remaining, 3);
    }
}

#[tokio::test]
async fn dictionaries_that_make_no_game_are_all_told_with_their_file_and_line() {
    let bad = Temporary::new("bad.txt", b"crane\ncrate 0\n");
    let good = Temporary::new("good.txt", b"crane\n");
    let long = Temporary::new("long.txt", b"letters\n");
    let latin = Temporary::new("latin.txt", b"crane\ncr\xe2ne\n");
    let missing =
        DictionaryFiles { name: "missing".into(), secrets: "no such file".into(), guesses: None };
    let dictionary = vec![
        dictionary("weights", &bad, None),
        dictionary("lengths", &good, Some(&long)),
        dictionary("latin", &latin, None),
        missing,
    ];
    let config = Config { dictionary, ..Config::default() };
    let error = Server::new(config.clone()).err().unwrap().to_string();
    let path = |file: &Temporary| file.0.display().to_string();
    for part in [
        format!("weights: {}: line 2: ", path(&bad)),
        format!("lengths: {}: ", path(&long)),
        format!("latin: {}: line 2: ", path(&latin)),
        "missing: no such file: ".to_owned(),
    ] {
        assert!(error.contains(&part), "{part}\n{error}");
    }
    let dictionary = config.dictionary[1..2].to_vec();
    let small = Config { dictionary, max_dictionary_bytes: 5, ..Config::default() };
    let error = Server::new(small).err().unwrap().to_string();
    assert!(error.contains("--max-dictionary-bytes"), "{error}");
}

#[tokio::test]
async fn words_that_make_no_game_are_refused_by_their_place() {
    let (host, mut client) = service().await;
    let marked = format!("cra{}ne", "\u{301}".repeat(100));
    let weights = |weights: &[i32]| {
        let mut rules = words("crane crate", "").unwrap();
        let Some(Wire::Words(list)) = &mut rules.game else { unreachable!() };
        list.weights = weights.to_vec();
        Some(rules)
    };
    let mut both = words("crane", "").unwrap();
    let Some(Wire::Words(list)) = &mut both.game else { unreachable!() };
    list.dictionary = "daily".into();
    let unknown = v1::WordRules { dictionary: "daily".into(), ..Default::default() };
    let unknown = Some(v1::Rules { game: Some(Wire::Words(unknown)), ..Default::default() });
    let elsewhere =
        |rules: Option<v1::Rules>| Some(v1::Rules { dictionary: "daily".into(), ..rules.unwrap() });
    for (rules, field) in [
        (words("", ""), "rules.words.secrets"),
        (words("crane crate crane", ""), "rules.words.secrets[2]"),
        (words("crane crates", ""), "rules.words.secrets[1]"),
        (words("crane", "crate four"), "rules.words.guesses[1]"),
        (words(&format!("crate {marked}"), ""), "rules.words.secrets[1]"),
        (weights(&[1]), "rules.words.weights"),
        (weights(&[1, -1]), "rules.words.weights[1]"),
        (weights(&[0, 1]), "rules.words.weights[0]"),
        (weights(&[1, 1_000_001]), "rules.words.weights[1]"),
        (Some(both), "rules.words.dictionary"),
        (unknown, "rules.words.dictionary"),
        (preset("wordle"), "rules.dictionary"),
        (named("wordle", "daily"), "rules.dictionary"),
        (elsewhere(words("crane", "")), "rules.dictionary"),
        (elsewhere(codes("ab", 2, true)), "rules.dictionary"),
    ] {
        check_bad(&refused(&mut client, rules).await, "INVALID_RULES", field);
    }
    let history = vec![marks("crane", "GGGGG"), marks("brand", "-----"), marks("crane", "GGGGY")];
    let request = v1::FilterRequest { rules: words("crane", ""), history, ..Default::default() };
    let status = client.filter(request).await.unwrap_err();
    let fields = ["history[1].guess", "history[2].feedback"];
    check(&status, Code::InvalidArgument, "INVALID_CODE", &fields);
    assert_eq!(host.stats.borrow().started, 0);
}

#[tokio::test]
async fn a_list_over_the_limit_is_refused_and_one_within_it_is_read_beside_the_calls() {
    let (host, mut client) = service().await;
    let letter = |number: u32| char::from(b'a' + (number % 26) as u8);
    let word = |n: u32| -> String { [n, n / 26, n / 676, n / 17576].map(letter).iter().collect() };
    let list = |count: u32| (0..count).map(word).collect::<Vec<_>>().join(" ");
    let status = refused(&mut client, words(&list(40_000), &list(40_000))).await;
    check_bad(&status, "LIMIT_EXCEEDED", "rules.words");
    assert_eq!(host.stats.borrow().started, 0);
    let request = v1::ScoreRequest {
        rules: words(&list(65_536), ""),
        secret: "aaaa".into(),
        guess: "aaaa".into(),
    };
    assert!(client.score(request).await.unwrap().into_inner().solved);
    assert_eq!(host.stats.borrow().started, 1);
}

#[tokio::test]
async fn a_word_that_is_only_guessed_tells_many_endings_apart() {
    let (_host, mut client) = service().await;
    let mut request = guess_request(words(ENDINGS, "climb whale"), "");
    request.strategy = Strategy::MostParts.into();
    let reply = client.best_next_guess(request.clone()).await.unwrap().into_inner();
    assert_eq!(reply.suggestions[0].guess, "climb");
    assert!(!reply.suggestions[0].candidate);
    // Weights are of what is likely: with one word far ahead it is guessed first.
    let Some(Wire::Words(list)) = request.rules.as_mut().unwrap().game.as_mut() else {
        unreachable!()
    };
    list.weights = vec![1, 1, 1, 1, 1, 1, 1000];
    request.strategy = Strategy::EntropyLarmouth.into();
    let weighted = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!((weighted.suggestions[0].guess.as_str(), weighted.remaining), ("watch", 7));
}

#[tokio::test]
async fn hints_are_kept_by_guesses_of_their_pool() {
    let (_host, mut client) = service().await;
    let history = vec![marks("patch", "-GGGG")];
    let rules = words(ENDINGS, "climb");
    let mut request = v1::BestNextGuessRequest {
        rules: rules.clone(),
        history: history.clone(),
        pool: v1::GuessPool::Hints.into(),
        ..Default::default()
    };
    request.top_k = 100;
    let reply = client.best_next_guess(request).await.unwrap().into_inner();
    assert_eq!(reply.strategy(), Strategy::EntropyLarmouth);
    let guesses: Vec<_> = reply.suggestions.iter().map(|s| s.guess.as_str()).collect();
    assert!(guesses.contains(&"match") && !guesses.contains(&"climb"), "{guesses:?}");
    for (guess, candidate, consistent, keeps_hints) in
        [("match", true, true, true), ("patch", false, false, true), ("climb", false, false, false)]
    {
        let (rules, history, guess) = (rules.clone(), history.clone(), guess.to_owned());
        let request = v1::AnalyzeRequest { rules, history, guess, rate: false };
        let reply = client.analyze(request).await.unwrap().into_inner();
        assert_eq!(
            (reply.candidate, reply.consistent, reply.keeps_hints),
            (candidate, consistent, keeps_hints)
        );
    }
}

#[tokio::test]
async fn a_guess_that_fits_but_is_no_secret_is_told_by_a_diagnosis() {
    let (_host, mut client) = service().await;
    let request = v1::DiagnoseRequest {
        rules: words("loser slope score rogue", "roses crate opsin doses"),
        history: vec![marks("crate", "-Y--Y"), marks("opsin", "Y-G--"), marks("loser", "-GGGY")],
    };
    let reply = client.diagnose(request).await.unwrap().into_inner();
    assert_eq!((reply.consistent, reply.other_guesses), (false, vec!["roses".to_owned()]));
    assert_eq!(reply.clashes[0].turns, reply.clash);
}

#[tokio::test]
async fn marks_of_many_places_are_cells_of_four_bytes() {
    let (_host, mut client) = service().await;
    let list = |words: &str| words.split(' ').map(String::from).collect::<Vec<_>>();
    let request = v1::ScoreMatrixRequest {
        rules: words("letter better settle", ""),
        guesses: list("letter better"),
        secrets: list("letter settle"),
    };
    let reply = client.score_matrix(request).await.unwrap().into_inner();
    assert_eq!((reply.bytes_per_cell, reply.winning_class, reply.legend.len()), (4, 728, 0));
    let cells: Vec<_> = reply
        .cells
        .chunks_exact(4)
        .map(|cell| u32::from_le_bytes(cell.try_into().unwrap()))
        .collect();
    // letter against settle is YGGGY-, which counts 1 for Y and 2 for G in base 3.
    assert_eq!(cells[..2], [728, [1, 2, 2, 2, 1, 0].iter().fold(0, |n, mark| n * 3 + mark)]);
    assert_eq!(cells.len(), 4);
    let legend = v1::ScoreMatrixRequest {
        rules: words(ENDINGS, ""),
        guesses: list("match"),
        secrets: list("match"),
    };
    let reply = client.score_matrix(legend).await.unwrap().into_inner();
    assert_eq!((reply.bytes_per_cell, reply.winning_class, reply.legend.len()), (1, 242, 243));
    assert_eq!(reply.legend[242].marks.as_deref(), Some("GGGGG"));
}

#[tokio::test]
async fn a_dictionary_of_a_million_words_is_filtered_page_by_page() {
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    let word = |n: u32| [n / 456_976, n / 17_576, n / 676, n / 26, n].map(letter);
    let text: String = (0..1_000_000).flat_map(|n| word(n).into_iter().chain(['\n'])).collect();
    let file = Temporary::new("million.txt", text.as_bytes());
    let dictionary = vec![dictionary("million", &file, None)];
    let host = Host::start(Config { dictionary, ..Config::default() }).await;
    let mut client = host.client();
    let mut request = v1::FilterRequest {
        rules: named("wordle", "million"),
        history: vec![marks("bwxyz", "G----")],
        page_size: 10_000,
        ..Default::default()
    };
    let first = filter(&mut client, request.clone()).await;
    assert!(first.remaining > 10_000 && first.candidates.len() == 10_000);
    request.page_token = first.next_page_token;
    let second = filter(&mut client, request).await;
    assert!(first.candidates[9_999] < second.candidates[0]);
}
