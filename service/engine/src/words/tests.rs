use std::collections::BTreeSet;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::*;

const NONE: &[&str] = &[];

fn list(secrets: &[&str]) -> WordList {
    WordList::new(secrets, NONE, &[]).unwrap()
}

fn words(list: &WordList) -> Vec<&str> {
    (0..list.len() as u32).map(|index| list.word(index)).collect()
}

/// The list has `letters` letters, and finds its word for each of the texts.
#[track_caller]
fn check_letters(word: &str, letters: usize, texts: &[&str]) {
    let list = list(&[word]);
    assert_eq!(list.letters(), letters, "{word}");
    for text in texts.iter().chain([&word]) {
        let code = list.parse(text).unwrap_or_else(|error| panic!("{text} for {word}: {error}"));
        assert_eq!(list.find(&code), Some(0));
    }
}

#[track_caller]
fn check_parse(list: &WordList, text: &str, expected: &str) {
    assert_eq!(list.parse(text).unwrap_err().to_string(), expected, "{text:?}");
}

/// Lists are refused for this field with this text.
#[track_caller]
fn check_refused(result: Result<WordList, WordsError>, field: &str, text: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.field().as_str(), error.to_string().as_str()), (field, text));
}

/// A file is refused, by `field` the guesses, or else the secrets.
#[track_caller]
fn check_unreadable(secrets: &[u8], guesses: Option<&[u8]>, field: &str, text: &str) {
    check_refused(WordList::read(secrets, guesses).map(|(list, _)| list), field, text);
}

#[test]
fn words_are_numbered_in_the_order_of_their_letters() {
    let list = list(&["жаба", "ёлка", "арка", "бабр"]);
    assert_eq!(words(&list), ["арка", "бабр", "жаба", "ёлка"]);
    assert_eq!(list.symbols(), 7);
    assert_eq!(list.code(0).symbols(), [0, 5, 3, 0]);
}

#[test]
fn secrets_may_be_guessed_too() {
    let list = WordList::new(&["slate", "Crane"], &["crane", "adieu", "zesty"], &[]).unwrap();
    assert_eq!(words(&list), ["adieu", "Crane", "slate", "zesty"]);
    assert_eq!(list.secrets(), [1, 2]);
    assert_eq!(list.weights(), None);
}

#[test]
fn weights_follow_their_words_and_keep_their_proportions_only() {
    let weighted =
        |weights: &[u32]| WordList::new(&["slate", "crane", "adieu"], NONE, weights).unwrap();
    assert_eq!(weighted(&[30, 20, 50]).weights(), Some(&[5, 2, 3][..]));
    assert_eq!(weighted(&[30, 20, 50]), weighted(&[3, 2, 5]));
    assert_ne!(weighted(&[3, 2, 5]), weighted(&[3, 2, 6]));
    assert_eq!(weighted(&[7, 7, 7]), weighted(&[]));
}

#[test]
fn lists_are_equal_if_their_words_are() {
    let one = list(&["slate", "crane"]);
    assert_eq!(one, one.clone());
    assert_eq!(one, list(&["crane", "slate"]));
    assert_ne!(one, list(&["crane", "Slate"]));
    assert_ne!(one, list(&["crane", "plate"]));
    assert_ne!(one, WordList::new(&["slate"], &["crane"], &[]).unwrap());
}

#[test]
fn a_letter_is_what_a_reader_sees_as_one() {
    check_letters("слово", 5, &["СЛОВО", "Слово"]);
    check_letters("місто", 5, &["МІСТО"]);
    check_letters("ґанок", 5, &["ҐАНОК"]);
    check_letters("їжак", 4, &["ЇЖАК", "\u{456}\u{308}жак"]);
    check_letters("из-за", 5, &["ИЗ-ЗА"]);
    check_letters("м'ята", 5, &["М'ЯТА"]);
    check_letters("žluťoučký", 9, &["ŽLUŤOUČKÝ", "z\u{30c}lut\u{30c}ouc\u{30c}ky\u{301}"]);
    check_letters("BÅGEN", 5, &["bågen", "BA\u{30a}GEN", "ba\u{30a}gen", "B\u{212b}GEN"]);
    check_letters("λόγος", 5, &["ΛΌΓΟΣ", "λόγοσ"]);
    // A caron makes one character of the small j only.
    check_letters("\u{1f0}abc", 4, &["J\u{30c}ABC"]);
    check_letters("g\u{308}a\u{304}\u{301}b", 3, &["G\u{308}A\u{304}\u{301}B"]);
    check_letters("한국어", 3, &["\u{1112}\u{1161}\u{11ab}국어"]);
}

