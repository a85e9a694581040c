"""What pages are made of: every control named, nothing inline, nothing from elsewhere, small, and always the same."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest

from piste.core.dealer import ChanceSource, Commitment
from piste.core.game import Game, find, names, read_option
from piste.core.protocols import SPECTATOR
from piste.core.record import Head
from piste.core.replay import new_head
from piste.core.scene import SCORE, Area, Standing, Token, offered_decisions
from piste.core.steps import Resignation
from piste.web.app import NO_GAMES
from piste.web.network import Root
from piste.web.tables.bot_runner import ReviewStatus
from piste.web.tables.room import Room
from piste.web.tables.seats import PERSON, Seat
from piste.web.tables.transcript import LogLine
from piste.web.views.drawing import draw_area
from piste.web.views.parts import PARTS, ShownTable
from piste.web.views.rendering import (
    LOG_LINES_ON_PAGE,
    MAX_LOG_LINES,
    STATIC,
    PageRenderer,
    TableListing,
)
from piste.web.views.replay import replay_step
from piste.web.views.study import Value
from piste.web.views.view_models import RenderContext, TableViewModel, Viewer, view_model
from tests.game_setups import FULL, ODD, Kind

PAGES = PageRenderer()
HOUSE = RenderContext(
    now=1000.0, patience=60.0, root=Root("http://cards.test"), seat_link="http://cards.test/s/CODE/0/token"
)
VOID = {"meta", "link", "input", "img", "br", "hr", "path", "rect", "polyline"}
NASTY = ("<script>alert(1)</script>", "\"onload='x'", "a\u202eb & <b>", "{{ model }}")


@dataclass
class Node:
    """One element, with what stands in it."""

    tag: str
    attributes: dict[str, str]
    inside: list[Node] = field(default_factory=list)
    text: str = ""

    def every(self) -> Iterator[Node]:
        for node in self.inside:
            yield node
            yield from node.every()

    def all_text(self) -> str:
        return self.text + "".join(node.all_text() for node in self.inside)


class Reader(HTMLParser):
    """Reads a page and insists that what is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(page)
        self.close()
        assert len(self.open) == 1, f"not closed: {self.open[-1].tag}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        assert len(node.attributes) == len(attrs), f"an attribute twice: {attrs}"
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data


def read(page: str) -> list[Node]:
    return list(Reader(page).root.every())


def check(page: str) -> list[Node]:
    """Return the elements of a page that keeps every rule that all pages keep."""
    nodes = read(page)
    ids = [node.attributes["id"] for node in nodes if "id" in node.attributes]
    assert len(ids) == len(set(ids)), "an id twice"
    labelled = {node.attributes["for"] for node in nodes if node.tag == "label" and "for" in node.attributes}
    wrapped = {id(one) for node in nodes if node.tag == "label" for one in node.every()}
    assert labelled <= set(ids)
    for node in nodes:
        for name, value in node.attributes.items():
            assert name != "style" and not name.startswith("on"), f"inline: {name}={value}"  # noqa: PT018
            if name in ("aria-labelledby", "aria-describedby", "aria-controls", "form"):
                assert value in ids, f"{name} names nothing: {value}"
            if name in ("src", "action", "formaction") or (name == "href" and node.tag == "link"):
                assert re.match(r"/(?!/)", value), f"from elsewhere: {value}"
            if name == "href" and node.tag == "a":
                outward = value.startswith("https://") and node.attributes.get("rel") == "noreferrer noopener"
                ours = value.startswith(("/", "#", "?", "http://cards.test/"))
                assert (ours and not value.startswith("//")) or outward, f"to elsewhere: {value}"
        assert node.tag != "style"
        if node.tag == "script":
            assert not node.text
            assert node.attributes["src"].startswith("/static/")
        if node.tag in ("input", "select", "textarea") and node.attributes.get("type") != "hidden":
            named = node.attributes.get("id") in labelled or id(node) in wrapped
            assert named, f"no label: {node.attributes}"
        if node.tag in ("button", "a", "summary"):
            assert node.all_text().strip() or node.attributes.get("aria-label"), f"no name: {node}"
        if node.tag == "img":
            assert node.attributes["alt"]
    return nodes


