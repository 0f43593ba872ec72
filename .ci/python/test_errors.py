"""Bad input is refused with a code, a stable reason and the path of the field, all readable by a foreign client."""

import grpc
import pytest

from conftest import refusal

RULES = {"preset": "bulls-and-cows"}


def codes(**changes):
    return {"codes": {"alphabet": "0123456789", "length": 4} | changes}


def history(*turns):
    return {"rules": RULES, "history": [{"guess": g, "feedback": f} for g, f in turns]}


BAD_RULES = [
    ({}, "rules"),
    ({"preset": "chess"}, "rules.preset"),
    (codes(alphabet=""), "rules.codes.alphabet"),
    (codes(alphabet="01233"), "rules.codes.alphabet"),
    (codes(length=0), "rules.codes.length"),
    (codes(length=11), "rules.codes.length"),
    (codes(notFirst="x"), "rules.codes.not_first"),
]
BAD_CODES = ["012", "01234", "012x", "0012", ""]
BAD_ANSWERS = [{}, {"bulls": 3, "cows": 1}, {"bulls": 3, "cows": 2}, {"bulls": -1}, {"bulls": 5}]

INVALID = [
    *[("Filter", {"rules": rules}, "INVALID_RULES", field) for rules, field in BAD_RULES],
    *[("Score", {"rules": RULES, "secret": code, "guess": "0123"}, "INVALID_CODE", "secret") for code in BAD_CODES],
    *[("Filter", history(("0123", {"bulls": 0}), ("4567", answer)), "INVALID_FEEDBACK", "history[1].feedback")
      for answer in BAD_ANSWERS],
    ("Filter", history(("0123", {"bulls": 0}), ("45678", {"bulls": 0})), "INVALID_CODE", "history[1].guess"),
    ("Filter", {"rules": RULES, "pageSize": -1}, "INVALID_OPTION", "page_size"),
    ("Filter", {"rules": RULES, "pageToken": "made up"}, "INVALID_OPTION", "page_token"),
    ("BestNextGuess", {"rules": RULES, "strategy": 99}, "INVALID_OPTION", "strategy"),
    ("BestNextGuess", {"rules": RULES, "topK": 101}, "LIMIT_EXCEEDED", "top_k"),
    ("BestNextGuess", {"rules": RULES, "limits": {"maxScores": -1}}, "INVALID_OPTION", "limits.max_scores"),
    ("Analyze", {"rules": codes(length=12, repeats=True), "guess": "0" * 12}, "SPACE_TOO_LARGE", "rules"),
    ("Filter", history(*[("0123", {"bulls": 0})] * 10_000), "LIMIT_EXCEEDED", "history"),
    ("BatchScore", {"rules": RULES, "pairs": [{}] * 10_001}, "LIMIT_EXCEEDED", "pairs"),
]


@pytest.mark.parametrize("method, body, reason, field", INVALID)
def test_bad_input_names_the_field_and_what_would_be_right(server, method, body, reason, field):
    refused = server.refused(method, body)
    assert refused.code == grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.ErrorInfo.domain, refused.ErrorInfo.reason) == ("herdsman", reason)
    violations = {violation.field: violation.description for violation in refused.BadRequest.field_violations}
    assert violations.get(field), violations
    assert refused.message


def test_a_contradiction_names_the_turn(server):
    turns = [("0123", {"bulls": 4}), ("4567", {"bulls": 1}), ("4567", {"bulls": 0})]
    refused = server.refused("BestNextGuess", history(*turns))
    assert refused.code == grpc.StatusCode.FAILED_PRECONDITION
    assert (refused.ErrorInfo.domain, refused.ErrorInfo.reason) == ("herdsman", "CONTRADICTION")
    assert refused.ErrorInfo.metadata["turn"] == "2"
    assert server.refused("Analyze", history(*turns) | {"guess": "0123"}).ErrorInfo.reason == "CONTRADICTION"


def test_text_that_is_not_utf8_is_refused(server):
    call = server.channel.unary_unary("/herdsman.v1.SolverService/Score")
    with pytest.raises(grpc.RpcError) as caught:
        call(b"\x12\x01\xff", timeout=5)  # `secret` as one byte that no UTF-8 text holds
    refused = refusal(caught.value)
    assert (refused.code, refused.ErrorInfo.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_CODE")
    assert [violation.field for violation in refused.BadRequest.field_violations] == ["secret"]
