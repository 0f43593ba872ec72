"""Words, numbers, lies and opponents as a foreign client sees them, counted anew by a few lines of Python."""

from collections import Counter
from itertools import permutations

from google.protobuf.json_format import ParseDict

from conftest import PATIENCE_S
from test_answers import naive

WORDS = ["crane", "crate", "trace", "grace", "brace", "place", "plate", "slate", "stale", "least", "speed", "erase"]


def marks(guess, secret):
    """Right places first, then from left to right what the secret has left."""
    left = Counter(b for a, b in zip(guess, secret) if a != b)
    told = ""
    for a, b in zip(guess, secret):
        if a == b:
            told += "G"
        elif left[a]:
            left[a] -= 1
            told += "Y"
        else:
            told += "-"
    return told


def words(**more):
    return {"words": {"secrets": WORDS}, **more}


def test_every_pair_of_words_gets_its_marks_and_its_total(server):
    for guess in WORDS:
        for secret in WORDS:
            pair = {"guess": guess, "secret": secret}
            reply = server.call("Score", {"rules": words(), **pair})
            assert (reply.feedback.marks, reply.solved) == (marks(guess, secret), guess == secret)
            reply = server.call("Score", {"rules": words(feedback="FEEDBACK_RULE_TOTAL"), **pair})
            assert reply.feedback.total == sum((Counter(guess) & Counter(secret)).values())
            assert reply.feedback.solved == (guess == secret)


def test_words_that_fit_are_those_that_would_get_these_marks(server):
    for secret in WORDS:
        turn = {"guess": "erase", "feedback": {"marks": marks("erase", secret)}}
        left = server.call("Filter", {"rules": words(), "history": [turn]}).candidates
        assert list(left) == sorted(word for word in WORDS if marks("erase", word) == marks("erase", secret))


def test_a_number_is_found_by_halving(server):
    rules, history = {"numbers": {"min": 1, "max": 101}}, []
    for guesses in range(1, 8):
        guess = int(server.call("BestNextGuess", {"rules": rules, "history": history}).suggestions[0].guess)
        if guess == 77:
            return
        order = "ORDER_HIGHER" if guess < 77 else "ORDER_LOWER"
        history.append({"guess": str(guess), "feedback": {"order": order}})
    raise AssertionError(f"not found with {guesses} guesses")


def test_codes_are_told_apart_by_the_answers_they_contradict(server):
    answers = {"0123": (1, 1), "4567": (0, 1), "0456": (2, 0)}
    history = [{"guess": guess, "feedback": {"bulls": b, "cows": c}} for guess, (b, c) in answers.items()]
    request = {"rules": {"preset": "bulls-and-cows"}, "history": history, "maxLies": 2, "countOnly": True}
    told = server.call("Filter", request).remaining_by_lies
    codes = map("".join, permutations("0123456789", 4))
    lies = Counter(sum(naive(guess, code) != answer for guess, answer in answers.items()) for code in codes)
    assert list(told) == [lies[0], lies[1], lies[2]]


def test_a_player_fares_as_the_games_it_plays(server, api):
    request = {"rules": words(), "player": {"strategy": "STRATEGY_ENTROPY"}}
    stream = server.stub.Evaluate(ParseDict(request, api.EvaluateRequest()), timeout=PATIENCE_S)
    result = list(stream)[-1].result
    games = [len(server.call("Simulate", {**request, "secret": secret}).turns) for secret in WORDS]
    assert (result.total, result.max, result.exact) == (sum(games), max(games), True)
    assert list(result.histogram) == [games.count(guess + 1) for guess in range(max(games))]


def test_two_equal_players_win_and_lose_alike(server, api):
    request = {"rules": {"preset": "mastermind"}, "first": {"level": "LEVEL_PERFECT"}, "second": {"level": "LEVEL_PERFECT"}}
    stream = server.stub.Duel(ParseDict(request, api.DuelRequest()), timeout=PATIENCE_S)
    result = list(stream)[-1].result
    assert result.win == result.lose and abs(result.win + result.draw + result.lose - 1) < 1e-9


def test_the_host_keeps_the_most_candidates(server):
    reply = server.call("Answer", {"rules": words(), "guess": "slate"})
    sizes = Counter(marks("slate", word) for word in WORDS if word != "slate")
    assert reply.remaining == sizes[reply.feedback.marks] == max(sizes.values())
