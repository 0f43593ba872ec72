//! The wire: validate, call, convert, and nothing else. One file a family of calls.
//!
//! Only here are messages read and written and statuses built. A handler checks all fields it can before it reports;
//! what takes more than microseconds runs as a job of [`Compute`].

mod advise;
mod answer;
mod check;
mod choice;
mod conflict;
mod convert;
mod diagnose;
mod draw;
mod evaluate;
mod filter;
mod info;
mod rate;
mod rules;
mod saved;
mod score;
mod simulate;
mod solve;
pub(crate) mod status;
pub(crate) mod stream;

use std::{io, sync::Arc};

use herdsman_engine::{Budget, StopFlag};
use herdsman_proto::v1::{self, solver_service_server::SolverService};
use tonic::{Request, Response, Status, server::NamedService};

use crate::{
    cache::{AdviceKey, AnalysisKey, Cache, Counts, Timed},
    call::Behind,
    compute::Compute,
    config::Config,
    dictionaries::Dictionaries,
    games::Games,
};
use status::Failure;
use stream::Events;

/// The generated server around a [`Solver`].
pub(crate) type SolverServer = v1::solver_service_server::SolverServiceServer<Solver>;

/// The full name of the service.
pub(crate) const SERVICE: &str = SolverServer::NAME;

/// The solver service. All calls share one.
#[derive(Clone)]
pub(crate) struct Solver(Arc<Shared>);

struct Shared {
    config: Config,
    compute: Compute,
    /// The room for what answers with a stream.
    proofs: Compute,
    games: Arc<Games>,
    dictionaries: Arc<Dictionaries>,
    advice: Cache<AdviceKey, Timed<advise::Advice>, Failure>,
    analyses: Cache<AnalysisKey, Timed<advise::Analysis>, Failure>,
    conflicts: Cache<conflict::Conflict, conflict::Begin, Failure>,
}

impl Solver {
    /// What answers, on these threads and those of proofs, which are started.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub(crate) fn new(
        config: Config,
        compute: Compute,
        dictionaries: Dictionaries,
    ) -> io::Result<Solver> {
        let proofs = compute.beside(config.solver_threads(), config.max_solve_queue as usize)?;
        let dictionaries = Arc::new(dictionaries);
        let [of_advice, of_analyses, of_conflicts] = [(); 3].map(|()| Arc::clone(&dictionaries));
        // All kinds of answers share one setting: they are of the same size and use, but few histories are contradictions.
        let few = config.answer_cache_bytes / 16;
        let bytes = (config.answer_cache_bytes - few) / 3;
        Ok(Solver(Arc::new(Shared {
            compute,
            proofs,
            games: Arc::new(Games::new(&config, bytes, &dictionaries)),
            dictionaries,
            advice: Cache::new(
                bytes,
                move |key, advice| advise::advice_memory(key, advice, &of_advice),
                advise::is_whole,
            ),
            analyses: Cache::new(
                bytes,
                move |key, analysis| advise::analysis_memory(key, analysis, &of_analyses),
                advise::is_whole_analysis,
            ),
            conflicts: Cache::new(
                few,
                move |key, _| conflict::memory(key, &of_conflicts),
                Option::is_some,
            ),
            config,
        })))
    }

    pub(crate) fn compute(&self) -> &Compute {
        &self.0.compute
    }

    /// What was asked of each cache, by its name.
    pub(crate) fn cache_counts(&self) -> Vec<(&'static str, Counts)> {
        let Shared { games, advice, analyses, conflicts, .. } = &*self.0;
        let replies = [
            ("advice", advice.counts()),
            ("analyses", analyses.counts()),
            ("conflicts", conflicts.counts()),
        ];
        replies.into_iter().chain(games.counts()).collect()
    }
}

impl Shared {
    /// Runs a job that may take long, with room for `max_scores`.
    async fn run<T: Send + 'static>(
        &self,
        max_scores: u64,
        job: impl FnOnce(&Games, &Budget) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.begin(max_scores, job)?.await
    }

    /// Puts such a job in line.
    fn begin<T, J>(
        &self,
        max_scores: u64,
        job: J,
    ) -> Result<impl Future<Output = Result<T, Failure>> + Send + use<T, J>, Failure>
    where
        T: Send + 'static,
        J: FnOnce(&Games, &Budget) -> Result<T, Failure> + Send + 'static,
    {
        let games = Arc::clone(&self.games);
        let job = move |stop: &StopFlag| job(&games, &Budget::new(stop.clone(), max_scores));
        let outcome = self.compute.begin(1, job)?;
        Ok(async { outcome.await? })
    }
}