#[test]
fn case_never_changes_the_number_of_letters() {
    check_letters("straße", 6, &["STRAßE", "STRAẞE"]);
    check_letters("STRASSE", 7, &["strasse"]);
    check_letters("İzmir", 5, &["izmir", "IZMIR", "i\u{307}zmir", "I\u{307}ZM\u{130}R"]);
    check_letters("ılık", 4, &[]);
    check_letters("ﬁn", 2, &["ﬁN"]);
    let turkish = list(&["kır", "kir"]);
    assert_ne!(turkish.parse("kır"), turkish.parse("kir"));
    check_parse(
        &list(&["straße"]),
        "STRASSE",
        "the word has 7 letters: the words of this game have 6",
    );
}

#[test]
fn a_text_that_is_no_word_of_the_game_says_why() {
    let english = list(&["crane", "slate"]);
    check_parse(&english, "", "a word cannot be empty: it has 1 to 12 letters");
    check_parse(&english, "cran", "the word has 4 letters: the words of this game have 5");
    check_parse(&english, "Crown", "no word of this game has the letter `o`");
    check_parse(&english, "trace", "the word is not in the list of this game");
    check_parse(
        &english,
        "cr ne",
        "' ' cannot stand there: a word has no white space, control or invisible characters, and \
         does not begin with a combining mark",
    );
    check_parse(
        &english,
        &format!("crane{}", "\u{301}".repeat(100)),
        "letter 5 of the word has 200 bytes with its marks: a letter has at most 16",
    );
    check_parse(
        &english,
        &"a".repeat(1_000_000),
        "the word has 1000000 letters: the words of this game have 5",
    );
    check_parse(
        &list(&["місто"]),
        "мiсто",
        "no word of this game has the letter `i`, which is Latin in a word with Cyrillic letters",
    );
}

#[test]
fn an_inline_list_is_refused_for_the_first_entry_that_is_wrong() {
    let new = |secrets: &[&str], guesses: &[&str]| WordList::new(secrets, guesses, &[]);
    check_refused(
        new(&[], &["crane"]),
        "secrets",
        "there is no word of 1 to 12 letters: a game needs at least one",
    );
    check_refused(
        new(&["crane", "slate", ""], NONE),
        "secrets[2]",
        "a word cannot be empty: it has 1 to 12 letters",
    );
    check_refused(
        new(&["cranes", "slate"], &["adieu"]),
        "secrets[0]",
        "the word has 6 letters: the words of this game have 5",
    );
    check_refused(
        new(&["crane", "slate"], &["adieu", "toil"]),
        "guesses[1]",
        "the word has 4 letters: the words of this game have 5",
    );
    check_refused(
        new(&["crane", "slate", "CRANE"], NONE),
        "secrets[2]",
        "the word is at secrets[0] already: each word stands in its list once",
    );
    check_refused(
        new(&["crane"], &["zesty", "crane", "slate", "zesty", "slate"]),
        "guesses[3]",
        "the word is at guesses[0] already: each word stands in its list once",
    );
    check_refused(
        new(&["unquestionably"], NONE),
        "secrets[0]",
        "the word has 14 letters: a word has 1 to 12",
    );
    for bad in [" crane", "crane\n", "cra\0e", "cra\u{200b}e", "\u{301}rane"] {
        assert!(matches!(
            new(&[bad], NONE),
            Err(WordsError::Word { error: WordError::Character(_), .. })
        ));
    }
}

