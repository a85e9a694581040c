"""Write docs/solved.md: for each game what is proven, its value, how it was computed, what that costs; with plots.

python -m tools.solved_page [GAME ...] [--heavy] [--games N] [--engine WHERE] [--keep-plots]
python -m tools.solved_page --rounds [POWERS ...]

Games that are not named keep the row that they have, with its date. A game whose full solution takes minutes and
gigabytes (Prime Duel) is computed anew only with --heavy; without it its row stays too. With --rounds nothing is
computed but the rounds of Duel with fewer powers: ten minutes and 6 GB. All that was measured stands
in the page as data, so a test can say whether the page is what its data make.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from typing import Any

from piste.analysis.balance.estimates import Estimate
from piste.analysis.balance.report import Report, balance_report, evaluate_start, fix_first_seat
from piste.analysis.balance.svg import BLUE, FAINT, INK, ORANGE, PALE, STYLE, line, page, text
from piste.cli.commands.bench.solve_time import is_heavy
from piste.cli.progress_bar import ProgressBar
from piste.core.evaluation import ESTIMATED, WITHIN
from piste.core.game import Game, find, names
from tools import duel_rounds
from tools.pages import DOCS, percent, piste, replace_part, table, today

PAGE = DOCS / "solved.md"
IMAGES = DOCS / "images"
DATA = re.compile(r"<!-- data (\S+): (.*) -->")

# Other forms of a game that are solved by themselves.
FORMS: dict[str, dict[str, int | str]] = {"zero-sum-grid": {"variant": "harvest"}}

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="*", help="some games only; the others keep their rows")
    parser.add_argument("--heavy", action="store_true", help="also what takes minutes and gigabytes")
    parser.add_argument("--games", type=int, help="of each match and sample (default: about a minute for a game)")
    parser.add_argument("--engine", help="where it is played, as with piste tournament (default: this process)")
    parser.add_argument("--keep-plots", action="store_true", help="do not play: keep the plots and their numbers")
    parser.add_argument("--rounds", nargs="*", metavar="POWERS", help="only Duel's rounds with fewer powers")
    given = parser.parse_args()
    old = read(PAGE.read_text(encoding="utf-8"))
    if given.rounds is not None:
        for powers, found in duel_rounds.measured(given.rounds or [*duel_rounds.SIX, *duel_rounds.SEVEN]):
            old["mccoy-duel"].setdefault("rounds", {})[powers] = found
            put(old)  # so that Ctrl-C keeps it
        return 0
    wanted = {find(name).name for name in given.game} or set(names())
    rows: dict[str, Row] = {}
    for key, game, options in kinds():
        before = old.get(key, {})
        if game.name not in wanted:
            if before:
                rows[key] = before
            continue
        print(f"{key} ...", file=sys.stderr, flush=True)
        kept = is_heavy(game.name) and not given.heavy and before.get("seconds")
        rows[key] = dict(before) if kept else solved(game, options, heavy=given.heavy)
        if "rounds" in before:
            rows[key]["rounds"] = before["rounds"]
        if not (given.keep_plots and before.get("weighed")):
            rows[key] |= weighed(key, game, options, given.games, given.engine)
        else:
            rows[key]["weighed"] = before["weighed"]
        put({name: (old | rows)[name] for name, _, _ in kinds() if name in old | rows})  # so that Ctrl-C keeps it
    put(rows)
    return 0


def put(rows: dict[str, Row]) -> None:
    """Write the page and the picture that has all games in it."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8", newline="\n")
    (IMAGES / "first-player.svg").write_text(seats(rows), encoding="utf-8", newline="\n")


def kinds() -> list[tuple[str, Game, dict[str, int | str]]]:
    """Return the games and their other forms, each with the name of its row."""
    forms: list[tuple[str, Game, dict[str, int | str]]] = []
    for name in names():
        forms.append((name, find(name), {}))
        form = FORMS.get(name)
        if form is not None:
            forms.append((f"{name}-{'-'.join(map(str, form.values()))}", find(name), form))
    return forms