def listed_tables(tables: list[TableListing]) -> str:
    return PAGES.page("list", title="Your games", tables=tables, empty=NO_GAMES)


def room_of(kind: Kind, seed: str, called: tuple[str, ...] = ("Ana", "Ben", "Cyrus", "Dorothea")) -> Room:
    """Return a room where a game has just been dealt from a seed."""
    count = find(kind.game).rules.seats(find(kind.game).options(kind.options))
    seats = [Seat(PERSON, called[i], players=frozenset({f"player {i}"})) for i in range(count)]
    room = Room("CODE", find(kind.game), kind.options, seats, "player 0", 0.0, 0.0)

    def opener(of: Room) -> tuple[Head, ChanceSource | None]:
        head = new_head(kind.game, kind.options, seed=seed, seats=of.names())
        return head._replace(commitment=Commitment.to(seed, bytes(32))), None

    room.deal(opener)
    return room


def moments(kind: Kind, seed: str, most: int = 400) -> Iterator[Room]:
    """Yield one room again and again: at the deal, after each decision of a random game, at its end."""
    room, chooser = room_of(kind, seed), random.Random(seed)
    for _ in range(most):
        yield room
        assert room.table is not None
        actor = room.table.to_act
        if actor is None:
            return
        room.decide(actor, chooser.choice(room.table.view(actor).decisions), room.table.number)
    while not room.over:
        room.resign(next(seat for seat in range(len(room.seats)) if not gone(room, seat)))
        yield room


def last(rooms: Iterator[Room]) -> Room:
    return deque(rooms, maxlen=1).pop()


def gone(room: Room, seat: int) -> bool:
    assert room.table is not None
    return Resignation(seat) in room.table.history()


def faces_of(room: Room) -> Iterator[TableViewModel]:
    for seat in (SPECTATOR, *range(len(room.seats))):
        yield view_model(room, Viewer(seat, host=seat == 0), HOUSE)


@pytest.mark.parametrize("kind", [*FULL, *ODD], ids=str)
def test_every_moment_of_a_random_game_is_a_sound_page_for_every_audience(kind: Kind) -> None:
    for at, room in enumerate(moments(kind, f"sound {kind}", most=24)):
        for one in faces_of(room) if at % 4 == 0 or room.over else ():
            check(PAGES.table_page(one))


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_every_open_decision_is_one_button_that_sends_its_short_name(kind: Kind) -> None:
    for room in moments(kind, f"buttons {kind}", most=16):
        for one in faces_of(room):
            nodes = [node for node in read("".join(PAGES.parts(one).values())) if node.tag == "button"]
            sent = [node.attributes["value"] for node in nodes if node.attributes.get("name") == "decision"]
            assert sorted(sent) == sorted(choice.decision for choice in one.choices)
            ids = {node.attributes["id"] for node in nodes if node.attributes.get("name") == "decision"}
            assert ids == {f"d-{choice.action}" for choice in one.choices}
            picked = {node.attributes["id"] for node in nodes if "pick" in node.attributes.get("class", "").split()}
            assert picked == {f"d-{action}" for action in offered_decisions(one.areas)}


def test_a_page_is_the_same_for_the_same_face_and_another_for_another() -> None:
    for kind in FULL:
        one, again = (view_model(room_of(kind, "again"), Viewer(0), HOUSE) for _ in range(2))
        assert one == again
        assert PAGES.table_page(one) == PageRenderer().table_page(again)
        assert PAGES.parts(one) == PAGES.parts(again)
        assert PAGES.parts(one) != PAGES.parts(view_model(room_of(kind, "another"), Viewer(0), HOUSE))


