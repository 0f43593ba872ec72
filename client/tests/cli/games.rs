//! Games beside codes of digits: words, numbers, other answers, untrue answers, more codes than anybody counts.

use serde_json::json;

use crate::{SERVER, WORDS, fails, file, herdsman, prints, run};

#[test]
fn words_come_from_a_file_from_standard_input_or_from_a_dictionary() {
    let list =
        format!("--words {}", file("list.txt", "# some\r\ncrane\r\n\r\ncrate\r\n").display());
    prints(&format!("filter {list} crane=GGG-G"), "crate\n");
    prints(&format!("filter {list} crane=🟩🟩🟩⬛🟩"), "crate\n");
    prints("filter --dictionary words crane=--G-G --limit 3", "slate\n");
    let run = run(&SERVER, "filter --words - crane=gg.yg", "");
    assert_eq!(run.code, Some(3), "{}", run.err);
    let run = self::run(&SERVER, "filter --words - crane=GGG-G", WORDS);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "crate\n"));
}

#[test]
fn a_word_may_be_guessed_that_is_no_secret() {
    let secrets = file("secrets.txt", "crane\nslate\n").display().to_string();
    let guesses = file("guesses.txt", "brave\n").display().to_string();
    let game = format!("--words {secrets} --guesses {guesses}");
    prints(&format!("score {game} crane brave"), "-GG-G\n");
    let run = herdsman(&format!("diagnose {game} crane=-GG-G"));
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("on no list of secrets: brave\n"), "{}", run.out);
    let run = herdsman(&format!("analyze {game} brave slate=--G-G"));
    assert!(run.out.contains("cannot be the secret: it agrees with every answer"), "{}", run.out);
}

#[test]
fn a_weight_makes_a_word_likelier() {
    let [heavy, even] = [("heavy.txt", "1000"), ("even.txt", "1")].map(|(name, weight)| {
        let words = format!("aab\nabb\nbab\nbaa {weight}\n");
        let list = file(name, &words).display().to_string();
        herdsman(&format!("guess --words {list} --strategy entropy_larmouth")).out
    });
    assert!(heavy.starts_with("baa\n") && !even.starts_with("baa\n"), "{heavy}{even}");
    let list = file("cream.txt", "sundae\nice cream\n").display().to_string();
    fails(&format!("guess --words {list}"), 3, &["line 2", "`cream` is not a weight"]);
}

#[test]
fn every_rule_has_its_answers() {
    prints("score --rules wordle --dictionary words crane trace", "-GGYG\n");
    prints("score --rules likeness --dictionary words crane trace", "3b\n");
    prints("score --rules jotto --dictionary words crate trace", "5\n");
    prints("score --rules jotto --dictionary words crate crate", "5!\n");
    prints("score --numbers 1..100 70 50", ">\n");
    prints("score --numbers=-9..9 -- -3 2", "<\n");
    prints("score 5072 5279 --feedback total", "3\n");
    for position in [
        "--rules wordle --dictionary words trace=-GGYG",
        "--rules jotto --dictionary words trace=5",
        "--rules likeness --dictionary words crate=4 trace=3",
        "--numbers 1..100 50=> 75=<",
        "--rules numbers 50== ",
        "5279=3 --feedback total",
    ] {
        let run = herdsman(&format!("filter --count {position}"));
        assert_eq!(run.code, Some(0), "{position}: {}", run.err);
    }
    prints("filter --numbers 1..100 50=> 53=<", "51\n52\n");
    fails("filter --numbers 1..100 50=2b", 3, &["`2b`", "< if the secret is lower"]);
    fails("filter --dictionary words crane=3", 3, &["`3`", "GY--G"]);
}

#[test]
fn an_impossible_game_is_named_by_its_flag() {
    let list = |name: &str, words: &str| file(name, words).display().to_string();
    let [short, twice] = [list("short.txt", "crane\nslat\n"), list("twice.txt", "crane\ncrane\n")];
    fails(&format!("guess --words {short}"), 3, &["--words, word 2: ", "4 letters"]);
    fails(&format!("guess --words {twice}"), 3, &["--words, word 2: "]);
    let good = list("good.txt", "crane\n");
    fails(&format!("guess --words {good} --guesses {short}"), 3, &["--guesses, word 2: "]);
    fails("guess --words /no/such/file", 2, &["/no/such/file"]);
    fails("guess --words - -", 2, &["standard input"]);
    fails("guess --dictionary none", 3, &["--dictionary: ", "words"]);
    fails("guess --rules wordle", 3, &["--dictionary: "]);
    fails("guess --numbers 5..1", 3, &["--numbers: "]);
    fails("guess --numbers 5", 2, &["1..100"]);
    fails("guess --guesses /tmp/words", 2, &["--words"]);
    fails("guess --numbers 1..5 --length 3", 2, &["cannot be used with"]);
    fails("guess --strategy repeat_scan", 3, &["--strategy: "]);
}

