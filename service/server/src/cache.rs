//! Answers that were computed before, and one computation for all who ask the same at the same time.
//!
//! Owns keys, weights, counts and single flight. A computation runs in a task of its own, so it outlives the caller that
//! began it; it ends when nobody waits for it any more. Errors and partial answers are handed out but never kept.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, Hash, Hasher, RandomState},
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use herdsman_engine::{Canonical, Choice, Code, History, Rules};
use tokio::sync::watch;

use crate::{compute::Refusal, dictionaries::Dictionaries};

/// What an entry costs beside its key and value: the tables of the cache itself, generously.
const ENTRY_BYTES: usize = 256;

/// What rules take without their words: an alphabet, and tables of 256 cells and at most 91 classes.
const RULES_BYTES: usize = 1024;

/// Rules and what is known: equal for histories that differ in order or in repeated turns only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    /// The game.
    pub(crate) rules: Rules,
    /// The turns, in canonical form.
    pub(crate) history: History,
}

impl Position {
    /// The position after these turns.
    pub(crate) fn new(rules: Rules, history: &History) -> Position {
        Position { rules, history: history.canonical() }
    }

    /// The position after these turns, of which so many may be untrue: then what was said twice may be untrue twice.
    pub(crate) fn within(lies: usize, rules: Rules, history: &History) -> Position {
        if lies == 0 {
            return Position::new(rules, history);
        }
        let mut turns = history.turns().to_vec();
        turns.sort_unstable();
        let history = History::new(turns).expect("a history has no more turns in another order");
        Position { rules, history }
    }

    /// Whether a turn holds the winning answer.
    pub(crate) fn is_won(&self) -> bool {
        self.history.turns().iter().any(|turn| turn.class == self.rules.answers().winning())
    }

    /// Bytes it takes, nearly. Words count, unless they are those of a dictionary: each request brings its own.
    pub(crate) fn memory(&self, dictionaries: &Dictionaries) -> usize {
        size_of::<Position>()
            + RULES_BYTES
            + dictionaries.bytes_beside(&self.rules)
            + size_of_val(self.history.turns())
    }
}

/// What BestNextGuess is asked: all that its answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AdviceKey {
    /// The game and the turns.
    pub(crate) position: Position,
    /// How to choose; options that the strategy does not heed have their defaults.
    pub(crate) choice: Choice,
    /// How many suggestions.
    pub(crate) top: usize,
    /// The most scores, within the server's limit.
    pub(crate) max_scores: u64,
    /// How many turns may be untrue.
    pub(crate) max_lies: usize,
}

/// What Analyze is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnalysisKey {
    /// The game and the turns.
    pub(crate) position: Position,
    /// The guess.
    pub(crate) guess: Code,
    /// Whether it is rated.
    pub(crate) rate: bool,
}

impl AnalysisKey {
    /// What is asked, in the canonical form that all histories and guesses share which are the same by renaming; as it
    /// is where there is none.
    pub(crate) fn form(&self) -> AnalysisKey {
        let Position { rules, history } = &self.position;
        match Canonical::with_guess(rules, history, self.guess) {
            Some((history, guess)) => {
                AnalysisKey { position: Position::new(rules.clone(), &history), guess, ..*self }
            }
            None => self.clone(),
        }
    }
}

/// The weight of an entry whose key and value take so many bytes. A quarter more is what the allocator loses between
/// entries of all sizes that come and go (measured: 30 % after a million of them).
fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes.saturating_add(bytes / 4 + ENTRY_BYTES)).unwrap_or(u32::MAX)
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Computed for this call, or for one that was made at the same time.
    Computed,
    /// Kept from an earlier call.
    Cache,
}

/// What became of the questions to one cache since it was made, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Questions whose answer was there.
    pub hits: u64,
    /// Questions whose answer had to be computed.
    pub misses: u64,
    /// Questions that waited for the computation of another one.
    pub joins: u64,
    /// Answers that were put in.
    pub kept: u64,
    /// Answers that are there now, nearly.
    pub entries: u64,
    /// Bytes that they take now, nearly.
    pub bytes: u64,
}

/// What was made before, within a number of bytes, and what was asked of it.
pub(crate) struct Kept<K, V> {
    store: moka::sync::Cache<K, V>,
    hits: AtomicU64,
    misses: AtomicU64,
    joins: AtomicU64,
    kept: AtomicU64,
}

