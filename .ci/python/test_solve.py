"""Solve as a foreign client sees it: a stream of progress, the parts of the tree, and a proof that is replayed here."""

import math
import queue
import threading
from collections import Counter

import grpc
import pytest
from google.protobuf.json_format import ParseDict

from conftest import PATIENCE_S, refusal
from test_answers import naive

# Ten thousand codes, nothing known: minutes of work.
LONG = {"rules": {"preset": "bulls-and-cows-repeats"}, "noBook": True}


def solve(server, request, timeout=PATIENCE_S):
    return server.stub.Solve(ParseDict(request, server.api.SolveRequest()), timeout=timeout)


def finish(stream):
    """The nodes and the result of a stream; the result must come last."""
    nodes = []
    for message in stream:
        nodes += message.tree.nodes
    return nodes, message.result


def replay(nodes, secrets):
    """Plays the tree against every secret; gives how many are found at each guess."""
    following = {(node.parent, node.feedback.bulls, node.feedback.cows): at for at, node in enumerate(nodes)}
    found = Counter()
    for secret in secrets:
        at, guesses = 0, 1
        while nodes[at].guess != secret:
            at = following[at, *naive(nodes[at].guess, secret)]
            guesses += 1
        found[guesses] += 1
    return found


@pytest.mark.parametrize("objective, total, most", [("EXPECTED", 5625, 6), ("WORST_CASE", 5626, 5)])
def test_the_book_of_mastermind_plays_what_it_promises(server, api, objective, total, most):
    request = {"rules": {"preset": "mastermind"}, "objective": f"OBJECTIVE_{objective}", "includeTree": True}
    nodes, result = finish(solve(server, request))
    assert (result.total, result.max, result.proven, result.source) == (total, most, True, api.SOURCE_BOOK)
    assert math.isclose(result.mean, total / 1296)
    codes = [f"{a}{b}{c}{d}" for a in "012345" for b in "012345" for c in "012345" for d in "012345"]
    found = replay(nodes, codes)
    assert [found[guess + 1] for guess in range(most)] == list(result.histogram)
    assert sum(guess * count for guess, count in found.items()) == total
    assert (len(nodes), nodes[0].guess, nodes[0].parent) == (result.tree_nodes, result.first_guess, -1)


def test_a_small_game_is_proven_by_search(server, api):
    rules = {"codes": {"alphabet": "012345", "length": 3}}
    _, result = finish(solve(server, {"rules": rules, "noBook": True}))
    assert (result.total, result.max, result.source) == (436, 5, api.SOURCE_COMPUTED)
    _, result = finish(solve(server, {"rules": rules, "maxGuesses": 3}))
    assert (result.impossible, result.proven) == (True, True)


def test_progress_is_told_until_the_caller_leaves(server):
    stream = solve(server, LONG)
    told = [next(stream).progress for _ in range(2)]
    assert told[0].elapsed_ms < told[1].elapsed_ms
    assert all(progress.bound_total <= progress.best_total for progress in told if progress.HasField("best_total"))
    stream.cancel()
    # The threads are free again: a search that needs all of them ends at once.
    finish(solve(server, {"rules": {"preset": "bulls-and-cows-3"}, "noBook": True}))


def test_a_deadline_and_a_limit_of_the_server_end_a_search(start):
    server = start("--max-solve-deadline-ms", "300")
    for timeout in [0.1, PATIENCE_S]:
        with pytest.raises(grpc.RpcError) as caught:
            finish(solve(server, LONG, timeout))
        assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_stop_ends_the_stream_with_its_reason(start):
    server = start("--grace-ms", "100")
    stream = solve(server, LONG)
    next(stream)
    ended = queue.Queue()
    threading.Thread(target=lambda: ended.put(pytest.raises(grpc.RpcError, finish, stream)), daemon=True).start()
    assert server.stop() == 0
    told = refusal(ended.get(timeout=PATIENCE_S).value)
    assert (told.code, told.ErrorInfo.reason) == (grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN")


@pytest.mark.parametrize("change, reason, field", [
    ({"rules": {}}, "INVALID_RULES", "rules"),
    ({"objective": 9}, "INVALID_OPTION", "objective"),
    ({"maxGuesses": -1}, "INVALID_OPTION", "max_guesses"),
    ({"limits": {"threads": -1}}, "INVALID_OPTION", "limits.threads"),
])
def test_bad_input_names_the_field(server, change, reason, field):
    with pytest.raises(grpc.RpcError) as caught:
        finish(solve(server, {"rules": {"preset": "mastermind"}} | change))
    told = refusal(caught.value)
    assert (told.code, told.ErrorInfo.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)
    assert [violation.field for violation in told.BadRequest.field_violations] == [field]