#[test]
fn guesses_keep_to_the_hints_in_hard_mode() {
    let run = herdsman("guess --dictionary words crane=-GG-G --pool hints --top 7 --format json");
    let suggestions = run.json()["suggestions"].as_array().unwrap().clone();
    let guesses: Vec<_> = suggestions.iter().map(|best| best["guess"].as_str().unwrap()).collect();
    // All of them have R, A and E in their places.
    assert!(guesses.contains(&"grave") && !guesses.contains(&"stare"), "{guesses:?}");
    fails("guess 0123=0b1c --pool hints", 3, &["--pool: "]);
}

#[test]
fn levels_stand_for_strategies() {
    let [easy, sweep] = ["--level easy", "--strategy last_digit_sweep"]
        .map(|flag| herdsman(&format!("guess 0123=0b1c {flag} --format json")).json());
    assert_eq!(easy["suggestions"], sweep["suggestions"]);
    fails("guess --level easy --tie any", 3, &["--level: "]);
    fails("guess --level easy --strategy optimal", 2, &["--strategy"]);
}

#[test]
fn an_answer_may_be_untrue() {
    let run = herdsman("filter 0123=4b0c 4567=1b0c --lies 1");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "0123\n"));
    assert_eq!(run.err, "lies: 0 codes with 0, 1 code with 1\n");
    let run = herdsman("guess 0123=0b1c 4567=0b0c --lies 1");
    assert!(run.out.contains("\nlies: 0 codes with 0, "), "{}", run.out);
    fails("filter 0123=0b1c --lies 4", 3, &["--lies: "]);
}

#[test]
fn codes_beyond_counting_are_estimated() {
    let game = "--alphabet a-t --length 10 --repeats";
    let run = herdsman(&format!("filter {game} aaaaabbbbb=2b1c --count"));
    assert!(run.code == Some(0) && run.out.starts_with("about "), "{}{}", run.out, run.err);
    let run = herdsman(&format!("filter {game} aaaaabbbbb=2b1c --limit 2"));
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 2));
    assert!(run.err.contains("codes found; in all about "), "{}", run.err);
    let run = herdsman(&format!("guess {game} aaaaabbbbb=2b1c"));
    assert!(run.out.contains("\ncodes left: about "), "{}", run.out);
}

#[test]
fn replies_are_tables_too() {
    prints("score 5072 5279 --format csv", "answer,solved\n2b1c,false\n");
    prints("filter 0123=0b1c --count --format csv", "remaining\n1440\n");
    let pages = herdsman("filter 0123=0b1c --format csv").out;
    assert_eq!(pages.lines().filter(|line| *line == "candidate").count(), 1);
    assert_eq!(pages.lines().count(), 1441);
    let run = herdsman("guess 0123=0b1c --top 3 --format csv");
    assert!(run.out.starts_with("guess,candidate,largest_class,"), "{}", run.out);
    assert_eq!(run.out.lines().count(), 4);
    let run = herdsman("analyze 4561 0123=0b1c --format csv");
    assert!(run.out.starts_with("answer,count,share,bits\n0b0c,"), "{}", run.out);
    let run = herdsman("diagnose 0123=4b0c 4567=1b0c --format csv");
    assert!(run.out.contains("\n2,0b0c,1\n"), "{}", run.out);
    let run = herdsman("solve --rules mastermind --format csv");
    assert!(run.out.starts_with("first_guess,total,mean,max,1,2,3"), "{}", run.out);
    assert!(herdsman("info --format csv").out.contains("\nlevel,perfect,"));
}

#[test]
fn info_names_dictionaries_and_levels() {
    let run = herdsman("info");
    for part in ["words  ", "5 letters", "perfect  ", "wordle"] {
        assert!(run.out.contains(part), "`{part}` is not in: {}", run.out);
    }
    assert_eq!(herdsman("info --format json").json()["dictionaries"][0]["secrets"], json!(7));
}
