//! What is asked: calls by lot, about codes and positions that the server itself gave.
//!
//! Owns the drawing. A call follows from the seed and its index alone, so a run can be repeated. The client knows no
//! game: codes come from Filter, and answers from BatchScore.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use herdsman_proto::v1;
use prost::{Message, bytes::Bytes};
use tokio::time::sleep;
use tonic::{Response, Status, codegen::http::uri::PathAndQuery};
use tonic_types::StatusExt as _;

use super::args::Load;
use crate::{failure::Failure, remote::Remote};

/// Codes of a game that are asked about: games with a name have fewer, and more would take a while to list.
const MAX_CODES: usize = 100_000;

/// Codes listed at once; a server that allows fewer sends fewer.
const PAGE_SIZE: i32 = 10_000;

/// The secrets that positions are made of, and the guesses. Each meets each in one BatchScore, within a server's usual
/// limit of 10,000 pairs: enough for 20 million positions of three turns.
const SECRETS: usize = 64;
const GUESSES: usize = 128;

/// How long a load waits for a server that has no room for what it must know first.
const PATIENCE: Duration = Duration::from_secs(30);

/// The calls that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Kind {
    /// Score of one pair
    Score,
    /// BatchScore
    BatchScore,
    /// ScoreMatrix
    ScoreMatrix,
    /// Filter after turns drawn anew
    Filter,
    /// Filter after the same turns
    FilterSame,
    /// BestNextGuess after turns drawn anew
    Guess,
    /// BestNextGuess after the same turns
    GuessSame,
    /// A health check: what an almost empty call takes
    Health,
}

impl Kind {
    /// As it is written on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Score => "score",
            Self::BatchScore => "batch-score",
            Self::ScoreMatrix => "score-matrix",
            Self::Filter => "filter",
            Self::FilterSame => "filter-same",
            Self::Guess => "guess",
            Self::GuessSame => "guess-same",
            Self::Health => "health",
        }
    }

    /// What decides what a call of it asks for.
    pub(super) fn arguments(self) -> &'static str {
        match self {
            Self::BatchScore => "--mix batch-score, --pairs",
            Self::ScoreMatrix => "--mix score-matrix, --side",
            Self::Guess | Self::GuessSame => "--mix guess, --turns and how guesses are chosen",
            Self::Filter | Self::FilterSame => "--mix filter, --turns",
            Self::Score | Self::Health => "--mix",
        }
    }

    /// The path of the method.
    pub(super) fn path(self) -> PathAndQuery {
        PathAndQuery::from_static(match self {
            Self::Score => "/herdsman.v1.SolverService/Score",
            Self::BatchScore => "/herdsman.v1.SolverService/BatchScore",
            Self::ScoreMatrix => "/herdsman.v1.SolverService/ScoreMatrix",
            Self::Filter | Self::FilterSame => "/herdsman.v1.SolverService/Filter",
            Self::Guess | Self::GuessSame => "/herdsman.v1.SolverService/BestNextGuess",
            Self::Health => "/grpc.health.v1.Health/Check",
        })
    }
}

/// All calls that can be drawn.
#[derive(Debug)]
pub(super) struct Work {
    kinds: Lots<Kind>,
    games: Lots<Game>,
    seed: u64,
}

impl Work {
    /// Has the server list codes and answers.
    pub(super) async fn prepare(args: &Load, remote: &Remote) -> Result<Self, Failure> {
        let kinds = Lots::new(args.mix.iter().copied(), |kind| kind.name())?;
        let named = Lots::new(args.games.iter().cloned(), String::as_str)?;
        let seed = args.choosing.seed as u64;
        let mut games = Vec::new();
        // Any gRPC server can be asked for its health.
        if kinds.items.iter().any(|&kind| kind != Kind::Health) {
            for name in &named.items {
                let game = Game::prepare(name, args, remote, seed).await;
                games.push(game.map_err(|failure| failure.about(&format!("--games {name}")))?);
            }
        }
        Ok(Self { kinds, games: Lots { items: games, ends: named.ends }, seed })
    }