@pytest.mark.parametrize("kind", FULL, ids=str)
@pytest.mark.parametrize("by_area", [False, True])
def test_what_changes_of_a_shown_table_makes_it_what_is_drawn_anew(kind: Kind, by_area: bool) -> None:
    shown = [ShownTable(PAGES.draw, by_area) for _ in range(5)]
    pages: list[dict[str, str]] = [{} for _ in shown]
    for room in moments(kind, "whole", 40):
        for one, table, page in zip(faces_of(room), shown, pages, strict=False):
            apply_changes(page, table.update(one))
            assert page == PAGES.parts(one)
            assert table.update(one) == {"parts": {}}


AREA = re.compile(r'(?s)<section class="area.*?</section>\n')


def apply_changes(page: dict[str, str], changes: dict[str, Any]) -> None:
    """Put into a page what it was sent, as the script does."""
    assert all(page.get(name) != html for name, html in changes["parts"].items()), "sent without need"
    page |= changes["parts"]
    if "areas" in changes:
        before, kept = AREA.findall(page["scene"]), [one for one in changes["areas"] if isinstance(one, int)]
        assert kept == sorted(set(kept)), "what stays is not moved"
        after = [before[one] if isinstance(one, int) else one for one in changes["areas"]]
        assert all(
            one not in before or before.count(one) < after.count(one) for one in changes["areas"] if one in after
        )
        head = page["scene"].partition("<section")[0] if before else page["scene"].removesuffix("</div>\n")
        page["scene"] = f"{head}{''.join(after)}</div>\n"


def test_parts_are_the_eight_and_the_page_holds_them_as_they_are() -> None:
    room = room_of(Kind("mccoy-duel", {}), "parts")
    one = view_model(room, Viewer(0, host=True), HOUSE)
    parts = PAGES.parts(one)
    wanted = ("people", "status", "round", "scene", "choices", "notes", "offers", "fair")
    assert tuple(parts) == tuple(PARTS) == wanted
    page = PAGES.table_page(one)
    for name, html in parts.items():
        assert f'<div id="part-{name}"' in page
        assert html in page


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_a_table_with_all_that_it_loads_weighs_less_than_a_hundred_kilobytes(kind: Kind) -> None:
    heaviest = 0
    room = last(moments(kind, f"weight {kind}"))
    for one in faces_of(room):
        page = PAGES.table_page(one)
        heaviest = max(heaviest, len(page.encode()))
    files = set(re.findall(r"/static/(\w+\.(?:js|css))", page))
    assert {"style.css", "app.js", "socket.js"} <= files
    loaded = sum(len(gzip.compress((STATIC / name).read_bytes())) for name in files)  # as the server sends them
    assert loaded < 50_000
    assert heaviest + loaded < 100_000


def test_a_long_log_is_cut_on_the_page_and_whole_where_it_is_asked_for() -> None:
    room = last(moments(Kind("zero-sum-grid", {"turns": 9}), "long"))
    lines = tuple(LogLine(n, f"Line {n}", "said") for n in range(MAX_LOG_LINES + 300))
    one = view_model(room, Viewer(0), HOUSE)._replace(log=lines)
    assert len(one.log) > LOG_LINES_ON_PAGE
    start, newest = '<li id="line-0"', f'<li id="line-{len(one.log) - 1}"'
    cut, whole = PAGES.table_page(one), PAGES.table_page(one, whole=True)
    assert newest in cut
    assert start not in cut
    assert f"{len(one.log) - LOG_LINES_ON_PAGE} earlier lines" in cut
    assert len(one.log) > MAX_LOG_LINES
    assert start not in whole
    assert newest in whole
    assert whole.count('<li id="line-') == MAX_LOG_LINES
    seen, page = {int(n) for n in re.findall(r'id="line-(\d+)"', whole)}, whole
    while found := re.search(r'href="\?log=all&amp;to=(\d+)"', page):
        page = PAGES.table_page(one, whole=True, to=int(found[1]))
        assert page.count('<li id="line-') <= MAX_LOG_LINES + LOG_LINES_ON_PAGE
        assert newest in page
        seen |= {int(n) for n in re.findall(r'id="line-(\d+)"', page)}
        if f'href="?log=all&amp;to={found[1]}"' in page:
            break
    assert seen == {*range(len(one.log))}


