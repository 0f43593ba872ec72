//! The file of saved answers when the server is killed while it writes, and when the file is not what it was: used
//! rightly or not at all.

use std::{
    fs,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use herdsman_engine::Random;
use herdsman_proto::v1::{
    BestNextGuessRequest, BestNextGuessResponse, Feedback, Rules, Source, Strategy, Turn,
    rules::Game,
};
use rustix::process::Signal;

use super::{Scratch, whole};
use crate::{
    report::{Report, ms},
    server::Server,
    trial::{Setup, Trouble},
};

/// From the start of the process to its first answer.
const START: Duration = Duration::from_secs(2);
/// A kill comes within so many milliseconds of the last answer; a save, four times as often.
const KILL_WITHIN_MS: usize = 40;
const SAVE_EVERY_MS: &str = "10";
/// Questions asked of each server that is killed.
const REPLAYS: usize = 50;

/// Questions with the answers of a server that has no file.
struct Quiz(Vec<(BestNextGuessRequest, BestNextGuessResponse)>);

/// What the servers answered.
#[derive(Default)]
struct Answers {
    asked: usize,
    wrong: usize,
    cached: usize,
    starts: usize,
    slowest_start: Duration,
}

/// Kills it and damages the file.
#[tokio::main]
pub(super) async fn damaged(setup: &Setup, report: &mut Report) -> Result<(), Trouble> {
    let quiz = Quiz::make(setup, setup.scale(2000, 100)).await?;
    let directory = Scratch::new("cache")?;
    let file = directory.file("answers");
    kill(setup, report, &quiz, &file).await?;
    let sound = save(setup, report, &quiz, &file).await?;
    damage(setup, report, &quiz, &file, &sound).await?;
    full_disk(setup, report, &quiz, &file).await
}

/// Kills the server at any moment, again and again over the same file.
async fn kill(setup: &Setup, report: &mut Report, quiz: &Quiz, file: &str) -> Result<(), Trouble> {
    let (kills, mut random) = (setup.scale(200, 4), Random::new(9));
    let mut answers = Answers::default();
    for _ in 0..kills {
        let server = answers.start(setup, quiz, file).await?;
        quiz.ask(&server, random.below(quiz.0.len()), REPLAYS, &mut answers).await?;
        thread::sleep(Duration::from_millis(random.below(KILL_WITHIN_MS) as u64));
        server.signal(Signal::KILL);
    }
    answers.report(report, &format!("{kills} times kill -9 at any moment"));
    Ok(())
}

/// Stops the server as it wants to be stopped, and gives what it saved.
async fn save(
    setup: &Setup,
    report: &mut Report,
    quiz: &Quiz,
    file: &str,
) -> Result<Vec<u8>, Trouble> {
    let mut answers = Answers::default();
    let mut server = answers.start(setup, quiz, file).await?;
    quiz.ask(&server, 0, quiz.0.len(), &mut answers).await?;
    server.signal(Signal::TERM);
    server.wait(2 * START)?;
    let sound = fs::read(file)?;
    let mut again = Answers::default();
    let server = again.start(setup, quiz, file).await?;
    quiz.ask(&server, 0, quiz.0.len(), &mut again).await?;
    server.signal(Signal::KILL);
    let asked = format!("a clean stop: {} KiB saved, of use to the next", sound.len() >> 10);
    report.law(asked, format!("{} answers from it", again.cached), again.cached > 0);
    again.report(report, "after a clean stop");
    Ok(sound)
}

/// Starts on files that are cut, changed, foreign or no files.
async fn damage(
    setup: &Setup,
    report: &mut Report,
    quiz: &Quiz,
    file: &str,
    sound: &[u8],
) -> Result<(), Trouble> {
    let mut random = Random::new(10);
    let mut files: Vec<Vec<u8>> =
        (0..8).map(|part| sound[..sound.len() * part / 8].into()).collect();
    for _ in 0..setup.scale(100, 4) {
        let mut flipped = sound.to_vec();
        flipped[random.below(sound.len())] ^= 1 << random.below(8);
        files.push(flipped);
    }
    // The head, which has the version of the format, bit by bit.
    for at in 0..setup.scale(64, 4) {
        let mut flipped = sound.to_vec();
        flipped[at / 4] ^= 1 << random.below(8);
        files.push(flipped);
    }
    files.push(fs::read(&setup.server)?);
    files.push((0..sound.len()).map(|_| random.below(256) as u8).collect());
    // Or nothing would be tried: a copy without damage is used.
    let mut answers = Answers::default();
    fs::write(file, sound)?;
    check_whole(setup, report, quiz, file, &mut answers).await?;
    let all = answers.cached == answers.asked;
    report.law("a copy of the file is used", format!("{} answers", answers.cached), all);
    let mut answers = Answers::default();
    for bytes in &files {
        fs::write(file, bytes)?;
        check_whole(setup, report, quiz, file, &mut answers).await?;
    }
    fs::remove_file(file)?;
    fs::create_dir(file)?;
    check_whole(setup, report, quiz, file, &mut answers).await?;
    fs::remove_dir(file)?;
    answers.report(report, &format!("{} damaged or foreign files", files.len() + 1));
    Ok(())
}

async fn check_whole(
    setup: &Setup,
    report: &mut Report,
    quiz: &Quiz,
    file: &str,
    answers: &mut Answers,
) -> Result<(), Trouble> {
    let mut server = answers.start(setup, quiz, file).await?;
    quiz.ask(&server, 0, REPLAYS, answers).await?;
    if server.panics() > 0 || !server.alive() {
        whole(&mut server, report);
    }
    server.signal(Signal::KILL);
    Ok(())
}

/// Saves where there is no room, and goes on.
async fn full_disk(
    setup: &Setup,
    report: &mut Report,
    quiz: &Quiz,
    file: &str,
) -> Result<(), Trouble> {
    let mut answers = Answers::default();
    let mut limited = Command::new("sh");
    // 64 blocks of 512 bytes or of 1024, as the shell has it.
    limited.args(["-c", "ulimit -f 64; exec \"$0\" \"$@\""]).arg(&setup.server);
    limited.args(["--cache-file", file, "--cache-save-ms", SAVE_EVERY_MS]);
    let mut server = Server::start_by(limited)?;
    quiz.ask(&server, 0, quiz.0.len(), &mut answers).await?;
    server.until(START, |server| !server.log().is_empty());
    let said = server.log().last().cloned().unwrap_or_default();
    quiz.ask(&server, 0, REPLAYS, &mut answers).await?;
    server.signal(Signal::TERM);
    let status = server.wait(10 * START)?;
    report.law(
        "a full disk: one goes on, and ends with code 0",
        format!("{status}; said {said:?}"),
        status.success() && server.panics() == 0,
    );
    let server = answers.start(setup, quiz, file).await?;
    quiz.ask(&server, 0, REPLAYS, &mut answers).await?;
    answers.report(report, "a full disk");
    Ok(())
}

impl Answers {
    /// Starts a server on a file and times it to its first answer.
    async fn start(&mut self, setup: &Setup, quiz: &Quiz, file: &str) -> Result<Server, Trouble> {
        let begun = Instant::now();
        let flags = ["--cache-file", file, "--cache-save-ms", SAVE_EVERY_MS];
        let server = Server::start(setup, &flags)?;
        quiz.ask(&server, 0, 1, self).await?;
        self.starts += 1;
        self.slowest_start = self.slowest_start.max(begun.elapsed());
        Ok(server)
    }

    fn report(&self, report: &mut Report, what: &str) {
        let Answers { asked, wrong, cached, starts, slowest_start } = self;
        report.law(
            format!("{what}: 0 wrong answers"),
            format!("{wrong} of {asked} wrong; {cached} were in a cache"),
            *wrong == 0,
        );
        report.timing(
            format!("{what}: {starts} starts to the first answer in 2 s"),
            format!("the slowest {}", ms(*slowest_start)),
            *slowest_start <= START,
        );
    }
}

impl Quiz {
    /// Questions after two turns of games of four digits, and the answers to them.
    async fn make(setup: &Setup, count: usize) -> Result<Quiz, Trouble> {
        let server = Server::start(setup, &[])?;
        let (mut solver, mut random) = (server.solver().await?, Random::new(8));
        let mut quiz = Vec::new();
        for _ in 0..count {
            let request = question(&mut random);
            let answer = solver.best_next_guess(request.clone()).await?.into_inner();
            quiz.push((request, answer));
        }
        Ok(Quiz(quiz))
    }

    /// Asks so many, from this one on and round.
    async fn ask(
        &self,
        server: &Server,
        first: usize,
        count: usize,
        answers: &mut Answers,
    ) -> Result<(), Trouble> {
        let mut solver = server.solver().await?;
        for (request, right) in self.0.iter().cycle().skip(first).take(count) {
            let mut answer = solver.best_next_guess(request.clone()).await?.into_inner();
            answers.asked += 1;
            answers.cached += usize::from(answer.source() == Source::Cache);
            // Only where it came from may differ.
            answer.source = right.source;
            answers.wrong += usize::from(answer != *right);
        }
        Ok(())
    }
}

fn question(random: &mut Random) -> BestNextGuessRequest {
    let secret = code(random);
    let history = [code(random), code(random)].map(|guess| {
        let hits = guess.iter().filter(|digit| secret.contains(digit)).count() as i32;
        let bulls = guess.iter().zip(&secret).filter(|(a, b)| a == b).count() as i32;
        let feedback =
            Feedback { bulls: Some(bulls), cows: Some(hits - bulls), ..Default::default() };
        Turn { guess: String::from_utf8_lossy(&guess).into_owned(), feedback: Some(feedback) }
    });
    let rules = Rules { game: Some(Game::Preset("bulls-and-cows".into())), ..Default::default() };
    let strategies = [Strategy::Minimax, Strategy::Entropy, Strategy::MostParts];
    BestNextGuessRequest {
        rules: Some(rules),
        history: history.into(),
        strategy: strategies[random.below(strategies.len())].into(),
        top_k: 3,
        ..Default::default()
    }
}

/// Four different digits.
fn code(random: &mut Random) -> [u8; 4] {
    let mut digits = *b"0123456789";
    for at in 0..4 {
        digits.swap(at, at + random.below(10 - at));
    }
    [digits[0], digits[1], digits[2], digits[3]]
}
