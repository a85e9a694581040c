"""Being called: sounds, the tab's title, notifications; a decision made without a server; the page without one."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.browser_user import OVER, Person, two
from tests.browser.conftest import Invite
from tests.browser.server_process import ServerProcess

# A device that notes which tones and notifications it is asked for, and may be told that nobody sees the page.
NOTES = """
window.tones = [];
window.notified = [];
const play = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (when) {
  tones.push(Math.round(this.frequency.value));
  play.call(this, when);
};
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
  constructor(title, options) { notified.push([title, Object.keys(options).sort().join()]); }
};
window.unseen = false;
Object.defineProperty(document, "hidden", { get: () => unseen });
"""


def unfold(one: Person) -> None:
    one.page.click("#alerts > summary")


def test_sounds_are_off_until_they_are_switched_on_and_then_stay_on(house: ServerProcess, person: Invite) -> None:
    ada, bob = (
        person(house, "Ada hears"),
        person(house, "Bob is quiet"),
    )
    ada.context.add_init_script(NOTES)
    two(bob, ada, "positive-negative")
    bob.decide("discard")
    ada.waits_for_turn()
    assert ada.page.evaluate("tones") == []
    unfold(ada)
    ada.page.check("#sound-on")
    assert ada.page.evaluate("tones.splice(0)") == [587, 880]
    ada.decide("discard")
    ada.page.wait_for_function("() => tones.length > 0")  # the move
    ada.page.evaluate("tones.splice(0)")
    bob.waits_for_turn()
    bob.decide("discard")
    ada.page.wait_for_function("() => tones.join().includes('587,880')")  # one's own turn
    bob.resign()
    expect(ada.page.locator(OVER)).to_be_visible()
    ada.page.wait_for_function("() => tones.join().endsWith('523,659,784')")  # won
    ada.page.reload()
    assert ada.page.is_checked("#sound-on")


def test_a_player_is_called_by_the_title_and_a_notification_that_shows_nothing_but_the_game(
    house: ServerProcess, person: Invite
) -> None:
    ada, bob = person(house, "Ada looks away"), person(house, "Bob")
    ada.context.add_init_script(NOTES)
    two(bob, ada, "positive-negative")
    expect(ada.page).to_have_title("Positive-Negative · piste")
    unfold(ada)
    assert ada.page.evaluate("Notification.permission") == "default"  # nobody was asked
    ada.page.check("#notify-on")
    ada.page.wait_for_function("() => Notification.permission === 'granted'")
    expect(ada.page.locator("#notify-why")).to_have_text("")
    ada.page.evaluate("unseen = true")
    bob.decide("discard")
    ada.page.wait_for_function("() => notified.length > 0")
    assert ada.page.evaluate("notified") == [["Your turn – Positive-Negative", "data,icon,tag"]]
    expect(ada.page).to_have_title("Your turn – Positive-Negative")


def test_where_a_page_is_not_secure_a_line_says_why_there_are_no_notifications(
    house: ServerProcess, person: Invite
) -> None:
    ada = person(house, "Ada is at home")
    ada.context.add_init_script("Object.defineProperty(window, 'isSecureContext', { value: false })")
    ada.open("prime-duel", "steady")
    unfold(ada)
    expect(ada.page.locator("#notify-on")).to_be_disabled()
    expect(ada.page.locator("#notify-why")).to_contain_text("only on a secure page (https)")


def test_a_decision_made_without_a_connection_will_be_sent_and_is(house: ServerProcess, person: Invite) -> None:
    ada, bob = (
        person(house, "Ada decides"),
        person(house, "Bob sees"),
    )
    ada.cut_off = True
    two(ada, bob, "positive-negative")
    ada.waits_for_turn()
    ada.context.set_offline(True)
    ada.decide("keep")
    ada.decide("discard")  # on second thoughts
    banner = ada.page.locator("#banner")
    expect(banner).to_have_text("No connection. Your decision will be sent as soon as the server is back.")
    ada.context.set_offline(False)
    bob.waits_for_turn()
    expect(banner).to_be_hidden()
    expect(bob.page.locator("#log")).to_contain_text("discard", ignore_case=True)
    expect(bob.page.locator("#log")).not_to_contain_text("kept", ignore_case=True)
    assert not ada.sees("#part-choices [aria-busy]")


def test_without_a_server_an_installed_site_says_so_and_goes_on_when_it_is_back(
    tmp_path: Path, browser: Browser, person: Invite
) -> None:
    del browser
    with ServerProcess(tmp_path) as server:
        ada = person(server, "Ada on the train", service_workers="allow")
        ada.cut_off = True
        ada.open("prime-duel", "steady")
        table = ada.page.url
        ada.page.evaluate("navigator.serviceWorker.ready.then((one) => one.active.state)")
        kept = ada.page.evaluate(
            "caches.keys().then((keys) => Promise.all(keys.map((key) => caches.open(key).then((one) => one.keys()))))"
            ".then((all) => all.flat().map((one) => new URL(one.url).pathname))"
        )
        assert sorted(kept) == ["/offline", *sorted(path for path in kept if path.startswith("/static/"))]
        ada.page.reload()  # now the worker serves the page
        ada.context.set_offline(True)
        ada.page.goto(table)
        expect(ada.page.locator("h1")).to_have_text("No connection to the server")
        assert ada.page.url == table
        ada.context.set_offline(False)
        expect(ada.page.locator("body.table")).to_be_visible()