@pytest.mark.parametrize("name", NASTY)
def test_a_hostile_name_is_only_a_name(name: str) -> None:
    called = (name, "Ben", name, "Di")
    room = room_of(Kind("mccoy-duel", {"players": 4}), "nasty", called)
    found = [*faces_of(room)]
    room.resign(1)
    pages = [PAGES.table_page(one, name=name) for one in (*found, *faces_of(room))]
    waiting = Room("CODE", find("prime-duel"), {}, [Seat(PERSON, name), Seat()], "", 0.0, 0.0)
    pages += [PAGES.table_page(one, name=name) for one in faces_of(waiting)]
    pages += [PAGES.home(name), PAGES.game_page(find("prime-duel"), name, name, {"target": name})]
    pages += [
        PAGES.page("seat", title="Duel", game=find("mccoy-duel"), name=name, action="/s/CODE/0/token", people=called)
    ]
    pages += [
        PAGES.error_page(404, name),
        listed_tables([TableListing("/t/CODE", "Duel", called, name, delete="/x")]),
    ]
    for page in pages:
        nodes = check(page)
        assert all(node.attributes.get("src", "").startswith("/static/") for node in nodes if node.tag == "script")
        assert "<script>alert" not in page
        assert not [node for node in nodes if node.tag == "b" and not node.all_text().strip()]
    seat = next(node for node in read(pages[0]) if node.tag == "bdi")  # so that it turns nothing around it
    assert seat.all_text() == name


def test_the_pages_around_a_table_are_sound() -> None:
    listing = TableListing("/t/CODE", "Duel", ("Ana", "Ben"), "Your turn", "yesterday", True, "/t/CODE/delete")
    pages = [PAGES.home(), PAGES.home("Ana"), listed_tables([]), listed_tables([listing]), listed_tables([listing])]
    pages += [PAGES.error_page(404, "There is no such page."), listed_tables([])]
    pages += [
        PAGES.page("seat", title="Duel", game=find("mccoy-duel"), name="Ana", action="/s/CODE/0/token", people=())
    ]
    for game in map(find, names()):
        pages += [PAGES.game_page(game, "Ana"), PAGES.rules_page(game)]
    for page in pages:
        nodes = check(page)
        assert [node.tag for node in nodes].count("h1") == 1
        assert [node.tag for node in nodes].count("main") == 1


def test_home_offers_every_game_with_every_level_and_a_friend() -> None:
    nodes = check(PAGES.home("Ana"))
    forms = [node for node in nodes if node.tag == "form"]
    offered: dict[str, set[str]] = {}
    for form in forms:
        assert form.attributes["action"] == "/new"
        values = {node.attributes["name"]: node for node in form.every() if "name" in node.attributes}
        assert values["name"].attributes["value"] == "Ana"
        versus = [node.attributes["value"] for node in values["versus"].every()] or [
            values["versus"].attributes["value"]
        ]
        offered.setdefault(values["game"].attributes["value"], set()).update(versus)
    assert set(offered) == set(names())
    assert all(
        {"friend", "lesson", "random", "novice", "steady", "strong", "perfect"} == levels
        for levels in offered.values()
    )


def test_a_page_of_options_offers_them_all_and_keeps_what_was_refused() -> None:
    for game in map(find, names()):
        page = PAGES.game_page(game, "Ana", "That does not go.", {"top": "99"})
        nodes = check(page)
        asked = {node.attributes["name"] for node in nodes if node.tag in ("input", "select")}
        options = {f"option-{option.name}" for option in game.notation.OPTIONS if option.name != "players"}
        assert {name for name in asked if name.startswith("option-")} == options
        assert "That does not go." in page
        if "option-top" in options:
            assert 'value="99"' in page or "selected>" in page