def read(text: str) -> dict[str, Row]:
    return {key: json.loads(data) for key, data in DATA.findall(text)}


def solved(game: Game, options: dict[str, int | str], *, heavy: bool) -> Row:
    """Compute a game's solution anew and return its value, how it is known, and what it cost."""
    row: Row = {"date": today()}
    sets = [word for key, value in options.items() for word in ("--set", f"{key}={value}")]
    alone = bool(options) or is_heavy(game.name)
    if alone and (heavy or not is_heavy(game.name)):
        with tempfile.TemporaryDirectory() as folder:  # nothing is there already, compiled code included
            through = (sys.executable, "-c", MEASURE)
            measured = piste("solve", game.name, *sets, "--full", cache=folder, through=through)
            row |= {**measured["used"], "said": measured["full"], "compiling": True}
            verdict = piste("solve", game.name, *sets, cache=folder)
    else:
        if not alone:
            measured = piste("bench", "--solve", game.name)["solves"][game.name]
            row |= {key: measured[key] for key in ("seconds", "mib", "said")}
        fixed, first = fix_first_seat(game, options)
        best = evaluate_start(game, game.options(fixed), first)
        chances = best.chances._asdict() | {"value": best.chances.value}
        verdict = {"known": best.known, "within": best.within, "how": best.how, "chances": chances}
    row["said"] = re.sub(r" in (/|[A-Z]:)[^ ,]*", "", row.get("said", ""))  # where it is kept is everybody's own
    command = " ".join(["piste", "solve", game.name, *sets, "--full"])
    return row | {key: verdict[key] for key in ("known", "within", "how", "chances")} | {"command": command}


# A small process between us and the one that is measured: memory that is ours would count as its own. The
# measured one leaves its work to a process that is still there when it ends; this one inherits and counts it.
MEASURE = """
import ctypes, json, os, resource, subprocess, sys
INHERIT_CHILDREN = 36  # Linux's PR_SET_CHILD_SUBREAPER
ctypes.CDLL(None).prctl(INHERIT_CHILDREN, 1, 0, 0, 0)
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
used = resource.getrusage(resource.RUSAGE_CHILDREN)
used = {"seconds": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}
print(json.dumps({**json.loads(done.stdout), "used": used}))
"""


def weighed(key: str, game: Game, options: dict[str, int | str], games: int | None, engine: str | None) -> Row:
    """Measure the balance of a game, draw its plot, and return the numbers of the page."""
    with ProgressBar(key) as bar:
        report = balance_report(game, options, games=games, progress=bar, engine=engine)
    if report.stopped:
        raise SystemExit(130)
    (IMAGES / f"balance-{key}.svg").write_text(page([report]), encoding="utf-8", newline="\n")
    return {"weighed": {"sentences": list(sentences(report)), "truths": [list(truth) for truth in report.truths]}}


def sentences(report: Report) -> list[str]:
    """Return what playing it showed, in sentences."""
    strongest = next(level for level in reversed(report.levels) if level in report.statistics)
    stats = report.statistics[strongest]
    turns = "" if stats.turns is None or stats.turns == stats.decisions else f" and {interval(stats.turns)} turns"
    said = [f"A game between {report.shown(strongest)} bots has {interval(stats.decisions)} decisions{turns}."]
    if report.stakes is not None and report.stakes.level == strongest:
        said.append(f"At {share(report.stakes.slip)} of them a bad choice costs more than a point of winning chance.")
    if report.better is not None:
        said.append(f"The better of two levels gets {share(report.better)} of the points.")
    if report.split is not None:
        parts = ", ".join(share(number) for number in report.split)
        said.append(f"Skill, who begins and luck decide {parts} of the results.")
    return said


def interval(number: Estimate) -> str:
    return f"{number.value:.1f} ({number.low:.1f} to {number.high:.1f})"


def share(number: Estimate) -> str:
    return percent(number.value, number.low, number.high)


# The page, from the data alone.