    /// The kinds of calls, without repetition.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds.items
    }

    /// Which of the kinds the call of this index is.
    pub(super) fn kind(&self, index: u64) -> usize {
        self.kinds.draw(&mut Draw::new(self.seed, index))
    }

    /// The request of the call of this index, as it goes over the wire.
    pub(super) fn request(&self, index: u64) -> Bytes {
        let mut draw = Draw::new(self.seed, index);
        let kind = self.kinds.items[self.kinds.draw(&mut draw)];
        self.request_of(kind, &mut draw)
    }

    /// A request of `kind`.
    pub(super) fn request_of(&self, kind: Kind, draw: &mut Draw) -> Bytes {
        // There is no game where nothing but health is asked for.
        let Some(game) = self.games.items.get(self.games.draw(draw)) else { return Bytes::new() };
        match kind {
            Kind::Score => game.score(draw),
            Kind::Filter => game.filter(game.history(draw)),
            Kind::Guess => game.guess(game.history(draw)),
            Kind::BatchScore => game.batch.clone(),
            Kind::ScoreMatrix => game.matrix.clone(),
            Kind::FilterSame => game.same_filter.clone(),
            Kind::GuessSame => game.same_guess.clone(),
            // An empty name is the whole server's.
            Kind::Health => Bytes::new(),
        }
    }
}

/// A game, with what is asked about it.
#[derive(Debug)]
struct Game {
    rules: Option<v1::Rules>,
    player: v1::Player,
    turns: usize,
    /// In no order.
    codes: Vec<String>,
    /// The answers to the last `guesses` codes, for each of the first codes as the secret.
    answers: Vec<v1::Feedback>,
    guesses: usize,
    batch: Bytes,
    matrix: Bytes,
    same_filter: Bytes,
    same_guess: Bytes,
}

impl Game {
    async fn prepare(name: &str, args: &Load, remote: &Remote, seed: u64) -> Result<Self, Failure> {
        let (preset, dictionary) = name.split_once(':').unwrap_or((name, ""));
        let rules = Some(v1::Rules {
            game: Some(v1::rules::Game::Preset(preset.to_owned())),
            dictionary: dictionary.to_owned(),
            ..Default::default()
        });
        let mut draw = Draw::new(seed, u64::MAX);
        let mut codes = list(rules.clone(), remote).await?;
        draw.shuffle(&mut codes);
        let guesses = GUESSES.min(codes.len());
        let guessed = &codes[codes.len() - guesses..];
        let secrets = &codes[..SECRETS.min(codes.len())];
        let pairs =
            secrets.iter().flat_map(|secret| guessed.iter().map(move |guess| (secret, guess)));
        let request =
            v1::BatchScoreRequest { rules: rules.clone(), pairs: pairs.map(pair).collect() };
        let answers = patiently(|| {
            let (mut solver, request) = (remote.solver(), remote.usual_request(request.clone()));
            async move { solver.batch_score(request).await }
        });
        let answers = answers.await?.feedbacks;
        if answers.len() != secrets.len() * guesses {
            return Err(Failure::Broken("an answer is missing"));
        }

        let round = |n: usize| codes.iter().cycle().take(n);
        let pairs = round(args.pairs as usize).zip(round(args.pairs as usize + 1).skip(1));
        let batch =
            v1::BatchScoreRequest { rules: rules.clone(), pairs: pairs.map(pair).collect() };
        let side: Vec<_> = round(args.side.into()).cloned().collect();
        let matrix =
            v1::ScoreMatrixRequest { rules: rules.clone(), guesses: side.clone(), secrets: side };
        let mut game = Self {
            batch: bytes(&batch),
            matrix: bytes(&matrix),
            same_filter: Bytes::new(),
            same_guess: Bytes::new(),
            player: args.choosing.player(args.strategy.as_ref()),
            turns: usize::from(args.turns).min(guesses),
            rules,
            codes,
            answers,
            guesses,
        };
        let history = game.history(&mut draw);
        game.same_filter = game.filter(history.clone());
        game.same_guess = game.guess(history);
        Ok(game)
    }

    fn score(&self, draw: &mut Draw) -> Bytes {
        let mut code = || self.codes[draw.below(self.codes.len())].clone();
        bytes(&v1::ScoreRequest { rules: self.rules.clone(), secret: code(), guess: code() })
    }

    fn filter(&self, history: Vec<v1::Turn>) -> Bytes {
        bytes(&v1::FilterRequest { rules: self.rules.clone(), history, ..Default::default() })
    }

    fn guess(&self, history: Vec<v1::Turn>) -> Bytes {
        let v1::Player { strategy, tie, pool, seed, level } = self.player;
        bytes(&v1::BestNextGuessRequest {
            rules: self.rules.clone(),
            history,
            strategy,
            tie,
            pool,
            seed,
            level,
            ..Default::default()
        })
    }