@pytest.mark.parametrize("name", names())
def test_a_form_asks_in_peoples_words_and_sends_ids(name: str) -> None:
    game = find(name)
    page = PAGES.game_page(game)
    fields = {node.attributes.get("name"): node for node in check(page)}
    for option in game.notation.OPTIONS:
        assert option.label
        if option.each is None and option.name != "players":
            assert f"<b>{option.label}</b>" in page
            field = fields[f"option-{option.name}"]
            shown = {node.attributes["value"]: node.text for node in field.every()}
            assert all(read_option(option, value) in range(option.low, option.high + 1) for value in shown)
            assert all(shown[id] != id for id in option.names if id != "any"), shown
    assert "harvest" not in re.sub(r"<select.*?</select>", "", page, flags=re.DOTALL).lower()
    refused = PAGES.game_page(game, error="The option 'top' cannot be '99'.", fields={"top": "99"})
    if "top" in game.rules.Options._fields:
        assert "“Highest" in refused
        assert "option &#39;top&#39;" not in refused


def test_the_form_of_duel_offers_no_match_of_an_even_number_of_rounds() -> None:
    field = re.search(r'<select id="option-rounds".*?</select>', PAGES.game_page(find("mccoy-duel")))
    assert field is not None
    assert re.findall(r'value="(\d)"', field[0]) == ["1", "3", "5", "7", "9"]
    assert ">best of 5 rounds<" in field[0]


def test_rules_hold_no_markup_of_their_own_and_their_links_stay_in_the_house() -> None:
    for game in map(find, names()):
        part = PAGES.rules_page(game, part=True)
        assert "<!doctype" not in part
        nodes = read(part)
        assert {"p", "table", "li"} <= {node.tag for node in nodes}
        ids = {node.attributes["id"] for node in nodes if "id" in node.attributes}
        for node in nodes:
            target = node.attributes.get("href", "")
            assert ".md" not in target
            if target.startswith("#"):
                assert target[1:] in ids, f"{game.name} has no {target}"
            if target.startswith("/"):
                assert target.removeprefix("/rules/") in names()
            if node.tag == "table" and "grid" not in node.attributes.get("class", ""):
                assert node.attributes["tabindex"] == "0"  # whoever has no mouse must be able to scroll it


def test_rules_show_pictures_first_the_rest_under_details_and_no_program() -> None:
    for game in map(find, names()):
        nodes = check(PAGES.rules_page(game))
        tags = [node.tag for node in nodes]
        assert "pre" not in tags
        assert tags.count("details") == 1
        assert len([node for node in nodes if node.attributes.get("class", "") == f"areas {game.name}"]) >= 2
        text = PAGES.rules_page(game)
        shown, _, details = text.partition("<details")
        assert "Play a first game that teaches" in shown
        assert "import piste" not in text
        assert ">>>" not in text
        assert "Rulings" in details
        assert "Rulings" not in shown


def test_a_game_without_pictures_shows_its_rules_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find("prime-duel"), "lesson", None)
    text = PAGES.rules_page(find("prime-duel"))
    assert "<details" not in text
    assert "Rulings" in text


def test_addresses_of_static_files_change_with_what_is_in_them() -> None:
    page = PAGES.home()
    for node in read(page):
        address = node.attributes.get("href" if node.tag == "link" else "src", "")
        if address.startswith("/static/"):
            name, _, version = address.removeprefix("/static/").partition("?v=")
            assert (STATIC / name).is_file()
            assert version == PAGES.version
    assert re.fullmatch(r"[0-9a-f]{12}", PAGES.version)


