"""Run the checks at full size and write what was found, with date and commit, under docs/proof/.

make proof                       # 100 000 games of each kind, a million fuzzed inputs: over an hour on two cores
make proof GAMES=1000 INPUTS=10000
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import PurePath
from xml.etree import ElementTree

from tools.pages import DOCS, ROOT, git, row, today

GAMES = int(os.environ.get("GAMES", "100000"))
INPUTS = int(os.environ.get("INPUTS", "1000000"))
# For each page its suites: what is shown, the file in tests, which of its tests, one game in how many is played.
# Of a folder, the files are left out that have rows of their own for all their tests.
RULES = (
    ("Random games are sound; record, replay and position text are exact", "test_every_game.py", "sound", 1),
    ("Secrecy: retold histories look the same", "test_secrecy.py", "", 1),
    ("A second, independent implementation agrees at every step", "test_reference.py", "", 20),
    ("Every other test, at its usual size", "", "", 0),
    ("Fuzzed records, positions, knowledge, decisions, options, deals", "test_fuzz.py", "", 1),
)
TERMINAL = (
    ("Two or three at one keyboard: screens of retold games are equal", "cli/test_hot_seat.py", "", 1),
    ("Every game to its end at the terminal; 10 000 lines of garbage", "cli/test_session.py", "", 0),
    ("Killed at every prompt, resumed to the same game", "cli/test_resume.py", "", 0),
    ("The sheets' dialogues through a pseudo-terminal", "cli/test_dialogues.py", "", 0),
    ("Ctrl-C at random moments of cold hints and solves", "cli/test_interrupts.py", "", 0),
)
SPEED = (
    (
        "Interpreted and compiled games are equal; trees counted both ways",
        "compiled/test_compiled_equals_interpreted.py",
        "",
        1,
    ),
    ("Random play is as exact enumeration says; threads change nothing", "compiled/test_simulate.py", "", 1),
)
SOLVE = (
    ("Zero-Sum Grid: proof and play against brute force", "games/solver/test_zero_sum_grid.py", "", 50),
    ("Positive-Negative against fractions through the rules", "games/solver/test_positive_negative.py", "", 50),
    ("Zero Sum Duel: no best response gains", "games/solver/test_zero_sum_duel.py", "", 50),
    ("Prime Duel against plain value iteration; millions of games", "games/solver/test_prime_duel.py", "", 1),
    ("Prime Duel: what each bot loses to the full solution (4 GB)", "games/solver/test_prime_duel_bots.py", "", 1),
    ("Prime Duel: 10,000 verdicts by what is shipped (4 GB)", "games/solver/test_prime_duel_verdicts.py", "", 1),
    ("Duel: bars, losses and plain solvers", "games/solver/test_mccoy_duel.py", "", 1000),
    ("Duel: whole rounds, a linear program, best responses", "games/solver/test_mccoy_duel_solutions.py", "", 1000),
    (
        "Duel: what adversaries gain from the opening book (9 GB)",
        "games/solver/test_mccoy_duel_opening.py",
        "adversaries_gain",
        1000,
    ),
    (
        "Duel: the opening book, no step back",
        "games/solver/test_mccoy_duel_opening.py",
        "not adversaries_gain",
        1000,
    ),
    ("Commands, levels and tables", "games/solver/test_solve_command.py", "", 0),
)
ANY_GAME = (
    (
        "Kuhn poker -1/18, Leduc poker -0.0856, within bounds",
        "solvers/test_cfr.py",
        "",
        0,
    ),
    (
        "Tic-tac-toe a draw, Pig to 100 53.06 %, endless play",
        "solvers/test_induction.py",
        "",
        0,
    ),
    ("Small sizes of all five games against their own solvers, to 1e-6", "solvers/test_own_solvers.py", "", 0),
    ("Trees, searches, levels, hints, coach, puzzles and balance by the rules alone", "solvers", "", 0),
    ("`piste check`: faults planted on purpose are found and explained; the pytest plugin", "check", "", 0),
    ("The games of examples/games: every check, PettingZoo, OpenSpiel, pip", "test_example_games.py", "", 0),
    ("`piste new`: what it writes is checked, played and installed", "cli/test_new.py", "", 0),
    ("The tutorial, followed to the letter", "test_add_a_game_page.py", "", 0),
)
ADAPTERS = (
    ("PettingZoo's suite, every game and number of players", "rl/test_pettingzoo.py", "", 50),
    ("PettingZoo: secrecy, seeds, copies, ends", "rl/test_pettingzoo_games.py", "", 50),
    ("Gymnasium: its checker, every bot as opponent", "rl/test_gymnasium.py", "", 50),
    ("OpenSpiel's suites, Shimmy through PettingZoo's test", "rl/test_openspiel_suites.py", "", 50),
    ("OpenSpiel: information states, observers, resampling", "rl/test_openspiel.py", "", 50),
    ("OpenSpiel's algorithms; exploitability of our solvers", "rl/test_openspiel_play.py", "", 50),
    ("Many games together are the interpreted games", "rl/test_vector_env.py", "", 50),
    ("A learner beats `steady` at Positive-Negative", "rl/test_learner_example.py", "", 5),
    ("One game in native, batch, PettingZoo and OpenSpiel form", "rl/test_same_game_everywhere.py", "", 1000),
)
COACH = (
    ("The four columns add up", "analysis/coach/test_attribution.py", "", 4),
    ("Verdicts on retold games, perfect play, labels", "analysis/coach/test_review.py", "", 50),
    ("Duel: columns and intervals", "analysis/coach/test_sampled_attribution.py", "", 1000),
    ("Puzzles", "analysis/coach/test_puzzles.py", "", 1000),
    ("Definitions of the scales against plain enumeration", "analysis/balance/test_definitions.py", "", 1000),
    ("The scales agree with the solvers", "analysis/balance/test_report.py", "", 1000),
    ("Harvest against plain recursion; every deal", "games/solver/test_zero_sum_grid_harvest.py", "", 50),
)
EVALUATION = (
    ("Perfect play loses nothing, random play what enumeration says", "evals/test_calibration.py", "", 1000),
    ("Random play loses what plain games say", "evals/test_random_play.py", "", 0),
    ("A server that misbehaves: every tally is right", "evals/test_bad_days.py", "", 0),
    ("Killed in the middle, resumed to the identical result", "evals/test_resume.py", "", 0),
    ("Every command of the page", "evals/test_evaluation_page.py", "", 0),
)
LABORATORY = (
    ("Workers, schedulers and tournaments killed: the same table", "analysis/arena/test_bad_days.py", "", 0),
    (
        "The sequential test errs as often as it says, with bots as known pairs",
        "analysis/arena/test_sprt_bots.py",
        "",
        10,
    ),
    ("Luck taken off: the truth is held where it is known", "analysis/coach/test_tournament_review.py", "", 10),
    ("Ratings and intervals against simulation", "analysis/arena/test_ratings.py", "", 0),
    ("Engines: a real scheduler, versions, tables, every command", "analysis/test_engine.py", "", 0),
    ("Every command of the page", "test_laboratory_page.py", "", 0),
)
WEB = (
    ("Secrecy: the bytes sent to a seat are equal in retold games", "web/test_web_secrecy.py", "", 20),
    ("Secrecy: the bytes that the API sends to a seat", "web/api/test_api_secrecy.py", "", 100),
    ("Forged, stale, foreign, oversized and out-of-turn messages", "web/test_forged.py", "", 1),
    ("The server killed in the middle of games; all that was said is kept", "web/test_durability.py", "", 1),
    ("Attackers beside innocents, at the size at which they were first made", "web/test_attacks.py", "", 0),
    ("Rooms, service, sockets, pages, storage, guard", "web", "", 0),
    ("Real browsers: every game, refresh, cuts, restarts, keyboard, axe", "browser", "", 0),
)
# The suites of both storages run on PostgreSQL with those of WEB; these are what several processes need besides.
POSTGRES = (
    (
        "Servers, workers, their connections and PostgreSQL killed while people play at both",
        "web/test_kills.py",
        "",
        0,
    ),
    ("One question decided at two servers at the same instant", "web/test_same_instant.py", "", 0),
    ("Every two verbs at once; listeners; notices", "web/test_races.py", "", 0),
    ("A database that falls silent, or breaks at a commit", "web/test_stalled_database.py", "", 0),
    ("A full disk under the database", "web/test_full_disk.py", "", 0),
    ("Tables, presence and claims across two servers", "web/test_several_processes.py", "", 0),
    ("Secrecy: the bytes sent to a seat, on PostgreSQL", "web/test_web_secrecy.py", "postgresql", 100),
    ("Real browsers on PostgreSQL", "browser", "", 0),
)
ON_POSTGRES = ("Real browsers on PostgreSQL",)
"""Checks whose servers keep their tables in a PostgreSQL."""
SIZES = {  # of suites that do not count games
    "test_fuzz.py": ("PISTE_INPUTS", INPUTS, "inputs"),
    "solvers/test_induction.py": ("PISTE_PIG_TARGET", 100, "points in Pig"),
    "web/test_forged.py": ("PISTE_INPUTS", max(1, INPUTS // 10), "messages"),
    "web/test_attacks.py": ("PISTE_ATTACK", 1, "size"),
    "web/test_durability.py": ("PISTE_KILLS", max(1, INPUTS // 5000), "kills"),
    "web/test_kills.py": ("PISTE_KILLS", max(1, INPUTS // 5000), "kills"),
    "web/test_stalled_database.py": ("PISTE_STALL", 30, "seconds of silence"),
    "web/test_same_instant.py": ("PISTE_RACES", max(1, INPUTS // 100), "races"),
    "evals/test_random_play.py": ("PISTE_SAMPLED", 20_000, "games"),
    "analysis/arena/test_bad_days.py": ("PISTE_WORKER_KILLS", 30, "kills"),
    "cli/test_interrupts.py": ("PISTE_INTERRUPTS", max(1, INPUTS // 5000), "interrupts"),
}
ALONE = ("web/test_attacks.py",)
"""Suites that measure: nothing else may run beside them, so they have one process."""
PAGES = {
    "rules": ("The rulebook at full size", RULES),
    "terminal": ("The terminal at full size", TERMINAL),
    "speed": ("The same rules, by the million", SPEED),
    "solve": ("Perfect opponents, with proof", SOLVE),
    "any-game": ("Any game, by its rules alone", ANY_GAME),
    "coach": ("The coach and the scales", COACH),
    "evaluation": ("Language models, and bots in their place", EVALUATION),
    "laboratory": ("Tournaments that settle questions", LABORATORY),
    "adapters": ("At home in other laboratories", ADAPTERS),
    "web": ("Tables in the browser", WEB),
    "postgres": ("Several servers on one PostgreSQL", POSTGRES),
}


def write_page(name: str, new: list[str]) -> None:
    """Put a row into its page, in place of an older one of the same check and size."""
    path = DOCS / "proof" / f"{name}.md"
    old = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = [line.strip("| ").split(" | ") for line in old if line.startswith("| ") and not line.startswith("| check")]
    rows = [kept for kept in rows if kept[0] != new[0] or kept[2] != new[2]] + [new]
    order = [suite[0] for suite in PAGES[name][1]]
    rows.sort(key=lambda kept: order.index(kept[0]) if kept[0] in order else len(order))
    page = [
        f"# {PAGES[name][0]}",
        "",
        "Written by `make proof`; do not edit. Each row says when and on which commit it was found.",
        "",
        "Sizes are games of each of the five kinds (those of Duel with 2, 3 and 4 players together; secrecy and",
        "hot-seat screens are compared at one cut in a hundred games for each seat), or fuzzed inputs in all.",
        f"Python {platform.python_version()} on {platform.machine()}, 2 processes; suites that measure have one.",
        "",
        "| check | file | size | result | minutes | date | commit |",
        "|---|---|---|---|---|---|---|",
        *(row(*kept) for kept in rows),
        "",
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(page), encoding="utf-8")


def rows_below(folder: str) -> list[str]:
    """Return the files and folders of a folder that have rows of their own for all their tests, on whichever page."""
    files = {file for _, suites in PAGES.values() for _, file, chosen, _ in suites if not chosen} - {folder}
    return sorted(f"tests/{file}" for file in files if PurePath(file).is_relative_to(folder))


def figures_in(report: bytes) -> list[str]:
    """Return the figures that tests have recorded; a run that was broken off leaves an empty report."""
    found = ElementTree.fromstring(report or b"<testsuites/>").iter("property")
    return [one.get("value", "") for one in found if one.get("name") == "figure"]


def main() -> int:
    commit = git("rev-parse", "--short=12", "HEAD")
    if git("status", "--porcelain", "--", "src", "tests"):
        commit += " with uncommitted changes"
    wanted = [word for word in sys.argv[1:] if word in PAGES] or list(PAGES)
    only = [word for word in sys.argv[1:] if word not in PAGES]
    return max(prove(name, commit, only) for name in wanted)


def prove(name: str, commit: str, only: list[str]) -> int:
    """Run the suites of one page, or those with one of these words in their title or file, and write it."""
    worst = 0
    for title, file, chosen, share in PAGES[name][1]:
        path = f"tests/{file}".rstrip("/")
        if only and not any(word in f"{title} {path}" for word in only):
            continue
        print(f"{title} ...", flush=True)
        games = GAMES // share if share else 0
        sizes = {"PISTE_GAMES": str(games)} if share else {}
        size = f"{games:,} games" if games else "usual"
        if file in SIZES:
            variable, count, what = SIZES[file]
            sizes, size = {**sizes, variable: str(count)}, f"{count:,} {what}"
        environment = {**os.environ, **sizes, **({"PISTE_TEST_DB": "postgresql"} if title in ON_POSTGRES else {})}
        began = time.monotonic()
        processes = ["-n", "0"] if file in ALONE else ["-n", "2", "--dist", "worksteal"]
        # At full size one test may take an hour.
        command = [sys.executable, "-m", "pytest", *processes, "-o", "faulthandler_exit_on_timeout=false", path]
        command += [f"--ignore={other}" for other in rows_below(file)]
        command += ["-k", chosen] if chosen else []
        with tempfile.NamedTemporaryFile(suffix=".xml") as report:
            command += ["--junitxml", report.name]
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            figures = figures_in(report.read())
        counts = ", ".join(re.findall(r"\d+ (?:passed|failed|error)", done.stdout)) or "no result"
        minutes = (time.monotonic() - began) / 60
        result = "; ".join([counts, *figures])
        print(f"  {result} in {minutes:.1f} min", flush=True)
        if done.returncode:
            print(done.stdout[-4000:], file=sys.stderr)
        worst = max(worst, done.returncode)
        write_page(name, [title, f"`{path}`", size, result, f"{minutes:.1f}", today(), commit])
    print(f"{'All held' if worst == 0 else 'Something FAILED'}; see docs/proof/{name}.md")
    return worst


if __name__ == "__main__":
    sys.exit(main())
