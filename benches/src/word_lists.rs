//! Work on the lists of five-letter words that people play with, which are not part of the project.

use std::{env, fs, path::Path};

use herdsman_engine::{
    Budget, Choice, Game, Given, History, Rules, Strategy, Trial, Turn, WordList, evaluate, suggest,
};

/// The game of 2315 secrets and 12972 guesses, answered by marks.
pub struct WordGame(Game);

impl WordGame {
    /// The game, if the environment variable `WORD_LISTS_DIR` says where the lists are.
    pub fn read() -> Option<WordGame> {
        let folder = env::var_os("WORD_LISTS_DIR")?;
        let read = |name| fs::read(Path::new(&folder).join(name)).expect("the lists can be read");
        let guesses = read("words5-guesses-12972.txt");
        let words = WordList::read(&read("words5-secrets-2315.txt"), Some(&guesses));
        let (words, _) = words.expect("the lists make a game");
        let rules = Rules::preset("wordle", Some(words)).expect("words are all it needs");
        Some(WordGame(Game::new(rules, u32::MAX).expect("the game can be enumerated")))
    }

    /// Plays the entropy player or that of most parts against all secrets. The totals were found by this engine.
    pub fn play(&self, strategy: Strategy) {
        let total = if strategy == Strategy::Entropy { 8020 } else { 7949 };
        let choice = Choice { strategy, ..Choice::default() };
        let (done, budget) = (Default::default(), Budget::unlimited());
        let result = evaluate(&self.0, &choice, &Trial::default(), &done, &budget);
        let result = result.expect("not stopped");
        assert_eq!((result.total, result.max), (total, 6), "{}", strategy.name());
    }

    /// The next guess by entropy from nothing, after the first guess and the answer that leave the most secrets.
    pub fn next_guess(&self) {
        let (game, budget) = (&self.0, Budget::unlimited());
        let guess = game.rules().code("immix").expect("a word of the list");
        let given = Given { marks: Some("-----"), ..Given::default() };
        let class = game.rules().answers().class(&given).expect("such answers are");
        let history = History::new(vec![Turn { guess, class }]).expect("one turn is not too many");
        let left = game.candidates(&history, &budget).expect("not stopped");
        assert_eq!(left.len(), 1429);
        let choice = Choice { strategy: Strategy::Entropy, ..Choice::default() };
        let advice = suggest(game, &history, &left, &choice, 1, &budget).expect("not stopped");
        assert_eq!(game.rules().text(&advice.suggestions[0].guess), "soare");
    }
}
