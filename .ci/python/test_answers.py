"""Every RPC answers what is known to be true, seen through a foreign client.

The numbers come from the literature or from counting here by the plainest means there are; nothing is taken from the
server's own code.
"""

import itertools
import math
from collections import Counter

import pytest

RULES = {"preset": "bulls-and-cows"}
CODES = ["".join(code) for code in itertools.permutations("0123456789", 4)]
# What each answer to 0123 leaves of the 5040 codes, by (bulls, cows).
FIRST_ANSWERS = {
    (0, 0): 360, (0, 1): 1440, (0, 2): 1260, (0, 3): 264, (0, 4): 9,
    (1, 0): 480, (1, 1): 720, (1, 2): 216, (1, 3): 8,
    (2, 0): 180, (2, 1): 72, (2, 2): 6, (3, 0): 24, (4, 0): 1,
}


def naive(guess, secret):
    bulls = sum(g == s for g, s in zip(guess, secret))
    return bulls, (Counter(guess) & Counter(secret)).total() - bulls


def turn(guess, bulls, cows):
    return {"guess": guess, "feedback": {"bulls": bulls, "cows": cows}}


def pegs(feedback):
    return feedback.bulls, feedback.cows


@pytest.mark.parametrize("preset, secret, guess, answer", [
    ("bulls-and-cows", "5072", "5279", (2, 1)),
    ("bulls-and-cows", "0831", "0831", (4, 0)),
    ("bulls-and-cows-repeats", "1123", "0111", (1, 1)),
    ("mastermind", "0011", "1100", (0, 4)),
])
def test_score(server, preset, secret, guess, answer):
    reply = server.call("Score", {"rules": {"preset": preset}, "secret": secret, "guess": guess})
    assert pegs(reply.feedback) == answer
    assert reply.feedback.HasField("cows")
    assert reply.solved == (secret == guess)


def test_batch_score_keeps_the_order(server):
    pairs = [{"secret": secret, "guess": "0123"} for secret in CODES[::7]]
    reply = server.call("BatchScore", {"rules": RULES, "pairs": pairs})
    assert [pegs(f) for f in reply.feedbacks] == [naive("0123", secret) for secret in CODES[::7]]


def test_score_matrix_is_row_by_row(server):
    guesses, secrets = CODES[::1000], CODES[::500]
    reply = server.call("ScoreMatrix", {"rules": RULES, "guesses": guesses, "secrets": secrets})
    legend = [pegs(answer) for answer in reply.legend]
    assert sorted(legend) == legend == sorted(FIRST_ANSWERS)
    assert legend[reply.winning_class] == (4, 0)
    assert reply.bytes_per_cell == 1
    assert [legend[cell] for cell in reply.cells] == [naive(g, s) for g in guesses for s in secrets]


@pytest.mark.parametrize("history", [[("0123", 0, 1)], [("0123", 0, 1), ("4561", 1, 1), ("7408", 1, 0)], []])
def test_filter_pages_are_what_counting_gives(server, history):
    left = [code for code in CODES if all(naive(g, code) == (b, c) for g, b, c in history)]
    request = {"rules": RULES, "history": [turn(*t) for t in history], "pageSize": 1000}
    walked, token = [], ""
    while True:
        page = server.call("Filter", request | {"pageToken": token})
        assert page.remaining == len(left)
        walked += page.candidates
        token = page.next_page_token
        if not token:
            break
    assert walked == left


def test_filter_counts_without_listing(server):
    reply = server.call("Filter", {"rules": RULES, "history": [turn("0123", 0, 1)], "countOnly": True})
    assert (reply.remaining, list(reply.candidates)) == (1440, [])


def test_minimax_opens_mastermind_as_knuth_did(server, api):
    reply = server.call("BestNextGuess", {"rules": {"preset": "mastermind"}, "strategy": "STRATEGY_MINIMAX"})
    best = reply.suggestions[0]
    assert (best.guess, best.candidate, best.facts.largest_class) == ("0011", True, 256)
    assert (reply.remaining, reply.exhaustive, reply.strategy) == (1296, True, api.STRATEGY_MINIMAX)


def test_entropy_finds_the_second_guess_of_most_bits(server):
    request = {"rules": RULES, "history": [turn("0123", 0, 1)], "strategy": "STRATEGY_ENTROPY", "topK": 3}
    reply = server.call("BestNextGuess", request)
    assert [round(s.facts.bits, 3) for s in reply.suggestions] == [2.859] * 3


