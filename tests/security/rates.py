"""What comes too fast with one key: 429 and Retry-After in the shape of each protocol, nobody else is hurt, and the brakes work on."""
import json
import struct
import time

from server import Server

SETTINGS = """
[tenant]
requests_per_second = 10
request_burst = 40
creates_per_second = 1
create_burst = 3
starts_per_second = 1
start_burst = 3
"""


def ask(client, path, method="GET", body=None):
    return client.raw(method, path, body, {"X-API-Key": client.key, "Content-Type": "application/json"})


def first_refusal(client, path):
    """The first answer that is none, of requests one after the other."""
    for _ in range(200):
        status, headers, data = ask(client, path)
        if status != 200:
            return status, headers, json.loads(data)
    raise AssertionError("nothing was refused")


def second_key(server):
    made = server.client.api("POST", "/v1/keys", {"name": "another", "scopes": ["run", "read"]})
    return type(server.client)(server.ready()["url"], made["key"])


def requests(server):
    client, other = second_key(server), second_key(server)
    status, headers, body = first_refusal(client, "/v2/sandboxes")
    assert (status, headers["Retry-After"], body["code"]) == (429, "1", 429), (status, dict(headers), body)
    assert "10 requests a second" in body["message"] and body["fault"] == "limit", body
    status, headers, body = first_refusal(client, "/v1/sandboxes")
    assert (status, headers["Retry-After"], body["error"]["code"]) == (429, "1", "exhausted"), (status, dict(headers), body)
    assert ask(other, "/v1/sandboxes")[0] == 200, "another key is refused too"


def brakes_are_not_counted(server):
    client = server.client
    for _ in range(60):
        ask(client, "/v1/info")
    assert ask(client, "/v1/info")[0] == 429
    assert ask(client, "/v1/brakes")[0] == 200
    status, _, data = ask(client, "/v1/brakes/egress-off", "POST", '{"all":true}')
    assert status == 200 and json.loads(data)["egress_off"] is True, data
    assert ask(client, "/v1/brakes/egress-on", "POST", '{"all":true}')[0] == 200


def refusals_on_record(server):
    """A flood is on the record, and does not flood it."""
    client = second_key(server)
    for _ in range(300):
        ask(client, "/v1/sandboxes")
    time.sleep(5)  # the operator's own key may ask again
    status, _, data = ask(server.client, "/v1/events?type=request.refused&limit=1000")
    assert status == 200, data
    hasty = [line for line in data.splitlines() if b"requests a second" in line]
    assert 1 <= len(hasty) <= 30, f"{len(hasty)} lines for hundreds of refusals"


def creates(server):
    client = second_key(server)
    made = []
    try:
        for _ in range(6):
            status, headers, data = ask(client, "/v2/sandboxes", "POST", '{"templateID":"base","timeout":60}')
            if status != 201:
                break
            made.append(json.loads(data)["sandboxID"])
        assert (status, headers["Retry-After"]) == (429, "1") and "creates a second" in json.loads(data)["message"], data
        assert len(made) >= 3
    finally:
        for sandbox_id in made:
            server.client.raw("DELETE", f"/v1/sandboxes/{sandbox_id}", None, {"X-API-Key": client.key})


def starts(server):
    """The end of a Connect stream says it: resource_exhausted, and in its metadata when to come again."""
    sandbox = second_key(server).create()
    message = json.dumps({"process": {"cmd": "/bin/true", "args": []}}).encode()
    for _ in range(8):
        status, _, data = sandbox.client.raw("POST", "/process.Process/Start", b"\0" + struct.pack(">I", len(message)) + message, {
            **sandbox.headers(), "Content-Type": "application/connect+json", "Connect-Protocol-Version": "1"})
        assert status == 200
        end = json.loads(data[data.rindex(b'{"error"'):]) if b'{"error"' in data else {}
        if end:
            break
    assert end and end["error"]["code"] == "resource_exhausted", data
    assert end["metadata"]["retry-after"] == ["1"] and "starts a second" in end["error"]["message"], end
    sandbox.kill()


def wrong_keys(server):
    """Ten wrong keys from one address; the next one is told to wait a minute."""
    client = type(server.client)(server.ready()["url"], "e2b_" + "0" * 40)
    for _ in range(10):
        assert ask(client, "/v2/sandboxes")[0] == 401
    status, headers, _ = ask(client, "/v2/sandboxes")
    assert (status, headers["Retry-After"]) == (429, "60"), (status, dict(headers))
    status, headers, _ = ask(client, "/v1/sandboxes")
    assert (status, headers["Retry-After"]) == (429, "60"), (status, dict(headers))


def checks(tally, internet):
    names = {"rates: requests": requests, "rates: refusals on the record": refusals_on_record, "rates: creates": creates,
             "rates: command starts": starts, "rates: brakes are not counted": brakes_are_not_counted, "rates: wrong keys": wrong_keys}
    if not any(map(tally.wants, names)):
        return
    with Server(options=internet.options(SETTINGS)) as server:
        for name, check in names.items():
            tally.check(name, check, server)
