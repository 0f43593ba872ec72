//! How guesses are chosen: a strategy with its options, or a level, as BestNextGuess and players have it.

use herdsman_engine::{Choice, FeedbackRule, Pool, Rules, Strategy, Tie};
use herdsman_proto::v1;

use super::{
    convert,
    status::{Reason, Violation, Violations},
};

impl Violations {
    /// A choice that can be made in the game, without the options that its strategy does not heed, so that those make no
    /// second entry of one answer. Of a game that was refused, only the numbers are checked. `at` is what stands before
    /// the names of the fields: nothing, or the path of the player with a dot.
    pub(super) fn choice(
        &mut self,
        rules: Option<&Rules>,
        at: &str,
        player: v1::Player,
    ) -> Option<Choice> {
        let field = |name| move || format!("{at}{name}");
        let strategy = self.member(field("strategy"), player.strategy, "strategy");
        let tie = self.member(field("tie"), player.tie, "tie rule");
        let pool = self.member(field("pool"), player.pool, "guess pool");
        let level = self.member(field("level"), player.level, "level");
        let (strategy, tie, pool, level) = (strategy?, tie?, pool?, level?);
        let rules = rules?;
        let seed = player.seed.cast_unsigned();
        let choice = match convert::level(level) {
            None => {
                let (tie, pool) = (convert::tie(tie), convert::pool(pool));
                let strategy = match strategy {
                    // The best play may be any guess: who wants only some wants another default.
                    v1::Strategy::Unspecified if pool != Pool::Any => Strategy::EntropyLarmouth,
                    strategy => convert::strategy(strategy),
                };
                let choice = Choice { strategy, tie, pool, seed };
                obstacle(rules, &choice).map_or(Ok(choice), Err)
            }
            Some(level) if (player.strategy, player.tie, player.pool) == (0, 0, 0) => {
                Ok(level.choice(rules, seed))
            }
            Some(_) => {
                Err(("level", "a level is a strategy, a tie rule and a pool: send it without them"))
            }
        };
        let refuse =
            |(name, problem)| Violation::new(field(name)(), Reason::InvalidOption, problem);
        self.note(choice.map_err(refuse)).map(heeded)
    }
}

/// Which field of a choice does not go with the game or the others, and why.
fn obstacle(rules: &Rules, choice: &Choice) -> Option<(&'static str, &'static str)> {
    let proves = matches!(choice.strategy, Strategy::Optimal | Strategy::OptimalWorstCase);
    if proves && choice.pool != Pool::Any {
        let problem = "the best play considers every guess: send GUESS_POOL_ANY, or leave \
            `strategy` to the server";
        return Some(("pool", problem));
    }
    if choice.pool == Pool::Hints && rules.feedback() != FeedbackRule::Marks {
        return Some(("pool", "only marks show what is to be kept: send GUESS_POOL_CONSISTENT"));
    }
    choice.strategy.obstacle(rules).map(|problem| ("strategy", problem))
}

fn heeded(choice: Choice) -> Choice {
    let heeds = |option| choice.strategy.options().contains(&option);
    let Choice { strategy, tie, pool, seed } = choice;
    Choice {
        strategy,
        tie: if heeds("tie") { tie } else { Tie::default() },
        pool: if heeds("pool") { pool } else { Pool::default() },
        seed: if heeds("seed") { seed } else { 0 },
    }
}
