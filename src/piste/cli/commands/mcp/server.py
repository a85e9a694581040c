"""The tools that a client of the Model Context Protocol has, on the official SDK."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

from piste import __version__
from piste.analysis.coach.puzzles import LEVELS, Puzzle, any_puzzle, puzzle
from piste.analysis.coach.review_cache import cached_review
from piste.cli.commands.mcp.jobs import Jobs, Report
from piste.cli.commands.mcp.local_games import LocalGames
from piste.cli.commands.mcp.remote_games import PREFIX, RemoteGames
from piste.cli.commands.mcp.seat_text import games_text, puzzle_text, review_text, verdict_text
from piste.cli.commands.mcp.seated_game import Naming, SeatedGame
from piste.cli.commands.puzzle import read_answer
from piste.cli.rules_page import rules_text
from piste.core.errors import OptionError, PisteError
from piste.core.evaluation import Progress, quiet
from piste.core.extras import need, solving
from piste.core.game import Game, find, listed, quoted

RULES_WIDTH = 100
MAX_TEXT = 200
"""How long a name, an option or an answer may be."""

MAX_REFUSAL = 1000
"""How long a refusal may be: another server's words may be in it."""

INSTRUCTIONS = """\
Five duels of numbers and cards, against bots or at a table of a piste server.
You have one seat and see what it may see.
list_games and rules say what there is. new_game begins a game and returns its game_id and the first position.
decide takes one of the decisions that are listed, lets the others play, and returns what happened and the
next position. When the game is over, review says what each of your decisions cost. look shows the position again.
puzzle asks for the best decision in a single position."""

logger = logging.getLogger(__name__)

GameName = Annotated[str, Field(description="The name of a game, such as prime-duel.", max_length=MAX_TEXT)]
GameId = Annotated[str, Field(description="As new_game or join returned it.", max_length=MAX_TEXT)]
Options = Annotated[
    dict[str, int | str],
    Field(
        description='Options of the game by name, such as {"top": 7}. Without any, the usual rules.', max_length=20
    ),
]

READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
JOIN = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)


class GameServer(MCPServer[Any]):
    """The games of one server process as tools; every refusal is a tool error with a sentence."""

    def __init__(self, naming: Naming, *, joins: bool = True) -> None:
        """Let games be named so that clients see no others than they should; `joins` offers seats elsewhere."""
        super().__init__("piste", title="piste", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING")
        self.jobs = Jobs()
        self.games = LocalGames(self.jobs, naming)
        self.tables = RemoteGames(self.jobs, naming)
        add_tools(self)
        if joins:
            add_join(self)

    def get(self, game_id: str) -> SeatedGame:
        """Return a game by name."""
        name = game_id.strip()
        return self.tables.get(name) if name.startswith(f"{PREFIX}-") else self.games.get(name)

    @asynccontextmanager
    async def reached(
        self, game_id: str, context: Context[Any, Any], seconds: float | None = None
    ) -> AsyncIterator[tuple[SeatedGame, str]]:
        """Hold a game for one call, after the others have decided; with it comes who is still waited for."""
        found = self.get(game_id)
        async with found.lock:
            yield found, await found.advance(reporter(context), seconds)

    def close(self) -> None:
        """Let go of the games and of what is computed; the games are kept."""
        self.games.close()
        self.jobs.close()

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as e:
            return CallToolResult(content=[TextContent(type="text", text=self._sentence(name, e))], is_error=True)

    def _sentence(self, name: str, error: ToolError) -> str:
        """Return what was wrong with a call, for whoever made it."""
        cause = error.__cause__
        if isinstance(cause, PisteError):
            return str(cause)[:MAX_REFUSAL]
        if isinstance(cause, ValidationError):
            return " ".join(argument_fault(name, fault) for fault in cause.errors())
        if isinstance(error, UnexpectedToolError):
            logger.error("The tool %s failed.", name, exc_info=cause)
            return f"{name} failed through a fault of piste itself. The log of the server says more."
        tools = ", ".join(tool.name for tool in self._tool_manager.list_tools())
        return f"There is no tool {quoted(name)}. The tools are: {tools}."


def argument_fault(tool: str, fault: Any) -> str:
    """Return a sentence on one argument that does not fit."""
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"{tool} needs the argument {where}."
    why = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}"
    return f"The argument {where} of {tool} cannot be {quoted(fault['input'])}: {why}."


def reporter(context: Context[Any, Any]) -> Report:
    """Return what sends progress notifications, for clients that asked for them."""

    async def report(done: float, total: float, message: str) -> None:
        await context.report_progress(done, total, message)

    return report