#[test]
fn weights_are_one_a_secret_and_in_range() {
    let new = |weights: &[u32]| WordList::new(&["crane", "slate"], &["adieu"], weights);
    check_refused(
        new(&[1, 2, 3]),
        "weights",
        "there are 3 weights for 2 secrets: give one for each, or none",
    );
    check_refused(
        new(&[1, 0]),
        "weights[1]",
        "a weight cannot be 0: it is a whole number from 1 to 1000000",
    );
    assert_eq!(new(&[1, 1_000_001]).unwrap_err().field(), "weights[1]");

    let many = (0..200).map(|index| char::from_u32(0x4e00 + index).unwrap().to_string());
    let many = many.collect::<Vec<_>>();
    let mut weights = vec![1_000_000; many.len()];
    assert_eq!(WordList::new(&many, &[] as &[String], &weights).unwrap().weights(), None);
    weights[7] = 999_999;
    check_refused(
        WordList::new(&many, NONE, &weights),
        "weights",
        "the weights come to 199999999: together they are at most 134217728, so divide all of \
         them by the same number",
    );
}

#[test]
fn a_game_has_at_most_250_different_letters() {
    let letter = |index: u32| char::from_u32(0xac00 + index).unwrap().to_string();
    let most = (0..250).map(letter).collect::<Vec<_>>();
    assert_eq!(WordList::new(&most, NONE, &[]).unwrap().symbols(), 250);
    check_refused(
        WordList::new(&most, &[letter(300)], &[]),
        "guesses[0]",
        "the letter `괬` is one too many: a game has at most 250 different letters",
    );
}

#[test]
fn a_file_is_cleaned_and_all_that_is_dropped_is_counted() {
    let file = b"\xef\xbb\xbfcrane\r\nslate\r\n\r\ncrane\r\n  trace \r\n#note\r\n";
    let (list, report) = WordList::read(file, None).unwrap();
    assert_eq!(words(&list), ["crane", "slate", "trace"]);
    assert_eq!(list.secrets(), [0, 1, 2]);
    let expected = FileReport {
        words: 3,
        blank: 1,
        comments: 1,
        duplicates: 1,
        first_duplicate: Some(4),
        ..FileReport::default()
    };
    assert_eq!(report, WordsReport { secrets: expected, guesses: None });

    let (list, report) =
        WordList::read(b"crane\nAdieu\noil", Some(b"adieu\nadieu\ntoil\nADIEU")).unwrap();
    assert_eq!(words(&list), ["Adieu", "crane"]);
    assert_eq!(
        report.secrets.to_string(),
        "words: 2, of another length dropped: 1 (the first in line 3)"
    );
    assert_eq!(
        report.guesses.unwrap().to_string(),
        "words: 1, duplicates dropped: 2 (the first in line 2), of another length dropped: 1 (the \
         first in line 3)"
    );
}

#[test]
fn of_lengths_that_are_equally_common_the_first_is_kept() {
    let (list, report) = WordList::read(b"toil\ncrane\nslate\nfoil\n", None).unwrap();
    assert_eq!(words(&list), ["foil", "toil"]);
    assert_eq!(report.secrets.wrong_length, 2);
}

#[test]
fn a_file_may_weigh_its_words() {
    let (list, _) = WordList::read(b"slate 4\ncrane\t\t6\nadieu 10\nslate 99\n", None).unwrap();
    assert_eq!(list.weights(), Some(&[5, 3, 2][..]));
    let (list, _) = WordList::read(b"slate 4\ncrane\n", Some(b"adieu 7\n")).unwrap();
    assert_eq!(list.weights(), Some(&[1, 4][..]));
    for (line, shown) in [("slate 0", "0"), ("slate -1", "-1"), ("slate 1 2", "1 2")] {
        check_unreadable(
            format!("crane\n{line}\n").as_bytes(),
            None,
            "secrets",
            &format!(
                "line 2: `{shown}` is not a weight: a line is one word, and after white space, if \
                 need be, a whole number from 1 to 1000000"
            ),
        );
    }
}

#[test]
fn a_file_that_makes_no_game_is_refused() {
    let no_word = "there is no word of 1 to 12 letters: a game needs at least one";
    check_unreadable(b"", None, "secrets", no_word);
    check_unreadable(b"#only\n\n", None, "secrets", no_word);
    check_unreadable(b"crane\n", Some(b"unquestionably\n"), "guesses", no_word);
    check_unreadable(
        b"a\nbc\ncd\ndef\nghij\n",
        None,
        "secrets",
        "3 of 5 words do not have 2 letters, the commonest length: keep the words of one length",
    );
    check_unreadable(
        b"crane\n",
        Some(b"toil\n"),
        "guesses",
        "the guesses have 4 letters and the secrets 5: all words of a game have one length",
    );
    check_unreadable(
        b"crane\nsl\xe4te\n",
        None,
        "secrets",
        "line 2: this is not UTF-8: save the file as UTF-8",
    );
    check_unreadable(
        format!("crane\n\nslate{}\n", "\u{301}".repeat(100)).as_bytes(),
        None,
        "secrets",
        "line 3: letter 5 of the word has 200 bytes with its marks: a letter has at most 16",
    );
}

