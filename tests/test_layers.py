"""Imports point one way, start-up stays small, and rules keep to themselves."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

SOURCE = ROOT / "src" / "piste"

# Lowest first: a module may import from its own layer or from those before it.
LAYERS = (
    "core",
    "games/rules",
    "games/notation",
    "games/observation",
    "games/text",
    "games/log",
    "games/scene",
    "games/policies",
    "games/bots/steady",  # explanations and solvers take from it how people play
    "games/explain",
    "games/lesson",
    "compiled",
    "solvers",
    "games/guarantees",
    "games/solver",
    "games/balance_config",
    "games/bots",
    "bots",
    "remote",
    "analysis/best_response",
    "analysis/engine",
    "analysis/arena",
    "analysis/balance",
    "analysis/coach",
    "evals",
    "api",
    "rl",
    "check",
    "web",
    "cli",
)
WEB = ("web/", "cli/commands/bench/serve")
MCP = "cli/commands/mcp/"
EVALS = ("evals/", "bots/model.py", "cli/commands/eval.py")
ALONE = {
    "numba": ("compiled/",),
    "platformdirs": ("core/paths.py", "compiled/"),
    "numpy": ("compiled/", "rl/"),
    "gymnasium": ("rl/",),
    "dask": ("analysis/engine.py",),
    "distributed": ("analysis/engine.py",),
    "pettingzoo": ("rl/",),
    "pyspiel": ("rl/",),
    "open_spiel": ("rl/",),
    **dict.fromkeys(
        ("starlette", "jinja2", "uvicorn", "websockets", "sqlalchemy", "alembic", "segno", "markdown_it"), WEB
    ),
    "prometheus_client": WEB,
    **dict.fromkeys(("mcp", "mcp_types", "pydantic"), (MCP,)),
    "anyio": (MCP, *EVALS),
    "inspect_ai": EVALS,
    "openai": (),
}
ALONE |= {name: (*ALONE[name], MCP) for name in ("starlette", "uvicorn")}  # the SDK of MCP brings them


def layer(path: Path) -> int:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if parts[0] == "games" and (len(parts) < 3 or parts[-1] == "__init__"):
        return 1
    if len(parts) == 1 and parts[0].startswith("__"):
        return len(LAYERS)
    place = "/".join(("games", *parts[2:]) if parts[0] == "games" else parts)
    fitting = [name for name in LAYERS if place == name or place.startswith(f"{name}/")]
    assert fitting, f"{place} belongs to no layer"
    return LAYERS.index(max(fitting, key=len))


def imports(path: Path) -> list[tuple[str, bool]]:
    """Return each imported module, and whether the import runs at the top of the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        top = node in tree.body
        if isinstance(node, ast.Import):
            found += [(alias.name, top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.module, top)]
            found += [(f"{node.module}.{alias.name}", top) for alias in node.names]
    return found


def home(module: str) -> Path | None:
    """Return the file of a module of ours, or None."""
    path = SOURCE.parent / Path(*module.split("."))
    if path.with_suffix(".py").exists():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").exists() and module != "piste.games" else None


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downward(path: Path) -> None:
    for module, _ in imports(path):
        if not module.startswith("piste"):
            continue
        target = home(module)
        if target is None or target == SOURCE / "__init__.py":
            continue
        assert layer(target) <= layer(path), f"{path.name} imports {module} from a higher layer"
        both_in_games = "games" in path.parts and "games" in target.parts
        if both_in_games and target.name != "__init__.py":
            one, other = (place.relative_to(SOURCE).parts[1] for place in (target, path))
            assert one == other, f"{path} reaches into another game's room"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_libraries_stay_where_they_belong(path: Path) -> None:
    place = str(path.relative_to(SOURCE).as_posix())
    for module, top in imports(path):
        first = module.split(".")[0]
        if first in ALONE:
            solver = first == "numpy" and LAYERS[layer(path)] in ("games/solver", "solvers")
            assert solver or place.startswith(ALONE[first]), f"{place} imports {module}"
            whole = solver or place.startswith(
                ("rl/", "web/", "evals/", "cli/commands/bench/", MCP, "compiled/vector_games.py")
            )  # loaded by those who have the library
            assert whole or not top, f"{place} imports {module} when it is loaded"
        outside = first not in sys.stdlib_module_names and first not in ("piste", "__future__")
        if place.startswith(("core/", "games/")) and outside:
            assert first in ALONE, f"{place} imports {module}"


@pytest.mark.parametrize("path", sorted((SOURCE / "games").glob("*/rules.py")), ids=lambda p: p.parent.name)
def test_rules_import_nothing_but_bits_and_the_contract(path: Path) -> None:
    allowed = {"__future__", "typing", "piste.core.bits", "piste.core.protocols"}
    used = {module for module, _ in imports(path)}
    assert {module for module in used if module.rpartition(".")[0] not in allowed} <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_stay_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def loaded(code: str) -> set[str]:
    """Return what a fresh interpreter has loaded after running some code."""
    script = f"import sys\n{code}\nprint('loaded:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("loaded: ")[2].split())


def test_import_piste_loads_next_to_nothing() -> None:
    assert {name for name in loaded("import piste") if name.startswith("piste")} == {"piste"}


def test_playing_one_game_loads_no_other() -> None:
    modules = loaded("import piste; piste.open_table('prime-duel', seed='x')")
    assert "piste.games.prime_duel.rules" in modules
    assert not any(name.startswith("piste.games.") and "prime_duel" not in name for name in modules)
    assert not {"numpy", "numba", "rich", "asyncio", "importlib.metadata"} & modules


def test_commands_for_the_terminal_load_nothing_of_the_web() -> None:
    for words in (["--help"], ["games"], ["serve", "--help"], ["mcp", "--help"], ["eval", "--help"]):
        code = f"import piste.cli.main\ntry:\n    piste.cli.main.main({words})\nexcept SystemExit:\n    pass"
        assert not {"asyncio", *(name for name in ALONE if {*WEB, *EVALS, MCP} & {*ALONE[name]})} & loaded(code)


def test_a_missing_extra_is_answered_with_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from piste.core.game import find\nfrom piste.compiled.compiler import game_kernels\n"
        "try:\n    game_kernels(find('prime-duel'), compiled=True)\n"
        "except Exception as e:\n    print(type(e).__name__, e, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("MissingExtraError")
    assert "pip install 'piste[fast]'" in done.stderr


def test_where_compiled_code_cannot_be_kept_it_is_not_kept_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "piste").write_text("a file where the folder should be")
    code = (
        "from piste.core.game import find\nfrom piste.compiled.compiler import game_kernels\n"
        "k = game_kernels(find('positive-negative'), compiled=True)\n"
        "assert k.to_act(k.start(find('positive-negative').options())) == -1\n"
        "assert not k.seeded._cache.__class__.__name__.startswith('FunctionCache')"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_numba_the_kernels_run_interpreted() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from piste.core.game import find\nfrom piste.compiled.simulate import simulate\n"
        "game = find('prime-duel')\n"
        "assert simulate(game, game.options(), 1, compiled=False).steps > 10"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
