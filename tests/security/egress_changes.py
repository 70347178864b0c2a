"""E-15: a change of policy under load. Once the call has returned no connection is judged by the old one, and open ones are cut."""
import threading
import time

import doors
from internet import OTHER

BOTH = {"network": {"allowOut": ["a.test", "c.test"], "denyOut": ["0.0.0.0/0"]}}
ONE = {"allowOut": ["a.test"], "denyOut": ["0.0.0.0/0"]}

# Opens connections to c.test without a pause, and keeps one that talks.
LOAD = """
import ssl, socket, threading, time
def opened():
    return ssl.create_default_context().wrap_socket(socket.create_connection(('c.test', 443), timeout=5), server_hostname='c.test')
def hammer():
    while True:
        try:
            opened().close()
        except OSError:
            time.sleep(0.002)
held = opened()
for _ in range(4):
    threading.Thread(target=hammer, daemon=True).start()
print('under load', flush=True)
try:
    while True:
        held.sendall(b'GET /held HTTP/1.1\\r\\nHost: c.test\\r\\n\\r\\n')
        if not held.recv(65536):
            break
        time.sleep(0.001)
except OSError:
    pass
print('cut', time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
time.sleep(2)
print('through', flush=True)
"""


def under_load(server, internet):
    with server.client.create(**BOTH) as sandbox:
        doors.reach(internet, sandbox)
        sandbox.write("/tmp/load.py", LOAD.encode())
        said = b""
        stream = sandbox.start(["python3", "/tmp/load.py"], timeout_ms=60_000)
        returned = None
        for message in stream:
            said += doors.output_of(message)
            if returned is None and b"under load" in said:
                time.sleep(0.3)
                server.client.api("PUT", f"/sandboxes/{sandbox.id}/network", ONE)
                returned = time.monotonic()
        assert b"cut" in said, said
        # CLOCK_MONOTONIC is the machine's, inside and outside of a sandbox.
        late = float(said.split(b"cut ")[1].split()[0]) - returned
        assert late < 0.1, f"the open connection lived on for {late:.3f} s"
        after = [visit.at - returned for visit in internet.services.visits if visit.address == OTHER and visit.at > returned]
        assert not after, f"{len(after)} connections arrived afterwards, the last {max(after):.3f} s later"
        doors.reach(internet, sandbox)


def back_and_forth(server, internet):
    """Each call is in force when it returns, also when the next one comes at once."""
    with server.client.create(**BOTH) as sandbox:
        for _ in range(10):
            server.client.api("PUT", f"/sandboxes/{sandbox.id}/network", ONE)
            assert doors.curl(sandbox, "https://c.test/").exit_code != 0, "c.test answered after it was closed"
            server.client.api("PUT", f"/sandboxes/{sandbox.id}/network", BOTH["network"])
            assert doors.curl(sandbox, "https://c.test/").exit_code == 0, "c.test did not answer after it was opened"


def two_at_once(server, internet):
    """Of two calls at the same time one is the last, for the record and for the connections alike."""
    with server.client.create(**BOTH) as sandbox:
        for _ in range(5):
            calls = [threading.Thread(target=server.client.api, args=("PUT", f"/sandboxes/{sandbox.id}/network", network))
                     for network in (ONE, BOTH["network"], ONE)]
            for call in calls:
                call.start()
            for call in calls:
                call.join()
        server.client.api("PUT", f"/sandboxes/{sandbox.id}/network", ONE)
        assert doors.curl(sandbox, "https://c.test/").exit_code != 0
        doors.reach(internet, sandbox)


def checks(tally, server, internet):
    tally.check("E-15 a change under load", under_load, server, internet)
    tally.check("E-15 back and forth", back_and_forth, server, internet)
    tally.check("E-15 two changes at once", two_at_once, server, internet)