def written(text: str, rows: dict[str, Row]) -> str:
    """Return the text of the page with these rows instead of those that it has."""
    head = ["game", "known", "wins", "draws", "loses", "to compute again", "measured"]
    text = replace_part(text, "table", table(head, (table_row(key, row) for key, row in rows.items())))
    return replace_part(text, "games", "\n\n".join(section(key, row) for key, row in rows.items()))


def titled(key: str) -> tuple[Game, str]:
    game, form = next((game, options) for name, game, options in kinds() if name == key)
    changed = ", ".join(f"{name}={value}" for name, value in form.items())
    return game, f"{game.notation.TITLE}{f' ({changed})' if changed else ''}"


def table_row(key: str, row: Row) -> list[str]:
    chances = [f"{100 * row['chances'][name]:.2f} %" for name in ("win", "draw", "loss")]
    return [titled(key)[1], sure(row), *chances, cost(row), row["date"] if row.get("seconds") else ""]


def sure(row: Row) -> str:
    if row["known"] in (WITHIN, ESTIMATED):
        return f"{row['known']} {'±' if row['known'] == ESTIMATED else ''}{100 * row['within']:.2g} points"
    return str(row["known"])


def cost(row: Row) -> str:
    if not row.get("seconds"):
        return "not measured (--heavy)"
    spent = f"{row['seconds']:.1f} CPU s" if row["seconds"] < 100 else f"{row['seconds'] / 60:.1f} CPU min"
    return f"{spent}, {row['mib']:.0f} MiB{', compiling included' if row.get('compiling') else ''}"


def section(key: str, row: Row) -> str:
    game, title = titled(key)
    value = row["chances"]["value"]
    told = [
        f"## {title}",
        "",
        f"Value for the player who begins: **{value:.6g}**, {sure(row)} (a win counts 1, a loss -1). {row['how']}",
    ]
    if row.get("said"):
        told.append(row["said"])
    told += ["", f"    {row['command']}", "", f"[How it is solved](solve/{game.name}.md)", ""]
    weighed = row.get("weighed", {})
    told += [f"- {sentence} ({how})" for sentence, how in weighed.get("truths", [])]
    told += [f"- {sentence}" for sentence in weighed.get("sentences", [])]
    told += ["", f"![{title}: balance report](images/balance-{key}.svg)", ""]
    told += duel_rounds.section(row.get("rounds", {}))
    return "\n".join([*told, f"<!-- data {key}: {json.dumps(row, ensure_ascii=False, sort_keys=True)} -->"])


def seats(rows: dict[str, Row]) -> str:
    """Return a picture of what the player who begins gets in each game."""
    wide, left, each = 960, 250, 40
    height = 84 + each * len(rows)
    told = "With best play the player who begins wins, draws, loses"
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {height}" role="img" '
        f'aria-label="{told}" {STYLE}>',
        f"<title>{told}</title>",
        f'<rect width="{wide}" height="{height}" rx="8" fill="#ffffff"/>',
        text(24, 36, told, 18, weight=600),
    ]
    room = wide - left - 40
    middle = left + room / 2
    body.append(line(middle, 46, middle, 62 + each * len(rows), FAINT, 1.5, "4 3"))
    for i, (key, row) in enumerate(rows.items()):
        y, x = 56 + each * i, float(left)
        body.append(text(left - 12, y + 19, titled(key)[1], 13, INK, "end"))
        for name, fill, ink in (("win", BLUE, "#ffffff"), ("draw", PALE, INK), ("loss", ORANGE, "#ffffff")):
            part = row["chances"][name]
            body.append(
                f'<rect x="{x:.1f}" y="{y}" width="{room * part:.1f}" height="28" fill="{fill}">'
                f"<title>{name} {100 * part:.2f} %</title></rect>"
            )
            if part > 0.08:
                note = "" if name != "win" or row["known"] not in (WITHIN, ESTIMATED) else f" ({row['known']})"
                body.append(text(x + room * part / 2, y + 19, f"{100 * part:.1f} %{note}", 12, ink, "middle"))
            x += room * part
    return "\n".join([*body, "</svg>", ""])


if __name__ == "__main__":
    sys.exit(main())