def review_of(room: Room) -> str:
    """Return a review in the coach's form: half a chance all the way, one blunder."""
    assert room.table is not None
    steps, first = len(room.table.history()), replay_step(room, 0, SPECTATOR, None).first
    labels = [room.game.seat_name(seat) for seat in range(room.table.seats)]
    blunder = {
        "step": first + 1, "seat": labels[0], "decision": "-3", "best": "keep", "loss": 0.2,
        "label": "blunder", "why": "it <hurts>",
    }  # fmt: skip
    chances = [{"step": step, **dict.fromkeys(labels, 0.5)} for step in range(steps + 1)]
    return json.dumps({"chances": chances, "decisions": [blunder], "certainty": "Every number is exact."})


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_a_replay_is_sound_at_every_step_and_says_what_the_coach_says(kind: Kind) -> None:
    room = last(moments(kind, f"replay {kind}", most=12))
    assert room.table is not None
    review = review_of(room)
    first, steps = replay_step(room, 0, SPECTATOR, None).first, len(room.table.history())
    for step in range(first, steps + 1):
        found = replay_step(room, step, step % 3 - 1, review)
        page = PAGES.replay_page(found)
        nodes = check(page)
        lines = [node for node in nodes if node.tag == "polyline"]
        one = -1 < step % 3 - 1 < room.table.seats
        assert len(lines) == len({node.attributes["class"] for node in lines}) == (1 if one else room.table.seats)
        saw = escape(room.names()[step % 3 - 1]) if one else "each"
        assert f"Chance of winning, as {saw} saw it" in page
        assert ("Blunder" in page) == (step == first + 2)
        assert "It &lt;hurts&gt;." in page or step != first + 2
        for part in PAGES.replay_page(found, part=True).split('\n<div id="part-moment">'):
            assert part in page
        assert "<li></li>" not in page
        assert f"Step {step - first} of {steps - first}" in page
    waiting = PAGES.replay_page(replay_step(room, 0, 0, None))
    check(waiting)
    assert 'id="looking"' in waiting
    assert '<noscript><meta http-equiv="refresh"' in waiting


def test_a_review_fills_in_decision_by_decision_while_the_coach_looks() -> None:
    room = last(moments(FULL[0], "so far", most=12))
    whole = json.loads(review_of(room))
    begun = json.dumps({"chances": whole["chances"][:2], "decisions": whole["decisions"]})
    page = PAGES.replay_page(replay_step(room, 2, -1, None, ReviewStatus(3, 12, begun)))
    check(page)
    assert "1 decision judged so far" in page
    assert 'value="0.250" max="1"' in page
    assert "Blunder" in page
    assert "<polyline" in page


def test_no_cost_is_claimed_of_a_loss_within_the_margin() -> None:
    room = last(moments(FULL[0], "so far", most=12))
    whole = json.loads(review_of(room))
    whole["decisions"][0] |= {"loss": 0.093, "within": 0.08, "label": None}
    page = PAGES.replay_page(replay_step(room, 2, -1, json.dumps(whole)))
    assert "No clear difference" in page
    assert "within the margin: 9.3 ± 16.0\u00a0%" in page
    assert "It cost" not in page
    assert "hurts" not in page
    whole["decisions"][0] |= {"within": 0.01, "label": "slip"}
    page = PAGES.replay_page(replay_step(room, 2, -1, json.dumps(whole)))
    assert "It cost <b>9.3 ± 2.0\u00a0%</b> of winning chance." in page


def test_where_a_game_pays_other_amounts_the_replay_speaks_of_payoff() -> None:
    room = last(moments(FULL[0], "so far", most=12))
    whole = json.loads(review_of(room)) | {"largest_payoff": 13.0}
    whole["decisions"][0] |= {"loss": 0.1, "within": 0.0, "margin": 0.0, "label": "slip"}
    page = PAGES.replay_page(replay_step(room, 2, -1, json.dumps(whole)))
    assert "It cost <b>2.60</b> of expected payoff." in page
    assert "<i>+13</i><i>0</i><i>−13</i>" in page
    for wrong in ("winning chance", "Winning chance", "hance of winning", "half a win", "<i>50 %</i>"):
        assert wrong not in page