impl<K, V> Kept<K, V>
where
    K: Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Keeps at most `bytes`; `memory` tells the bytes of an entry.
    pub(crate) fn new(
        bytes: u64,
        memory: impl Fn(&K, &V) -> usize + Send + Sync + 'static,
    ) -> Kept<K, V> {
        let store = moka::sync::Cache::builder()
            .max_capacity(bytes)
            .weigher(move |key, value| weight(memory(key, value)))
            .build();
        let [hits, misses, joins, kept] = Default::default();
        Kept { store, hits, misses, joins, kept }
    }

    /// What is kept under a key: a hit or a miss.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let found = self.store.get(key);
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Relaxed);
        found
    }

    /// Puts an answer in.
    pub(crate) fn insert(&self, key: K, value: V) {
        self.store.insert(key, value);
        self.kept.fetch_add(1, Relaxed);
    }

    /// What is kept under a key, made by `make` if need be; whoever asks meanwhile waits for it, which is a hit.
    ///
    /// # Errors
    /// What `make` failed with.
    pub(crate) fn get_or_make<E: Clone + Send + Sync + 'static>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
    {
        let mut made = false;
        let value = self.store.try_get_with_by_ref(key, || {
            made = true;
            make()
        });
        (if made { &self.misses } else { &self.hits }).fetch_add(1, Relaxed);
        self.kept.fetch_add(u64::from(made && value.is_ok()), Relaxed);
        value.map_err(|error| E::clone(&error))
    }

    /// What was asked, and what is there.
    pub(crate) fn counts(&self) -> Counts {
        let counters = [&self.hits, &self.misses, &self.joins, &self.kept];
        let [hits, misses, joins, kept] = counters.map(|counter| counter.load(Relaxed));
        let (entries, bytes) = (self.store.entry_count(), self.store.weighted_size());
        Counts { hits, misses, joins, kept, entries, bytes }
    }
}

/// An answer, and how long it took to compute: what it is worth to keep it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timed<T> {
    pub(crate) answer: T,
    pub(crate) took: Duration,
}

impl<T> Timed<T> {
    /// Computes an answer on this thread.
    ///
    /// # Errors
    /// What `compute` failed with.
    pub(crate) fn run<E>(compute: impl FnOnce() -> Result<T, E>) -> Result<Timed<T>, E> {
        let began = Instant::now();
        compute().map(|answer| Timed { answer, took: began.elapsed() })
    }
}

/// What is asked of a cache. It is looked up some times and held by many, so it is hashed once and shared.
///
/// The hash comes first, and not behind the pointer: most questions that a table compares differ there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked<K> {
    hash: u64,
    key: Arc<K>,
}

impl<K> Clone for Asked<K> {
    fn clone(&self) -> Self {
        Asked { hash: self.hash, key: Arc::clone(&self.key) }
    }
}

impl<K> Deref for Asked<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}

impl<K> Hash for Asked<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Answers of one kind, by what was asked.
pub(crate) struct Cache<K, V, E> {
    kept: Arc<Kept<Asked<K>, V>>,
    flights: Arc<Flights<K, V, E>>,
    /// Whether an answer is whole.
    whole: fn(&V) -> bool,
    /// Its keys are drawn, so that nobody can send questions of one hash.
    hasher: RandomState,
}

type Flights<K, V, E> = Mutex<HashMap<Asked<K>, Flight<V, E>>>;
/// Where the outcome of a computation is announced. Its receivers are those who wait for it.
type Flight<V, E> = Arc<watch::Sender<Option<Outcome<V, E>>>>;
type Outcome<V, E> = Result<(V, Origin), E>;

