//! The wire: validate, call, convert, and nothing else. One file a family of calls.
//!
//! Only here are messages read and written and statuses built. A handler checks all fields it can before it reports;
//! what takes more than microseconds runs as a job of [`Compute`].

mod advise;
mod check;
mod convert;
mod diagnose;
mod filter;
mod info;
mod rate;
mod score;
mod solve;
pub(crate) mod status;

use std::sync::Arc;

use herdsman_engine::{Budget, History, Rules, first_conflict};
use herdsman_proto::{
    text,
    v1::{self, solver_service_server::SolverService},
};
use tonic::{Request, Response, Status, server::NamedService};

use crate::{
    cache::{AdviceKey, AnalysisKey, Cache},
    call::Deadline,
    compute::Compute,
    config::Config,
    games::Games,
};
use status::Failure;

/// The generated server around a [`Solver`].
pub(crate) type SolverServer = v1::solver_service_server::SolverServiceServer<Solver>;

/// The full name of the service.
pub(crate) const SERVICE: &str = SolverServer::NAME;

/// The method that may take longer than the others.
pub(crate) const SOLVE: &str = "Solve";

/// The solver service. All calls share one.
#[derive(Clone)]
pub(crate) struct Solver(Arc<Shared>);

struct Shared {
    config: Config,
    compute: Compute,
    /// The room for Solve.
    proofs: Compute,
    games: Arc<Games>,
    advice: Cache<AdviceKey, advise::Advice, Failure>,
    analyses: Cache<AnalysisKey, advise::Analysis, Failure>,
}

impl Solver {
    pub(crate) fn new(config: Config, compute: Compute) -> Solver {
        let threads = config.solver_threads();
        let proofs = compute.beside(threads, threads * solve::LINE);
        // All kinds of answers share one setting: they are of the same size and use.
        let bytes = config.answer_cache_bytes / 3;
        Solver(Arc::new(Shared {
            compute,
            proofs,
            games: Arc::new(Games::new(
                config.max_codes,
                config.game_cache_bytes,
                config.candidate_cache_bytes,
                bytes,
            )),
            advice: Cache::new(bytes, advise::advice_memory, advise::is_whole),
            analyses: Cache::new(bytes, advise::analysis_memory, advise::is_whole_analysis),
            config,
        }))
    }

    pub(crate) fn compute(&self) -> &Compute {
        &self.0.compute
    }
}

impl Shared {
    /// Runs a job that may take long, with room for `max_scores`.
    async fn run<T: Send + 'static>(
        &self,
        max_scores: u64,
        job: impl FnOnce(&Games, &Budget) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let games = Arc::clone(&self.games);
        self.compute.run(move |stop| job(&games, &Budget::new(stop.clone(), max_scores))).await?
    }

    /// The failure of a history that no code agrees with: it names the turn, in the order of the caller.
    async fn contradiction(&self, rules: Rules, history: History, turns: &[v1::Turn]) -> Failure {
        let conflict = self.run(u64::MAX, move |games, budget| {
            Ok(first_conflict(&*games.game(&rules)?, &history, budget)?)
        });
        match conflict.await {
            Ok(Some(turn)) => Failure::Contradiction { turn, text: text::turn(&turns[turn - 1]) },
            Ok(None) => Failure::Internal,
            Err(failure) => failure,
        }
    }
}

#[tonic::async_trait]
impl SolverService for Solver {
    async fn score(
        &self,
        request: Request<v1::ScoreRequest>,
    ) -> Result<Response<v1::ScoreResponse>, Status> {
        Ok(Response::new(score::score(&request.into_inner())?))
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

    type SolveStream = solve::Events;

    async fn solve(
        &self,
        request: Request<v1::SolveRequest>,
    ) -> Result<Response<solve::Events>, Status> {
        let deadline = request.extensions().get::<Deadline>().copied();
        let deadline = deadline.expect("the stack gives every call a deadline");
        Ok(Response::new(solve::solve(&self.0, request.into_inner(), deadline)?))
    }

    async fn get_server_info(
        &self,
        _: Request<v1::GetServerInfoRequest>,
    ) -> Result<Response<v1::GetServerInfoResponse>, Status> {
        Ok(Response::new(info::info(&self.0.config)))
    }
}