def test_what_decisions_are_worth_is_a_payoff_where_a_game_pays_other_amounts() -> None:
    for in_payoff, less, shown, what in (
        (False, "4.0 %", "51.0 %", "the chance of winning, with a draw as half a win"),
        (True, "4.00", "-1.00", "the expected payoff"),
    ):
        best = Value("fold", "Fold", "", 0.5, shown, "", "", "", "", True, False, in_payoff)
        worse = best._replace(decision="call", name="Call", less=less, best=False)
        template = PAGES.environment.get_template("parts/values.html")
        page = template.render(values=(best, worse), go="")
        assert f"The number at the right is {what}." in page
        assert f"{less.replace(' ', chr(0xA0))} less than the best" in page


def test_d22_the_form_of_duel_lets_its_host_choose_a_colour() -> None:
    page = PAGES.game_page(find("mccoy-duel"), fields={"colours": "blue"})
    offered = re.search(r'<label for="option-colours">Your colour</label><select [^>]*>(.*?)</select>', page)
    assert offered is not None
    assert re.findall(r'<option value="(\w+)"( selected)?>', offered[1]) == [
        ("amber", ""),
        ("blue", " selected"),
        ("crimson", ""),
        ("dun", ""),
    ]
    assert page.count('name="option-colours"') == 1


def test_the_line_and_tips_of_a_table_follow_its_options() -> None:
    room = Room("CODE", find("prime-duel"), {"target": 30}, [Seat(PERSON, "Ann"), Seat()], "", 0.0, 0.0)
    seen = view_model(room, Viewer(0), HOUSE)
    assert "30" in seen.line
    assert any("30" in tip for tip in seen.tips)
    assert not any("50" in text for text in (seen.line, *seen.tips))
    assert "This table is played with other options than the rules below: Winning score: 30." in PAGES.table_page(
        seen
    )


def strip_of(model: TableViewModel) -> list[Node]:
    """Return the players in the strip."""
    return [node for node in read(PAGES.parts(model)["people"]) if "side" in node.attributes.get("class", "").split()]


def classed(node: Node, name: str) -> list[Node]:
    return [one for one in node.every() if name in one.attributes.get("class", "").split()]


@pytest.mark.parametrize("kind", FULL, ids=str)
def test_the_strip_says_scores_pips_colours_and_whose_turn_it_is(kind: Kind) -> None:
    shown = 0
    for room in moments(kind, f"strip {kind}", most=30):
        for one in faces_of(room):
            sides = strip_of(one)
            assert len(sides) == len(room.seats)
            first = max(one.seat, 0)  # one's own side is the first, wherever one sits
            order = (*one.people[first:], *one.people[:first])
            for side, person in zip(sides, order, strict=True):
                seat = person.seat
                assert ("turn" in side.attributes["class"].split()) == person.turn == (seat == room.to_act)
                if person.turn:
                    assert ("Your turn" if seat == one.seat else "to play") in side.all_text()
                if not one.standing.scores:
                    assert not classed(side, "points") + classed(side, "wins") + classed(side, "chip")
                    continue
                score = one.standing.scores[seat]
                assert "".join(node.text for points in classed(side, "points") for node in points.inside[:1]) == (
                    score.points
                )
                assert len(classed(side, "won")) == score.wins
                assert len([node for wins in classed(side, "wins") for node in wins.inside if node.tag == "i"]) == (
                    score.pips
                )
                assert "".join(chip.all_text() for chip in classed(side, "chip")) == score.mark + score.colour
                shown += 1
            count = next(node for node in read(PAGES.parts(one)["people"]) if node.attributes.get("class") == "count")
            wanted = (one.standing.label, one.standing.value, one.standing.note)
            assert [node.text for node in count.inside] == [text for text in wanted if text]
    assert shown or find(kind.game).rules.seats(find(kind.game).options(kind.options)) == 2


def test_a_game_without_a_scene_is_played_with_a_strip_of_names() -> None:
    game = find("prime-duel")
    bare = Game("prime-duel", game.rules, game.notation, game.package)
    bare.__dict__["scene"] = None
    room = room_of(Kind("prime-duel", {"first": 1}), "bare")
    room.game = bare
    one = view_model(room, Viewer(0), HOUSE)
    assert one.standing == Standing()
    assert one.question == "Do you want to keep this card?"
    assert [choice.label for choice in one.choices] == ["Keep", "Discard"]
    assert [node.text for side in strip_of(one) for node in side.every() if node.tag == "bdi"] == ["Ana", "Ben"]
    check(PAGES.table_page(one))


