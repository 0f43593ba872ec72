//! Requests of every method, and what a faulty client or wire makes of them.
//!
//! Owns the bodies; who sends them is `bodies`.

use herdsman_engine::Random;
use herdsman_proto::FILE_DESCRIPTOR_SET;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};

use crate::trial::Trouble;

/// Methods and requests, of every kind of rules, answer and option.
const REQUESTS: [(&str, &str); 22] = [
    ("Score", r#"{"rules":{"preset":"bulls-and-cows"},"secret":"0123","guess":"0132"}"#),
    (
        "Score",
        r#"{"rules":{"codes":{"alphabet":"abcdef","length":4,"repeats":true},"feedback":"FEEDBACK_RULE_MARKS"},"secret":"abca","guess":"ffab"}"#,
    ),
    ("Score", r#"{"rules":{"numbers":{"min":-100,"max":100}},"secret":"7","guess":"-50"}"#),
    (
        "BatchScore",
        r#"{"rules":{"preset":"mastermind"},"pairs":[{"secret":"1122","guess":"1234"},{"secret":"6543","guess":"6666"}]}"#,
    ),
    (
        "ScoreMatrix",
        r#"{"rules":{"preset":"bulls-and-cows"},"guesses":["0123","4567"],"secrets":["0132","9876","5072"]}"#,
    ),
    (
        "Filter",
        r#"{"rules":{"preset":"bulls-and-cows"},"history":[{"guess":"0123","feedback":{"bulls":1,"cows":2}}],"pageSize":100,"maxLies":1}"#,
    ),
    (
        "Filter",
        r#"{"rules":{"codes":{"alphabet":"0123456789abcdef","length":12,"repeats":true}},"history":[{"guess":"0123456789ab","feedback":{"bulls":3,"cows":4}}],"countOnly":true}"#,
    ),
    (
        "Filter",
        r#"{"rules":{"words":{"secrets":["crane","slate","trace"],"guesses":["audio"],"weights":[1,2,3]}},"history":[{"guess":"audio","feedback":{"marks":"Y----"}}]}"#,
    ),
    (
        "BestNextGuess",
        r#"{"rules":{"preset":"bulls-and-cows"},"history":[{"guess":"0123","feedback":{"bulls":0,"cows":1}}],"strategy":"STRATEGY_ENTROPY","tie":"TIE_RULE_CANDIDATE","pool":"GUESS_POOL_ANY","topK":5,"limits":{"maxScores":"10000"}}"#,
    ),
    (
        "BestNextGuess",
        r#"{"rules":{"preset":"mastermind"},"history":[{"guess":"1122","feedback":{"bulls":1,"cows":1}}],"level":"LEVEL_MEDIUM","seed":"7","maxLies":1}"#,
    ),
    (
        "BestNextGuess",
        r#"{"rules":{"codes":{"alphabet":"0123456789","length":3,"repeats":false,"notFirst":"0"},"feedback":"FEEDBACK_RULE_TOTAL"},"history":[{"guess":"123","feedback":{"total":2}}],"strategy":"STRATEGY_RANDOM_CONSISTENT","seed":"-1"}"#,
    ),
    (
        "BestNextGuess",
        r#"{"rules":{"numbers":{"min":1,"max":1000}},"history":[{"guess":"500","feedback":{"order":"ORDER_LOWER"}}],"strategy":"STRATEGY_MINIMAX"}"#,
    ),
    (
        "Analyze",
        r#"{"rules":{"preset":"bulls-and-cows"},"history":[{"guess":"0123","feedback":{"bulls":1,"cows":0}}],"guess":"0456","rate":true}"#,
    ),
    (
        "Diagnose",
        r#"{"rules":{"preset":"mastermind"},"history":[{"guess":"1122","feedback":{"bulls":4}},{"guess":"1123","feedback":{"bulls":0,"cows":4}},{"guess":"6543","feedback":{"bulls":1,"cows":2}}]}"#,
    ),
    (
        "Answer",
        r#"{"rules":{"preset":"mastermind"},"history":[{"guess":"1122","feedback":{"bulls":0,"cows":1}}],"guess":"3344","policy":"HOST_POLICY_MOST_CANDIDATES"}"#,
    ),
    (
        "Simulate",
        r#"{"rules":{"preset":"mastermind"},"player":{"strategy":"STRATEGY_MOST_PARTS"},"secret":"1234"}"#,
    ),
    (
        "Simulate",
        r#"{"rules":{"codes":{"alphabet":"01234","length":3,"repeats":true},"feedback":"FEEDBACK_RULE_BULLS"},"player":{"level":"LEVEL_EASY","seed":"3"},"secretSeed":"9"}"#,
    ),
    (
        "Evaluate",
        r#"{"rules":{"codes":{"alphabet":"0123","length":3,"repeats":true}},"player":{"strategy":"STRATEGY_EXPECTED_SIZE"},"firstGuess":"012","sample":20,"sampleSeed":"5"}"#,
    ),
    (
        "Duel",
        r#"{"rules":{"codes":{"alphabet":"0123","length":3,"repeats":true}},"first":{"strategy":"STRATEGY_MINIMAX"},"second":{"strategy":"STRATEGY_FIRST_CONSISTENT"},"sample":20,"sampleSeed":"5"}"#,
    ),
    (
        "Solve",
        r#"{"rules":{"codes":{"alphabet":"0123","length":3,"repeats":true}},"objective":"OBJECTIVE_WORST_CASE","noBook":true,"includeTree":true,"limits":{"threads":1,"memoBytes":"1048576"}}"#,
    ),
    (
        "Solve",
        r#"{"rules":{"preset":"mastermind"},"objective":"OBJECTIVE_EXPECTED","maxGuesses":6,"firstGuess":"1122"}"#,
    ),
    ("GetServerInfo", "{}"),
];

/// A request: the path of its method, and its body.
pub(super) type Seed = (String, Vec<u8>);

/// Sound requests.
pub(super) fn seeds() -> Result<Vec<Seed>, Trouble> {
    let pool = DescriptorPool::decode(FILE_DESCRIPTOR_SET)?;
    let service = pool.get_service_by_name("herdsman.v1.SolverService").ok_or("no service")?;
    let seed = |&(name, json): &(&str, &str)| {
        let method = service.methods().find(|method| method.name() == name).ok_or(name)?;
        let mut json = serde_json::Deserializer::from_str(json);
        let request = DynamicMessage::deserialize(method.input(), &mut json)
            .map_err(|error| format!("{name}: {error}"))?;
        Ok((format!("/herdsman.v1.SolverService/{name}"), request.encode_to_vec()))
    };
    REQUESTS.iter().map(seed).collect()
}

/// One of the seeds, changed in up to three places.
pub(super) fn mutant(seeds: &[Seed], random: &mut Random) -> Seed {
    let (path, mut body) = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(3) {
        mutate(&mut body, seeds, random);
    }
    (path, body)
}

/// Numbers at which something ends: the largest of 32 and 64 bits with a sign and without, the smallest, one too long.
const EXTREMES: [&[u8]; 6] = [
    &[0xff, 0xff, 0xff, 0xff, 0x07],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0x80, 0x80, 0x80, 0x80, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x01],
    &[0xff; 11],
];

fn mutate(body: &mut Vec<u8>, seeds: &[Seed], random: &mut Random) {
    let at = random.below(body.len() + 1);
    let end = at + random.below(body.len() - at + 1);
    match random.below(9) {
        0..=3 if at < body.len() => body[at] ^= 1 << random.below(8),
        4 => body.truncate(at),
        5 => {
            let more: Vec<u8> = (0..=random.below(8)).map(|_| random.below(256) as u8).collect();
            body.splice(at..at, more);
        }
        6 => {
            let again = body[at..end].to_vec();
            body.splice(at..at, again);
        }
        7 => {
            let other = &seeds[random.below(seeds.len())].1;
            body.splice(at.., other[random.below(other.len() + 1)..].iter().copied());
        }
        // A number takes the place of a byte, which may be one.
        _ => {
            let number = EXTREMES[random.below(EXTREMES.len())];
            body.splice(at..end.min(at + 1), number.iter().copied());
        }
    }
}