def test_an_answer_from_the_cache_is_the_same_answer(server, api):
    request = {"rules": RULES, "history": [turn("9876", 1, 1)], "topK": 5, "strategy": "STRATEGY_MINIMAX"}
    fresh, again = (server.call("BestNextGuess", request) for _ in range(2))
    assert (fresh.source, again.source) == (api.SOURCE_COMPUTED, api.SOURCE_CACHE)
    again.source = fresh.source
    assert fresh == again


def test_the_default_is_the_best_possible_play(server, api):
    """Tanaka 1996: 26274 guesses over 5040 codes; Koyama and Lai 1993: 5625 over 1296."""
    for preset, total, most, codes in [("bulls-and-cows", 26274, 7, 5040), ("mastermind", 5625, 6, 1296)]:
        reply = server.call("BestNextGuess", {"rules": {"preset": preset}})
        assert (reply.strategy, reply.proof, reply.source) == (api.STRATEGY_OPTIMAL, api.PROOF_PROVEN, api.SOURCE_BOOK)
        assert (reply.proven.total, reply.proven.max, reply.remaining) == (total, most, codes)
        assert math.isclose(reply.proven.mean, total / codes)


def test_a_guess_is_rated_against_the_best(server, api):
    # No first guess of four distinct digits differs from another.
    reply = server.call("Analyze", {"rules": RULES, "guess": "9870", "rate": True})
    assert [rated.strategy for rated in reply.best] == [
        api.STRATEGY_MINIMAX, api.STRATEGY_EXPECTED_SIZE, api.STRATEGY_ENTROPY, api.STRATEGY_MOST_PARTS,
    ]
    assert all(rated.suggestion.facts == reply.facts and rated.exhaustive for rated in reply.best)
    assert (reply.HasField("cost"), reply.cost.total) == (True, 0)
    plain = server.call("Analyze", {"rules": RULES, "guess": "9870"})
    assert (len(plain.best), plain.HasField("cost")) == (0, False)
    # A guess that was made before tells nothing: it costs a guess for every code that is left.
    reply = server.call("Analyze", {"rules": RULES, "guess": "0123", "history": [turn("0123", 0, 4)], "rate": True})
    assert (reply.remaining, reply.cost.total, reply.cost.mean) == (9, 9, 1)


def test_a_won_game_needs_no_guess(server):
    reply = server.call("BestNextGuess", {"rules": RULES, "history": [turn("0123", 4, 0)]})
    assert (reply.solved, reply.secret, len(reply.suggestions)) == (True, "0123", 0)


def test_analyze_gives_the_known_partition(server):
    reply = server.call("Analyze", {"rules": RULES, "guess": "0123"})
    assert {pegs(row.feedback): row.count for row in reply.partition} == FIRST_ANSWERS
    assert [pegs(row.feedback) for row in reply.partition] == sorted(FIRST_ANSWERS)
    assert math.isclose(sum(row.share for row in reply.partition), 1)
    assert (reply.facts.largest_class, reply.facts.classes, round(reply.facts.bits, 3)) == (1440, 14, 2.771)
    assert math.isclose(reply.facts.expected_size, sum(n * n for n in FIRST_ANSWERS.values()) / 5040)


def test_diagnose_finds_the_clash_and_what_repairs_it(server):
    reply = server.call("Diagnose", {"rules": RULES, "history": [turn("0123", 4, 0), turn("4567", 1, 0)]})
    assert (reply.consistent, reply.remaining, reply.first_conflict_turn, list(reply.clash)) == (False, 0, 2, [1, 2])
    first, second = reply.repairs
    # The other turn alone leaves 480 codes, whatever is answered here; 0123 itself answers 4567 with nothing.
    assert (first.turn, first.remaining, sum(option.count for option in first.options)) == (1, 480, 480)
    assert [(pegs(o.feedback), o.count) for o in second.options] == [((0, 0), 1)]


def test_server_info_names_games_strategies_and_limits(server, api):
    info = server.call("GetServerInfo", {})
    assert {preset.name: preset.codes for preset in info.presets} == {
        "bulls-and-cows": 5040, "bulls-and-cows-no-leading-zero": 4536, "bulls-and-cows-repeats": 10000,
        "bulls-and-cows-3": 720, "bagels": 720, "hex": 43680, "mastermind": 1296, "super-mastermind": 32768,
        "blanks": 2401, "numbers": 100, "wordle": 0, "jotto": 0, "likeness": 0,
    }
    assert {preset.name for preset in info.presets if preset.needs_dictionary} == {"wordle", "jotto", "likeness"}
    assert {s.name for s in info.strategies} >= {"minimax", "expected_size", "entropy", "most_parts"}
    assert [s.default for s in info.strategies].count(True) == 1
    assert (info.limits.max_turns, info.limits.max_pairs, info.limits.max_page_size) == (64, 10_000, 10_000)
