"""What an operator and other tools rely on: deadlines, overload, health, reflection, and how a server stops."""

import json
import pathlib
import queue
import subprocess
import sys
import time
import urllib.request

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import ParseDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from conftest import PATIENCE_S, refusal

SERVICE = "herdsman.v1.SolverService"
METHODS = {
    "Score", "BatchScore", "ScoreMatrix", "Filter", "BestNextGuess", "Analyze", "Diagnose", "Answer",
    "Simulate", "Evaluate", "Duel", "Solve", "GetServerInfo",
}
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def search(bulls):
    """A request of many seconds: 1.8 million codes without symmetry, many possible; another one for each answer."""
    answers = [("01234567", 1, 5), ("13572096", bulls, 6 - bulls)]
    history = [{"guess": guess, "feedback": {"bulls": bulls, "cows": cows}} for guess, bulls, cows in answers]
    return {"rules": {"codes": {"alphabet": "0123456789", "length": 8}}, "history": history}


def answers_at_once(server):
    """A small search needs a thread of its own, and gets it within the second."""
    return server.call("BestNextGuess", {"rules": {"preset": "bulls-and-cows-3"}}, timeout=1).remaining == 720


def test_a_deadline_ends_the_call_and_frees_the_only_thread(start):
    server = start("--threads", "1")
    began = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        server.call("BestNextGuess", search(0), timeout=0.02)
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began < 1
    assert answers_at_once(server)


def test_the_deadline_of_the_server_is_told_with_its_reason(start):
    refused = start("--max-deadline-ms", "50").refused("BestNextGuess", search(0))
    assert refused.code == grpc.StatusCode.DEADLINE_EXCEEDED
    assert (refused.ErrorInfo.domain, refused.ErrorInfo.reason) == ("herdsman", "DEADLINE_EXCEEDED")


def test_threads_are_as_many_as_is_said_and_those_of_connections_go_first(start):
    server = start("--threads", "3", "--io-threads", "2")
    assert answers_at_once(server)
    nice = {"compute": [], "tokio": []}
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        stat = (task / "stat").read_text()
        name = stat[stat.index("(") + 1:].split("-")[0]
        if name in nice:
            nice[name].append(int(stat.rsplit(")", 1)[1].split()[16]))
    assert nice == {"compute": [3] * 3, "tokio": [0] * 2}


def test_it_is_told_where_metrics_are_read(start):
    server = start("--metrics-listen", "127.0.0.1:0")
    assert answers_at_once(server)
    [address] = [line.split()[-1] for line in server.output if line.startswith("metrics: ")]
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as reply:
        assert "herdsman_jobs_started_total 1" in reply.read().decode().splitlines()


def test_what_has_no_room_is_refused_with_a_time_to_retry(start, api):
    server = start("--threads", "1", "--max-queue", "1")
    requests = [ParseDict(search(bulls), api.BestNextGuessRequest()) for bulls in range(4)]
    calls = [server.stub.BestNextGuess.future(request, timeout=PATIENCE_S) for request in requests]
    ended = queue.Queue()
    for call in calls:
        call.add_done_callback(ended.put)
    # One is computed and one waits: the others are told long before either ends.
    told = refusal(ended.get(timeout=PATIENCE_S).exception())
    assert told.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told.ErrorInfo.reason == "OVERLOADED"
    assert told.RetryInfo.retry_delay.ToMilliseconds() > 0
    for call in calls:
        call.cancel()
    # Who comes back when told to finds room.
    time.sleep(told.RetryInfo.retry_delay.ToTimedelta().total_seconds())
    assert answers_at_once(server)


@pytest.mark.parametrize("service", ["", SERVICE])
def test_health_is_told_for_the_server_and_the_service(server, service):
    health = health_pb2_grpc.HealthStub(server.channel)
    assert health.Check(health_pb2.HealthCheckRequest(service=service)).status == SERVING


def test_a_stop_turns_health_first_and_ends_what_runs(start, api):
    server = start("--threads", "2", "--drain-ms", "1000", "--grace-ms", "100")
    health = health_pb2_grpc.HealthStub(server.channel)
    watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=PATIENCE_S)
    assert next(watch).status == SERVING
    running = server.stub.BestNextGuess.future(ParseDict(search(0), api.BestNextGuessRequest()), timeout=PATIENCE_S)
    server.process.terminate()
    assert next(watch).status == NOT_SERVING
    assert answers_at_once(server), "calls are answered while others learn of the stop"
    told = refusal(running.exception(timeout=PATIENCE_S))
    assert (told.code, told.ErrorInfo.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")
    assert server.process.wait(PATIENCE_S) == 0


def test_reflection_v1alpha_describes_the_service(server):
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(server.channel))
    assert set(pool.FindServiceByName(SERVICE).methods_by_name) == METHODS


def tool(name, *arguments):
    """Runs a program that lies beside this interpreter."""
    program = pathlib.Path(sys.executable).with_name(name)
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=PATIENCE_S)


def test_reflection_v1_serves_buf_curl(server):
    made = tool(
        "buf", "curl", "--http2-prior-knowledge", "--protocol", "grpc", "--reflect-protocol", "grpc-v1",
        "--data", '{"rules":{"preset":"bulls-and-cows"},"secret":"5072","guess":"5279"}',
        f"http://{server.address}/{SERVICE}/Score",
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {"feedback": {"bulls": 2, "cows": 1}}


def test_grpcurl_lists_describes_and_calls(server):
    def grpcurl(*arguments):
        made = tool("grpcurl", "-plaintext", *arguments)
        assert made.returncode == 0, made.stderr
        return made.stdout

    assert {SERVICE, "grpc.health.v1.Health"} <= set(grpcurl(server.address, "list").split())
    assert f"{SERVICE}.Score" in grpcurl(server.address, "list", SERVICE)
    assert "repeated .herdsman.v1.Turn history = 2;" in grpcurl(server.address, "describe", "herdsman.v1.FilterRequest")
    request = '{"rules":{"preset":"bulls-and-cows"},"history":[{"guess":"0123","feedback":{"cows":1}}],"countOnly":true}'
    assert json.loads(grpcurl("-d", request, server.address, f"{SERVICE}/Filter")) == {"remaining": 1440}


def test_grpcurl_prints_error_details_readably(server):
    request = '{"rules":{"preset":"bulls-and-cows"},"secret":"5072","guess":"52799"}'
    made = tool("grpcurl", "-plaintext", "-d", request, server.address, f"{SERVICE}/Score")
    assert made.returncode != 0
    for part in ["Code: InvalidArgument", '"reason":"INVALID_CODE"', '"field":"guess"', '"domain":"herdsman"']:
        assert part in made.stderr.replace(": ", ":").replace("Code:", "Code: "), made.stderr