#[tonic::async_trait]
impl SolverService for Solver {
    async fn score(
        &self,
        request: Request<v1::ScoreRequest>,
    ) -> Result<Response<v1::ScoreResponse>, Status> {
        Ok(Response::new(score::score(&self.0, request.into_inner()).await?))
    }

    async fn batch_score(
        &self,
        request: Request<v1::BatchScoreRequest>,
    ) -> Result<Response<v1::BatchScoreResponse>, Status> {
        Ok(Response::new(score::batch(&self.0, request.into_inner()).await?))
    }

    async fn score_matrix(
        &self,
        request: Request<v1::ScoreMatrixRequest>,
    ) -> Result<Response<v1::ScoreMatrixResponse>, Status> {
        Ok(Response::new(score::matrix(&self.0, request.into_inner()).await?))
    }

    async fn filter(
        &self,
        request: Request<v1::FilterRequest>,
    ) -> Result<Response<v1::FilterResponse>, Status> {
        Ok(Response::new(filter::filter(&self.0, request.into_inner()).await?))
    }

    async fn best_next_guess(
        &self,
        request: Request<v1::BestNextGuessRequest>,
    ) -> Result<Response<v1::BestNextGuessResponse>, Status> {
        Ok(Response::new(advise::best_next_guess(&self.0, request.into_inner()).await?))
    }

    async fn analyze(
        &self,
        request: Request<v1::AnalyzeRequest>,
    ) -> Result<Response<v1::AnalyzeResponse>, Status> {
        Ok(Response::new(advise::analyze(&self.0, request.into_inner()).await?))
    }

    async fn diagnose(
        &self,
        request: Request<v1::DiagnoseRequest>,
    ) -> Result<Response<v1::DiagnoseResponse>, Status> {
        Ok(Response::new(diagnose::diagnose(&self.0, request.into_inner()).await?))
    }

    type SolveStream = Events<v1::SolveResponse>;

    async fn solve(
        &self,
        request: Request<v1::SolveRequest>,
    ) -> Result<Response<Self::SolveStream>, Status> {
        let behind = behind(&request);
        Ok(Response::new(solve::solve(&self.0, request.into_inner(), behind).await?))
    }

    async fn answer(
        &self,
        request: Request<v1::AnswerRequest>,
    ) -> Result<Response<v1::AnswerResponse>, Status> {
        Ok(Response::new(answer::answer(&self.0, request.into_inner()).await?))
    }

    async fn simulate(
        &self,
        request: Request<v1::SimulateRequest>,
    ) -> Result<Response<v1::SimulateResponse>, Status> {
        Ok(Response::new(simulate::simulate(&self.0, request.into_inner()).await?))
    }

    type EvaluateStream = Events<v1::EvaluateResponse>;

    async fn evaluate(
        &self,
        request: Request<v1::EvaluateRequest>,
    ) -> Result<Response<Self::EvaluateStream>, Status> {
        let behind = behind(&request);
        Ok(Response::new(evaluate::evaluate(&self.0, request.into_inner(), behind).await?))
    }

    type DuelStream = Events<v1::DuelResponse>;

    async fn duel(
        &self,
        request: Request<v1::DuelRequest>,
    ) -> Result<Response<Self::DuelStream>, Status> {
        let behind = behind(&request);
        Ok(Response::new(evaluate::duel(&self.0, request.into_inner(), behind).await?))
    }

    async fn get_server_info(
        &self,
        _: Request<v1::GetServerInfoRequest>,
    ) -> Result<Response<v1::GetServerInfoResponse>, Status> {
        Ok(Response::new(info::info(&self.0)))
    }
}

fn behind<T>(request: &Request<T>) -> Behind {
    let behind = request.extensions().get().cloned();
    behind.expect("the stack gives it to every call that replies with a stream")
}
