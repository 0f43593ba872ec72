//! From what is proven to a strategy: which guess it makes of those that are equally good.

use std::{collections::BTreeMap, sync::atomic::Ordering::Relaxed};

use super::Search;
use crate::{
    budget::Stopped,
    code::Code,
    exact::{
        rename::Form,
        scan::{INFEASIBLE, after},
        tree::Tree,
    },
    feedback::Class,
};

impl Search<'_> {
    /// A strategy that costs the least of all that keep the cap; nothing if none does.
    pub(in crate::exact) fn best_tree(&self, cap: u32) -> Result<Option<Tree>, Stopped> {
        let form = self.renamer.form(self.candidates);
        let limit = self.survey(&form, cap)?;
        let cost = self.cost_of_whole(&form, cap, limit)?;
        if cost >= INFEASIBLE {
            return Ok(None);
        }
        if !self.scan.last_only {
            self.progress.best.fetch_min(cost.into(), Relaxed);
            self.progress.bound.fetch_max(cost.into(), Relaxed);
        }
        let mut tree = Tree::default();
        match self.goal.first_guess {
            None => self.build(&mut tree, self.candidates, cap)?,
            Some(guess) => {
                let solve = |cap, limit| self.cost_of_whole(&form, cap, limit);
                let cap = self.least_cap(&form, cap, cost, solve)?;
                self.attach(&mut tree, self.candidates, guess, cap)?
            }
        };
        Ok(Some(tree))
    }

    /// Adds a best strategy for a set to the tree and returns the number of its root: of those with the least cost, one
    /// with the smallest cap. Which one depends on the set alone: its guess is the first, in the order of
    /// [`Search::order`], that reaches the cost within that cap.
    fn build(&self, tree: &mut Tree, set: &[u32], left: u32) -> Result<u32, Stopped> {
        if set.len() <= 2 {
            return self.attach(tree, set, self.game.code(set[0]), left);
        }
        let form = self.renamer.form(set);
        let cost = self.solve(&form, left, INFEASIBLE)?;
        let left = self.least_cap(&form, left, cost, |cap, limit| self.solve(&form, cap, limit))?;
        let guess = self.expand(&form, left, cost + 1)?.expect("some guess reaches the cost");
        let guess = self.renamer.original(&form, &self.game.code(guess));
        self.attach(tree, set, guess, left)
    }

    /// Adds a guess and the best strategies for its classes.
    fn attach(&self, tree: &mut Tree, set: &[u32], guess: Code, left: u32) -> Result<u32, Stopped> {
        let node = tree.push(guess, set.binary_search(&self.game.index(&guess)).is_ok());
        let rules = self.game.rules();
        let mut parts: BTreeMap<Class, Vec<u32>> = BTreeMap::new();
        for &code in set {
            parts.entry(rules.score(&guess, &self.game.code(code))).or_default().push(code);
        }
        parts.remove(&rules.answers().winning());
        for (class, part) in parts {
            let child = self.build(tree, &part, after(left))?;
            tree.link(node, class, child);
        }
        Ok(node)
    }

    /// The smallest cap within which a set costs no more. (Where only the last guess counts, a cap is part of the
    /// cost.)
    fn least_cap(
        &self,
        form: &Form,
        left: u32,
        cost: u32,
        solve: impl Fn(u32, u32) -> Result<u32, Stopped>,
    ) -> Result<u32, Stopped> {
        // At 2 n - 1 the guess tells all others apart, and no cap is smaller than what that keeps.
        if self.scan.last_only || cost < 2 * form.codes.len() as u32 {
            return Ok(left);
        }
        for cap in self.scan.least_max(form.codes.len())..left {
            if solve(cap, cost + 1)? <= cost {
                return Ok(cap);
            }
        }
        Ok(left)
    }

    /// The first guess of those that cost the least, if that is below `limit`.
    fn expand(&self, form: &Form, left: u32, limit: u32) -> Result<Option<u32>, Stopped> {
        let position = self.scan.position(form, left)?;
        if let Some(guess) = self.scan.teller(&position) {
            return Ok(Some(guess));
        }
        let (order, orbits) = self.order(&position, limit)?;
        let (_, place) = self.try_in_turn(&position, &order, orbits, limit)?;
        Ok(place.map(|place| position.guesses.list[place as usize]))
    }
}