#[test]
fn a_file_may_hold_two_million_lines_of_words_and_no_more() {
    let most = "ab\n".repeat(MAX_WORDS);
    assert_eq!(WordList::read(most.as_bytes(), None).unwrap().1.secrets.duplicates, MAX_WORDS - 1);
    check_unreadable(
        (most + "ab\n").as_bytes(),
        None,
        "secrets",
        "there are more than 2000000 words: a game has at most that many",
    );
}

#[test]
fn a_list_takes_little_more_than_its_text() {
    let file = (0..100_000).map(|number| format!("{number:05}\n")).collect::<String>();
    let (list, _) = WordList::read(file.as_bytes(), None).unwrap();
    assert_eq!(list.len(), 100_000);
    assert!(list.memory() < 20 * list.len(), "{}", list.memory());
}

#[test]
fn the_list_that_ships_needs_no_cleaning() {
    let file = include_bytes!("../../../../deploy/words/en-small.txt");
    let (list, report) = WordList::read(file, None).unwrap();
    assert_eq!((list.letters(), list.symbols()), (5, 26));
    assert_eq!((report.secrets.duplicates, report.secrets.wrong_length), (0, 0));
}

/// Words that differ in more than one way, among them some that are the same.
fn any_word() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec![
        "a", "A", "z", "é", "e\u{301}", "É", "ß", "ẞ", "i", "İ", "ı", "i\u{307}", "ж", "Ж", "ς",
        "Σ", "-", "g\u{308}", "J\u{30c}", "ǰ", "한",
    ]);
    prop::collection::vec(letter, 3).prop_map(|letters| letters.concat())
}

proptest! {
    #[test]
    fn codes_and_words_and_numbers_are_the_same_thing(
        secrets in prop::collection::vec(any_word(), 1..40),
        guesses in prop::collection::vec(any_word(), 1..40),
    ) {
        let (secrets_file, guesses_file) = (secrets.join("\n"), guesses.join("\n"));
        let (list, report) =
            WordList::read(secrets_file.as_bytes(), Some(guesses_file.as_bytes())).unwrap();
        let codes = (0..list.len() as u32).map(|index| list.code(index)).collect::<Vec<_>>();
        prop_assert!(codes.is_sorted_by(|a, b| a < b));
        for (index, code) in (0..).zip(&codes) {
            prop_assert_eq!(list.find(code), Some(index));
            prop_assert_eq!(list.parse(list.word(index)), Ok(*code));
            let is_shown = |word: &String| word.nfc().eq(list.word(index).chars());
            prop_assert!(secrets.iter().chain(&guesses).any(is_shown));
        }
        let number = |word: &String| list.find(&list.parse(word).unwrap()).unwrap();
        let numbers = |words: &[String]| words.iter().map(number).collect::<BTreeSet<_>>();
        prop_assert_eq!(numbers(&secrets), list.secrets().iter().copied().collect());
        prop_assert_eq!(report.secrets.words, list.secrets().len());
        prop_assert_eq!(report.secrets.words + report.secrets.duplicates, secrets.len());
        prop_assert_eq!(numbers(&[secrets, guesses].concat()).len(), list.len());
    }

    #[test]
    fn no_bytes_are_a_panic(secrets: Vec<u8>, guesses: Option<Vec<u8>>) {
        let _ = WordList::read(&secrets, guesses.as_deref());
    }

    #[test]
    fn no_text_is_a_panic(
        lines in prop::collection::vec("\\PC{0,4}|[a-zİßς\u{301}\u{200d}]{0,3}", 0..6),
        text: String,
    ) {
        let _ = WordList::new(&lines, NONE, &[]);
        if let Ok((list, _)) = WordList::read(lines.join("\n").as_bytes(), None) {
            let _ = list.parse(&text);
            for line in &lines {
                let _ = list.parse(line);
            }
        }
    }
}