def test_a_card_with_an_ability_says_it_in_a_picture_a_word_and_a_sentence() -> None:
    one = view_model(room_of(Kind("mccoy-duel", {"first": 1}), "able"), Viewer(0), HOUSE)
    nodes = read("".join(PAGES.parts(one).values()))
    cards = [node for node in nodes if "able" in node.attributes.get("class", "").split()]
    hand = next(area for area in one.areas if area.label == "Your hand").cards
    assert len(cards) == len(hand) == 8
    for node, card in zip(cards, hand, strict=True):
        assert [path.attributes["d"] for path in node.every() if path.tag == "path"] == [card.icon]
        assert [word.all_text() for word in classed(node, "word")] == [card.word]
        assert node.attributes["title"] == card.note
        assert [card.note in aloud.all_text() for aloud in classed(node, "sr")] == [True]
    notes = [node.text for node in read(PAGES.parts(one)["notes"]) if node.tag == "dd"]
    assert sorted(notes) == sorted(card.note for card in hand), "without a script and without a mouse"
    assert one.question == "Choose a card of your hand to play"


def test_the_power_to_beat_stands_on_the_tower() -> None:
    room = room_of(Kind("mccoy-duel", {"first": 1}), "able")
    assert room.table is not None
    page = PAGES.parts(view_model(room, Viewer(0), HOUSE))["scene"]
    tower = next(node for node in read(page) if "k-tower" in node.attributes.get("class", "").split())
    (badge,) = classed(tower, "badge")
    assert [node.text for node in badge.inside] == ["Power to beat", "any", "any card may lead"]


def test_a_track_has_every_number_with_primes_and_players_on_it() -> None:
    room = room_of(Kind("prime-duel", {"first": 1}), "track")
    one = view_model(room, Viewer(0), HOUSE)
    track = next(node for node in read(PAGES.parts(one)["scene"]) if node.attributes.get("class") == "track")
    assert [square.text for square in track.inside] == [str(n) for n in range(51)]
    primes = {int(square.text) for square in track.inside if square.attributes.get("class") == "prime"}
    assert primes == {n for n in range(2, 50) if all(n % d for d in range(2, n))}
    assert len(classed(track.inside[0], "token")) == 2
    drawn = next(area for area in one.areas if area.label == "You drew").cards[0].text
    assert classed(track.inside[int(drawn)], "reach")
    assert f"Keep → {drawn}" in PAGES.parts(one)["choices"]


def test_bars_grow_from_zero_to_both_sides() -> None:
    tokens = (Token("Ann", 5), Token("You", -10, own=True))
    page = draw_area(Area(SCORE, "Totals", minimum=-20, maximum=20, tokens=tokens))
    bars = [node.attributes for node in read(page) if node.tag == "rect" and node.attributes["class"] != "all"]
    assert [(bar["class"], bar["x"], bar["width"]) for bar in bars] == [
        ("part", "50.0", "12.5"),
        ("down", "25.0", "25.0"),
    ]
    assert "−10" in page


def test_a_cell_knows_what_a_move_makes_of_it_and_a_zero_is_marked() -> None:
    room = room_of(Kind("zero-sum-grid", {"first": 1}), "cells")
    one = view_model(room, Viewer(0), HOUSE)
    cells = [node for node in read(PAGES.parts(one)["scene"]) if "cell" in node.attributes.get("class", "").split()]
    assert len(cells) == 9
    for cell in cells:
        value = int(cell.all_text().replace("−", "-"))
        more, less = (int(cell.attributes[to].replace("−", "-")) for to in ("data-more", "data-less"))
        assert (more, less) == (value + 1, value - 1)
        assert ("t-zero" in cell.attributes["class"]) == (value == 0)
