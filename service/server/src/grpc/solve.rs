//! Solve: the best possible play, proven.

use std::sync::Arc;

use herdsman_engine::{
    Budget, Class, Game, Goal, History, Objective, Progress, Rules, Solution, SolveError,
    SolveLimits, book, solve as search,
};
use herdsman_proto::v1::{self, solve_response::Event};

use super::{
    Shared, convert,
    status::{Failure, Reason, Violation, Violations},
    stream::{self, Events, Teller},
};
use crate::{cache::Position, call::Behind, config::Config, games::Games};

/// Nodes in one part of a tree: a message of some 300 KB at most, where many clients take 4 MiB.
const PART_NODES: usize = 4096;
/// The most bytes of a node: twelve symbols of four bytes, the answer and the parent.
const NODE_BYTES: usize = 80;

/// A request that was checked.
struct Question {
    position: Position,
    goal: Goal,
    threads: usize,
    /// The most bytes that the search remembers, and those that it holds in all.
    memo_bytes: u64,
    bytes: u64,
    no_book: bool,
    /// Nodes in each part of the tree, if it is asked for.
    part_nodes: Option<usize>,
}

/// What a search proved, in the messages that tell it.
struct Answer {
    tree: Vec<v1::StrategyTree>,
    result: v1::SolveResult,
}

pub(super) async fn solve(
    shared: &Arc<Shared>,
    mut request: v1::SolveRequest,
    behind: Behind,
) -> Result<Events<v1::SolveResponse>, Failure> {
    let mut violations = Violations::default();
    let rules = violations.game(shared, request.rules.take(), &request.history).await?;
    let (question, history) = read(&shared.config, violations, rules, &request)?;
    let shared = Arc::clone(shared);
    Ok(stream::start(behind, |teller| async move {
        answer(&shared, question, history, &request.history, &teller).await
    }))
}

/// Checks what is asked of the game of these rules.
fn read(
    config: &Config,
    mut violations: Violations,
    rules: Option<Rules>,
    request: &v1::SolveRequest,
) -> Result<(Question, History), Failure> {
    let history = violations.history(rules.as_ref(), &request.history);
    let objective = violations.member(|| "objective".into(), request.objective, "objective");
    let most = violations.natural("max_guesses", request.max_guesses.into());
    let first_guess = violations.optional_code(rules.as_ref(), "first_guess", &request.first_guess);
    let first_guess = match (first_guess, objective) {
        (Some(Some(_)), Some(v1::Objective::WorstCase | v1::Objective::FewestAtMax)) => {
            let problem = "a first guess goes with OBJECTIVE_EXPECTED only: send that, or no guess";
            violations.note(Err(Violation::new("first_guess", Reason::InvalidOption, problem)))
        }
        (first_guess, _) => first_guess,
    };
    let limits = request.limits.unwrap_or_default();
    let threads = violations.natural("limits.threads", limits.threads.into());
    let memo = violations.natural("limits.memo_bytes", limits.memo_bytes);
    let (Some(rules), Some(history)) = (rules, history) else { return Err(violations.into()) };
    let (Some(objective), Some(most), Some(first_guess), Some(threads), Some(memo)) =
        (objective, most, first_guess, threads, memo)
    else {
        return Err(violations.into());
    };
    let all = config.solver_threads();
    let threads = within(threads, all as u64) as usize;
    let share = (u128::from(config.solve_memo_bytes) * threads as u128 / all as u128) as u64;
    let question = Question {
        position: Position::new(rules, &history),
        goal: Goal {
            objective: convert::objective(objective),
            max_guesses: u32::try_from(most).ok().filter(|&most| most > 0),
            first_guess,
        },
        threads,
        memo_bytes: within(memo, share),
        bytes: share,
        no_book: request.no_book || first_guess.is_some(),
        part_nodes: request
            .include_tree
            .then(|| PART_NODES.min(config.max_reply_bytes as usize / NODE_BYTES)),
    };
    Ok((question, history))
}

/// What was asked for, within a limit; 0 asks for all.
fn within(asked: u64, limit: u64) -> u64 {
    if asked == 0 { limit } else { asked.min(limit) }
}

/// Searches, tells how far it is, and then what was found.
async fn answer(
    shared: &Shared,
    question: Question,
    history: History,
    turns: &[v1::Turn],
    teller: &Teller<v1::SolveResponse>,
) -> Result<(), Failure> {
    let rules = question.position.rules.clone();
    let progress = Arc::new(Progress::default());
    let (games, watched) = (Arc::clone(&shared.games), Arc::clone(&progress));
    let job = shared.proofs.begin(question.threads, move |stop| {
        prove(&games, &question, &watched, &Budget::new(stop.clone(), u64::MAX))
    })?;
    let tell = |elapsed_ms| message(Event::Progress(report(&progress, elapsed_ms)));
    let Some(Answer { tree, result }) = teller.watch(job, tell).await?? else {
        return Err(shared.contradiction(rules, history, turns).await);
    };
    for event in tree.into_iter().map(Event::Tree).chain([Event::Result(result)]) {
        teller.tell(message(event)).await;
    }
    Ok(())
}

