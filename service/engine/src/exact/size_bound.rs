//! What a set of a given size must cost at least, whatever codes are in it.
//!
//! A guess sends one secret home and the others into classes, and no class is larger than the largest that any
//! guess makes of the whole set. The cheapest way to find room for secrets under these caps is greedy, because one
//! more secret never costs less than the one before: the bound is convex.

/// The least cost of sets of every size up to that of the whole.
#[derive(Clone, Debug)]
pub(super) struct SizeBound {
    /// `totals[n]` is the least total of guesses for `n` secrets.
    totals: Vec<u32>,
    /// `room[d]` is the most secrets that can be found within `d` guesses; the last one is the whole.
    room: Vec<u32>,
}

impl SizeBound {
    /// The bound for subsets of a set of `size` secrets, of which no guess sends more than `caps[class]` into a class
    /// (the winning one is left out).
    pub(super) fn new(size: u32, caps: &[u32]) -> SizeBound {
        // How many secrets can be found at guess d + 1 exactly: a class holds as many as the whole does one guess
        // earlier, cut off where its cap is reached.
        let mut places = vec![1_u64];
        let mut room = vec![0, 1];
        while room[room.len() - 1] < size {
            let (last, earlier) = places.split_last().expect("there is a first");
            let earlier: u64 = earlier.iter().sum();
            let in_class = |&cap: &u32| u64::from(cap).saturating_sub(earlier).min(*last);
            let more: u64 = caps.iter().map(in_class).sum();
            // No room at all means that the caps are too small for the whole, which no guess could then split; any
            // cost is a bound for what cannot be.
            let more = more.clamp(1, u64::from(size));
            places.push(more);
            room.push((u64::from(room[room.len() - 1]) + more).min(u64::from(size)) as u32);
        }
        let costs = (1..).zip(places).flat_map(|(guess, places)| (0..places).map(move |_| guess));
        let mut totals = vec![0];
        totals.extend(costs.take(size as usize).scan(0, |total, cost| {
            *total += cost;
            Some(*total)
        }));
        SizeBound { totals, room }
    }

    /// The least total for `n` secrets.
    pub(super) fn total(&self, n: usize) -> u32 {
        self.totals[n]
    }

    /// The most secrets that `guesses` guesses can find.
    pub(super) fn room(&self, guesses: u32) -> u32 {
        self.room.get(guesses as usize).or(self.room.last()).copied().unwrap_or(0)
    }

    /// The fewest guesses that may be enough for all of `n` secrets.
    pub(super) fn least_max(&self, n: usize) -> u32 {
        self.room.partition_point(|&room| (room as usize) < n) as u32
    }

    /// The totals up to `n` as the greatest of the lines `2 n - lines[0]`, `3 n - lines[1]`, and so on.
    pub(super) fn lines(&self, n: usize) -> Vec<u32> {
        (2..)
            .zip(&self.room[1..])
            .take_while(|&(slope, &room)| slope == 2 || (room as usize) < n)
            .map(|(slope, &room)| slope * room - self.totals[room as usize])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four different digits of ten.
    fn bound() -> SizeBound {
        SizeBound::new(5040, &[360, 1440, 1260, 264, 9, 480, 720, 216, 8, 180, 72, 6, 24])
    }

    #[test]
    fn lines_are_the_bound() {
        let bound = bound();
        for n in 1..=100 {
            let lines = bound.lines(n);
            let line = |(slope, &offset)| slope * n as u32 - offset;
            assert_eq!((2..).zip(&lines).map(line).max(), Some(bound.total(n)), "{n}");
        }
        assert_eq!(bound.lines(14), [1]);
        assert_eq!(bound.lines(15), [1, 15]);
    }

    #[test]
    fn room_grows_until_it_holds_all() {
        let bound = bound();
        assert_eq!([0, 1, 2].map(|guesses| bound.room(guesses)), [0, 1, 14]);
        assert_eq!(bound.room(100), 5040);
        assert_eq!([1, 2, 14, 15].map(|n| bound.least_max(n)), [1, 2, 2, 3]);
    }
}