    /// Different guesses and their answers for one secret.
    fn history(&self, draw: &mut Draw) -> Vec<v1::Turn> {
        let secret = draw.below(self.answers.len() / self.guesses);
        let mut guesses = Vec::with_capacity(self.turns);
        while guesses.len() < self.turns {
            let guess = draw.below(self.guesses);
            if !guesses.contains(&guess) {
                guesses.push(guess);
            }
        }
        let turn = |guess: usize| v1::Turn {
            guess: self.codes[self.codes.len() - self.guesses + guess].clone(),
            feedback: Some(self.answers[secret * self.guesses + guess].clone()),
        };
        guesses.into_iter().map(turn).collect()
    }
}

fn pair((secret, guess): (&String, &String)) -> v1::ScorePair {
    v1::ScorePair { secret: secret.clone(), guess: guess.clone() }
}

fn bytes(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

/// Makes a call without which there is no load. Where the server has no room for it, it is made again when the server
/// says: one that is busy is what a load is for.
async fn patiently<T, F>(call: impl Fn() -> F) -> Result<T, Status>
where
    F: Future<Output = Result<Response<T>, Status>>,
{
    let began = Instant::now();
    loop {
        let status = match call().await {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(status) => status,
        };
        let delay = status.get_details_retry_info().and_then(|info| info.retry_delay);
        match delay {
            Some(delay) if began.elapsed() + delay < PATIENCE => sleep(delay).await,
            _ => return Err(status),
        }
    }
}

/// The codes of a game, or the first of them.
async fn list(rules: Option<v1::Rules>, remote: &Remote) -> Result<Vec<String>, Failure> {
    let mut request = v1::FilterRequest { rules, page_size: PAGE_SIZE, ..Default::default() };
    let mut codes = Vec::new();
    loop {
        let page = patiently(|| {
            let (mut solver, request) = (remote.solver(), remote.usual_request(request.clone()));
            async move { solver.filter(request).await }
        });
        let page = page.await?;
        codes.extend(page.candidates);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() || codes.len() >= MAX_CODES {
            break;
        }
    }
    if codes.is_empty() {
        return Err(Failure::Broken("the game has no codes"));
    }
    Ok(codes)
}

/// Things that are drawn, each as often as its weight says.
#[derive(Debug)]
struct Lots<T> {
    items: Vec<T>,
    /// The sum of the weights up to and with each.
    ends: Vec<usize>,
}

impl<T: PartialEq> Lots<T> {
    fn new(
        weighted: impl Iterator<Item = (T, u32)>,
        name: impl Fn(&T) -> &str,
    ) -> Result<Self, Failure> {
        let mut lots = Self { items: Vec::new(), ends: Vec::new() };
        for (item, weight) in weighted {
            if lots.items.contains(&item) {
                return Err(Failure::Usage(format!("`{}` stands there twice", name(&item))));
            }
            lots.items.push(item);
            lots.ends.push(lots.ends.last().unwrap_or(&0) + weight as usize);
        }
        Ok(lots)
    }
}

impl<T> Lots<T> {
    /// The index of one of them.
    fn draw(&self, draw: &mut Draw) -> usize {
        let lot = draw.below(*self.ends.last().unwrap_or(&1));
        self.ends.partition_point(|&end| end <= lot)
    }
}

/// A stream of random numbers: splitmix64 (Steele, Lea and Flood 2014), which any seed will do for.
#[derive(Debug)]
pub(super) struct Draw(u64);

impl Draw {
    /// A stream of its own for each seed and index.
    pub(super) fn new(seed: u64, index: u64) -> Self {
        let mut seeded = Self(seed);
        Self(seeded.next() ^ index.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_fall_as_often_as_their_weights_say() {
        let lots = Lots::new([("a", 8), ("b", 2)].into_iter(), |&name| name).unwrap();
        let draw = |seed| (0..10_000).filter(|&i| lots.draw(&mut Draw::new(seed, i)) == 0).count();
        // Four standard deviations around 8000.
        assert!([1, 2].map(draw).iter().all(|count| count.abs_diff(8000) < 160));
        assert_eq!(draw(3), draw(3));
        assert!(Lots::new([("a", 1), ("a", 2)].into_iter(), |&name| name).is_err());
    }

    #[test]
    fn every_kind_is_named_as_clap_names_it() {
        for kind in Kind::value_variants() {
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.name());
        }
    }
}