fn message(event: Event) -> v1::SolveResponse {
    v1::SolveResponse { event: Some(event) }
}

fn report(progress: &Progress, elapsed_ms: i64) -> v1::SolveProgress {
    v1::SolveProgress {
        nodes: progress.nodes().cast_signed(),
        best_total: progress.best().map(u64::cast_signed),
        bound_total: progress.bound().cast_signed(),
        elapsed_ms,
    }
}

/// The job of Solve; nothing if no code agrees with the history.
fn prove(
    games: &Games,
    question: &Question,
    progress: &Progress,
    budget: &Budget,
) -> Result<Option<Answer>, Failure> {
    let Question { position, goal, .. } = question;
    let game = games.game(&position.rules)?;
    let candidates = games.candidates(&game, position, budget)?;
    if candidates.is_empty() {
        return Ok(None);
    }
    let mut result = v1::SolveResult { proven: true, ..Default::default() };
    let mut tree = Vec::new();
    if position.is_won() {
        result.source = v1::Source::Computed.into();
        return Ok(Some(Answer { tree, result }));
    }
    let known = if question.no_book { None } else { from_book(&game, position, *goal) };
    let source = if known.is_some() { v1::Source::Book } else { v1::Source::Computed };
    let solution = match known {
        Some(solution) => Ok(solution),
        None => {
            let limits = limits(question, u64::from(game.size()) * candidates.len() as u64)?;
            search(&game, &candidates, *goal, limits, progress, budget)
        }
    };
    result.source = source.into();
    match solution {
        Ok(solution) => {
            result.total = convert::count(solution.total);
            result.mean = convert::mean(solution.total, candidates.len());
            result.max = convert::count(solution.max);
            result.histogram = solution.histogram.iter().map(|&n| convert::count(n)).collect();
            result.first_guess = position.rules.text(&solution.tree.root().guess());
            if let Some(nodes) = question.part_nodes {
                tree = parts(&game, &solution, nodes);
                result.tree_nodes =
                    convert::count(tree.iter().map(|p| p.nodes.len()).sum::<usize>());
            }
        }
        Err(SolveError::Impossible { .. }) => result.impossible = true,
        Err(error @ (SolveError::TooLarge { .. } | SolveError::TooLong)) => {
            return Err(Violation::new("rules", Reason::SpaceTooLarge, error).into());
        }
        // Work is stopped when nobody waits for it, so this is for the log at most.
        Err(SolveError::Stopped) => return Err(Failure::DeadlineExceeded),
    }
    Ok(Some(Answer { tree, result }))
}

/// What a search may use that also holds so many cells, a byte each: the answers of all guesses to all candidates.
/// They must leave half of the memory for what is remembered.
fn limits(question: &Question, cells: u64) -> Result<SolveLimits, Failure> {
    let most = question.bytes / 2;
    if cells > most {
        let problem = format!(
            "the codes of the game times those that are left are {cells}, and at most {most} are searched: \
             solve a smaller game, or one after more turns"
        );
        return Err(Violation::new("rules", Reason::SpaceTooLarge, problem).into());
    }
    let memo_bytes = question.memo_bytes.min(question.bytes - cells) as usize;
    Ok(SolveLimits { memo_bytes, threads: question.threads, ..SolveLimits::default() })
}

/// The solution that a book has from here on. For the worst case it is proven from the first guess only. The best of
/// all strategies is also the best of those within a bound that it keeps.
fn from_book(game: &Game, position: &Position, goal: Goal) -> Option<Solution> {
    let history = &position.history;
    if goal.objective != Objective::Expected && !history.turns().is_empty() {
        return None;
    }
    let known = book(game, history, goal.objective);
    known.filter(|solution| goal.max_guesses.is_none_or(|most| solution.max <= most))
}

/// The tree as one list of nodes, in parts of so many.
fn parts(game: &Game, solution: &Solution, part_nodes: usize) -> Vec<v1::StrategyTree> {
    let rules = game.rules();
    let mut parts: Vec<v1::StrategyTree> = Vec::new();
    let mut count = 0;
    let mut open: Vec<(_, i32, Option<Class>)> = vec![(solution.tree.root(), -1, None)];
    while let Some((node, parent, class)) = open.pop() {
        if count % part_nodes == 0 {
            parts.push(v1::StrategyTree::default());
        }
        let message = v1::StrategyNode {
            guess: rules.text(&node.guess()),
            parent,
            feedback: class.map(|class| convert::feedback(rules, class)),
        };
        parts.last_mut().expect("the first node began a part").nodes.push(message);
        let branches = open.len();
        let at = convert::count(count);
        open.extend(node.children().map(|(class, child)| (child, at, Some(class))));
        // The last in is the first out: the first answer.
        open[branches..].reverse();
        count += 1;
    }
    parts
}