def add_tools(server: GameServer) -> None:
    """Add what every client has."""
    tool, games, jobs = server.tool, server.games, server.jobs

    @tool(title="List the games", annotations=READ, structured_output=False)
    async def list_games() -> str:
        """List the games with their options and the opponents to choose from, and your games that go on."""
        running = games.running()
        return "\n\n".join([games_text(), *([f"Your games that go on: {', '.join(running)}"] if running else [])])

    @tool(title="Rules of a game", annotations=READ, structured_output=False)
    async def rules(
        game: GameName,
        everything: Annotated[bool, Field(description="Options, an example and every ruling, too.")] = False,
    ) -> str:
        """Return the rules of a game."""
        text = rules_text(find(game), RULES_WIDTH, whole=everything)
        return text if everything else text.rpartition("\n\n")[0]

    @tool(title="Begin a game", annotations=CHANGE, structured_output=False)
    async def new_game(
        context: Context[Any, Any],
        game: GameName,
        opponent: Annotated[
            str, Field(description="The level to play against: random, novice, steady, strong or perfect.")
        ] = "steady",
        options: Options = {},  # noqa: B006 (never changed)
        seed: Annotated[
            str | None, Field(description="Deal from this seed, to play the same deal again.", max_length=MAX_TEXT)
        ] = None,
    ) -> str:
        """Begin a game against bots. Returns its game_id, a reminder of the rules and the first position."""
        begun = games.begin(game, opponent, options, seed)
        async with begun.lock:
            thinking = await begun.advance(reporter(context))
            return f"{begun.introduction()}\n\n{begun.look(thinking)}"

    @tool(title="Look at a game", annotations=READ, structured_output=False)
    async def look(
        context: Context[Any, Any],
        game_id: GameId,
        whole_log: Annotated[bool, Field(description="Everything that your seat was told since the deal.")] = False,
    ) -> str:
        """Show what your seat sees: what happened since your last decision, the position, your decisions."""
        async with server.reached(game_id, context) as (found, thinking):
            return found.look(thinking, whole_log=whole_log)

    @tool(title="Decide", annotations=CHANGE, structured_output=False)
    async def decide(
        context: Context[Any, Any],
        game_id: GameId,
        decision: Annotated[
            str, Field(description="One of the decisions that are listed, or resign.", max_length=MAX_TEXT)
        ],
        question: Annotated[
            int | None,
            Field(description="The number of the question this answers: refused if it is another one now."),
        ] = None,
    ) -> str:
        """Take a decision for your seat, let the others decide, and return what happened and the next position."""
        async with server.reached(game_id, context, 0) as (found, _):
            await found.decide(decision, question)
            return found.look(await found.advance(reporter(context)))

    @tool(title="Ask for a hint", annotations=CHANGE, structured_output=False)
    async def hint(context: Context[Any, Any], game_id: GameId) -> str:
        """Return what the strongest bot would decide for your seat now. The record of the game notes it."""
        async with server.reached(game_id, context) as (found, _):
            return await found.hint(reporter(context))

    @tool(title="Review a finished game", annotations=READ, structured_output=False)
    async def review(
        context: Context[Any, Any],
        game_id: GameId,
        all_seats: Annotated[bool, Field(description="The decisions of the others, too.")] = False,
    ) -> str:
        """Say what each of your decisions cost in points of winning chance, and what would have been better."""
        async with server.reached(game_id, context, 0) as (found, _):
            record, view = await found.record(), found.view
        need(solving(find(view.game), view.options, "A review"))
        key = (found.name, "review")
        job = jobs.job(key, "reviewing", cached_review, record, None)
        if not await jobs.finished(key, reporter(context)):
            return f"The review is not finished ({job.state}). Ask again to go on waiting."
        return review_text(jobs.result(key), range(len(record.head.seats)) if all_seats else (view.seat,))

    @tool(title="A puzzle", annotations=READ, structured_output=False)
    async def puzzle(
        context: Context[Any, Any],
        game: GameName,
        number: Annotated[int, Field(description="Which puzzle; each number is another one.", ge=1, le=10**9)] = 1,
        level: Annotated[
            str | None, Field(description="How clear it is: easy, medium or hard.", max_length=MAX_TEXT)
        ] = None,
        answer: Annotated[
            str | None, Field(description="Your answer, to be told whether it is right.", max_length=MAX_TEXT)
        ] = None,
        options: Options = {},  # noqa: B006 (never changed)
        seed: Annotated[str, Field(description="Another seed has other puzzles.", max_length=MAX_TEXT)] = "1",
    ) -> str:
        """Show a position in which one decision is clearly the best; called again with an answer, judge it."""
        kind = find(game)
        settings = kind.options(options)
        if level is not None and level not in LEVELS:
            raise OptionError(f"There is no level {quoted(level)} of puzzles. It is {listed(list(LEVELS), 'or')}.")
        need(solving(kind, settings, "A puzzle"))
        key = (kind.name, settings, seed, number, level)
        job = jobs.job(key, "looking for a puzzle", find_puzzle, kind, settings, seed, number, level)
        if not await jobs.finished(key, reporter(context)):
            return f"The puzzle is not found yet ({job.state}). Ask again to go on waiting."
        found = jobs.result(key)
        if answer is None:
            return f"{puzzle_text(kind, found)}\nCall puzzle again with the same arguments and your answer."
        return verdict_text(kind, found, read_answer(kind, found, answer))


def add_join(server: GameServer) -> None:
    """Add what only clients of this computer have: others could have any address asked from here."""

    @server.tool(title="Join a table", annotations=JOIN, structured_output=False)
    async def join(
        context: Context[Any, Any],
        link: Annotated[
            str, Field(description="The link of a table, such as http://localhost:8000/t/CODE, or of a seat.")
        ],
        name: Annotated[str, Field(description="What you are called there.", max_length=24)] = "Language model",
    ) -> str:
        """Take a seat at a table of a piste server, against people, programs or bots. Returns its game_id."""
        joined = await server.tables.join(link, name)
        async with joined.lock:
            return joined.look(await joined.advance(reporter(context)))


def find_puzzle(
    game: Game, options: Any, seed: str, number: int, level: str | None, progress: Progress = quiet
) -> Puzzle:
    """Return a puzzle of a level, or of whichever the game has; a worker process calls it."""
    if level is None:
        return any_puzzle(game, options, seed, number, progress)[1]
    return puzzle(game, options, seed, number, level, progress)