impl<K, V, E> Cache<K, V, E>
where
    K: Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    E: Clone + From<Refusal> + Send + Sync + 'static,
{
    /// A cache of at most `bytes`. `memory` tells the bytes of an entry, `whole` whether a value may be kept.
    pub(crate) fn new(
        bytes: u64,
        memory: impl Fn(&K, &V) -> usize + Send + Sync + 'static,
        whole: fn(&V) -> bool,
    ) -> Self {
        let memory = move |key: &Asked<K>, value: &V| memory(key, value);
        Cache {
            kept: Arc::new(Kept::new(bytes, memory)),
            flights: Arc::default(),
            whole,
            hasher: RandomState::new(),
        }
    }

    /// What this cache can be asked for a key.
    pub(crate) fn ask(&self, key: K) -> Asked<K> {
        Asked { hash: self.hasher.hash_one(&key), key: Arc::new(key) }
    }

    /// What was asked, and what is there.
    pub(crate) fn counts(&self) -> Counts {
        self.kept.counts()
    }

    /// All that is kept, in no order. It holds up nobody, and does not count as use.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Arc<Asked<K>>, V)> + '_ {
        self.kept.store.iter()
    }

    /// Keeps what was computed at another time, if it is whole.
    pub(crate) fn keep(&self, key: K, value: V) {
        if (self.whole)(&value) {
            self.kept.insert(self.ask(key), value);
        }
    }

    /// The answer to `key`: kept, or on its way, or computed now.
    ///
    /// # Errors
    /// What `compute` failed with at once, or what its future did for all who waited for it; a later call starts afresh.
    pub(crate) async fn get<F>(
        &self,
        key: &Asked<K>,
        compute: impl FnOnce() -> Result<F, E>,
    ) -> Outcome<V, E>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        if let Some(value) = self.kept.store.get(key) {
            self.kept.hits.fetch_add(1, Relaxed);
            return Ok((value, Origin::Cache));
        }
        let mut landing = self.board(key, compute)?;
        let outcome = landing.wait_for(Option::is_some).await.ok().and_then(|seen| seen.clone());
        outcome.unwrap_or_else(|| Err(Refusal::Panicked.into()))
    }

    /// Joins the flight to this answer, or starts one.
    fn board<F>(
        &self,
        key: &Asked<K>,
        compute: impl FnOnce() -> Result<F, E>,
    ) -> Result<watch::Receiver<Option<Outcome<V, E>>>, E>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let mut flights = lock(&self.flights);
        if let Some(flight) = flights.get(key) {
            self.kept.joins.fetch_add(1, Relaxed);
            return Ok(flight.subscribe());
        }
        // A flight that landed since the question was asked has left its answer here.
        if let Some(value) = self.kept.store.get(key) {
            self.kept.hits.fetch_add(1, Relaxed);
            return Ok(watch::channel(Some(Ok((value, Origin::Cache)))).1);
        }
        self.kept.misses.fetch_add(1, Relaxed);
        let computation = compute()?;
        let (flight, landing) = watch::channel(None);
        let flight = Arc::new(flight);
        flights.insert(key.clone(), Arc::clone(&flight));
        let ticket = Ticket { flights: Arc::clone(&self.flights), key: key.clone(), flight };
        tokio::spawn(fly(ticket, Arc::clone(&self.kept), self.whole, computation));
        Ok(landing)
    }
}

/// Computes, keeps and announces one answer, unless everybody leaves first.
async fn fly<K, V, E>(
    ticket: Ticket<K, V, E>,
    kept: Arc<Kept<Asked<K>, V>>,
    whole: fn(&V) -> bool,
    compute: impl Future<Output = Result<V, E>>,
) where
    K: Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    // Leaving drops the computation, which stops its work.
    let computed = tokio::select! {
        computed = compute => computed,
        () = ticket.abandoned() => return,
    };
    if let Ok(value) = &computed
        && whole(value)
    {
        kept.insert(ticket.key.clone(), value.clone());
    }
    let outcome = computed.map(|value| (value, Origin::Computed));
    ticket.flight.send_replace(Some(outcome));
}

/// A flight in the list of those under way; off the list when dropped, whatever happened.
struct Ticket<K: Eq, V, E> {
    flights: Arc<Flights<K, V, E>>,
    key: Asked<K>,
    flight: Flight<V, E>,
}

impl<K: Eq, V, E> Ticket<K, V, E> {
    /// Resolves when nobody waits any more; from then on nobody can join.
    async fn abandoned(&self) {
        loop {
            self.flight.closed().await;
            let mut flights = lock(&self.flights);
            // Somebody may have joined since; under the lock nobody can.
            if self.flight.receiver_count() == 0 {
                flights.remove(&self.key);
                return;
            }
        }
    }
}

impl<K: Eq, V, E> Drop for Ticket<K, V, E> {
    fn drop(&mut self) {
        let mut flights = lock(&self.flights);
        if flights.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight)) {
            flights.remove(&self.key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The map is whole between any two statements, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        future::{Ready, ready},
        pin::{Pin, pin},
    };

    use tokio::sync::oneshot;

    use super::*;

    const KEY: u32 = 7;

    /// A cache in which odd numbers are partial answers.
    fn numbers() -> Cache<u32, u32, Refusal> {
        Cache::new(1 << 20, |_, _| 8, |value| value % 2 == 0)
    }

    /// A computation that ends when its other end says so.
    fn computing() -> (oneshot::Sender<u32>, impl Future<Output = Result<u32, Refusal>>) {
        let (finish, finished) = oneshot::channel();
        (finish, async { finished.await.map_err(|_| Refusal::Overloaded) })
    }

    type AtOnce = Result<Ready<Result<u32, Refusal>>, Refusal>;

    fn at_once(outcome: Result<u32, Refusal>) -> impl FnOnce() -> AtOnce {
        move || Ok(ready(outcome))
    }

    fn never() -> AtOnce {
        panic!("this was computed by somebody else")
    }

    /// Lets a caller come as far as it gets by itself.
    async fn wait<T>(caller: &mut Pin<&mut impl Future<Output = T>>) {
        tokio::select! {
            biased;
            _ = caller => panic!("there is nothing to tell yet"),
            () = ready(()) => {}
        }
    }

    #[test]
    fn what_weighs_more_than_can_be_told_weighs_the_most() {
        assert_eq!(weight(usize::MAX), u32::MAX);
        // A number that would be small if its upper half were cut off.
        assert_eq!(weight(1 << 32), u32::MAX);
        assert!(weight(1000) > 1000);
    }

    #[tokio::test]
    async fn all_who_ask_at_once_share_one_computation() {
        let cache = numbers();
        let key = cache.ask(KEY);
        let (finish, computation) = computing();
        let mut first = pin!(cache.get(&key, || Ok(computation)));
        wait(&mut first).await;
        let mut second = pin!(cache.get(&key, never));
        wait(&mut second).await;
        finish.send(4).unwrap();
        assert_eq!(first.await, Ok((4, Origin::Computed)));
        assert_eq!(second.await, Ok((4, Origin::Computed)));
        assert_eq!(cache.get(&key, never).await, Ok((4, Origin::Cache)));
        let Counts { hits, misses, joins, kept, .. } = cache.counts();
        assert_eq!((hits, misses, joins, kept), (1, 1, 1, 1));
    }

    #[tokio::test]
    async fn a_computation_outlives_the_caller_that_began_it() {
        let cache = numbers();
        let key = cache.ask(KEY);
        let (finish, computation) = computing();
        let mut first = Box::pin(cache.get(&key, || Ok(computation)));
        wait(&mut first.as_mut()).await;
        let mut second = pin!(cache.get(&key, never));
        wait(&mut second).await;
        drop(first);
        finish.send(4).unwrap();
        assert_eq!(second.await, Ok((4, Origin::Computed)));
    }

    #[tokio::test]
    async fn a_computation_ends_when_nobody_waits_for_it_and_later_callers_start_afresh() {
        let cache = numbers();
        let key = cache.ask(KEY);
        let (mut finish, computation) = computing();
        let mut only = Box::pin(cache.get(&key, || Ok(computation)));
        wait(&mut only.as_mut()).await;
        drop(only);
        finish.closed().await;
        assert_eq!(cache.get(&key, at_once(Ok(6))).await, Ok((6, Origin::Computed)));
    }

    #[tokio::test]
    async fn errors_and_partial_answers_are_told_but_not_kept() {
        let cache = numbers();
        let key = cache.ask(KEY);
        for outcome in [Err(Refusal::Overloaded), Ok(3), Ok(5), Ok(8)] {
            let told = cache.get(&key, at_once(outcome)).await;
            assert_eq!(told, outcome.map(|value| (value, Origin::Computed)));
        }
        assert_eq!(cache.get(&key, never).await, Ok((8, Origin::Cache)));
    }

    #[tokio::test]
    async fn what_is_not_begun_is_an_error_and_blocks_nobody() {
        let cache = numbers();
        let key = cache.ask(KEY);
        let refused = cache.get(&key, || AtOnce::Err(Refusal::Overloaded)).await;
        assert_eq!(refused, Err(Refusal::Overloaded));
        assert_eq!(cache.get(&key, at_once(Ok(2))).await, Ok((2, Origin::Computed)));
    }

    #[tokio::test]
    async fn a_computation_that_panics_is_an_error_and_blocks_nobody() {
        let cache = numbers();
        let key = cache.ask(KEY);
        let outcome = cache.get(&key, || Ok(async { panic!("on purpose") })).await;
        assert_eq!(outcome, Err(Refusal::Panicked));
        assert_eq!(cache.get(&key, at_once(Ok(2))).await, Ok((2, Origin::Computed)));
    }

    #[tokio::test]
    async fn the_weight_of_what_is_kept_stays_within_the_limit() {
        let cache: Cache<u32, u32, Refusal> = Cache::new(10_000, |_, _| 744, |_| true);
        for key in 0..1000 {
            cache.get(&cache.ask(key), at_once(Ok(key))).await.unwrap();
        }
        cache.kept.store.run_pending_tasks();
        assert!((1..=10).contains(&cache.counts().entries));
    }
}
