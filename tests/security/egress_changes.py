"""E-15: a change of policy under load. Once the call has returned no connection is judged by the old one, and open ones are cut."""
import socket
import threading
import time

import doors
from internet import OTHER
from services import read_head, tls

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


STREAM = "203.0.113.82"
# One long transfer, one way or the other.
TRANSFER = """
import socket, ssl, sys, time
one = ssl.create_default_context().wrap_socket(socket.create_connection(('stream.test', 443), timeout=10), server_hostname='stream.test')
up = sys.argv[1] == 'up'
one.sendall(b'%s /open/x HTTP/1.1\\r\\nHost: stream.test\\r\\n%s\\r\\n' % ((b'POST', b'Transfer-Encoding: chunked\\r\\n') if up else (b'GET', b'')))
moved, told = 0, False
try:
    while True:
        if up:
            one.sendall(b'4000\\r\\n' + bytes(16384) + b'\\r\\n')
            got = 16384
        else:
            got = len(one.recv(65536))
        if not got:
            break
        moved += got
        if moved > 4 << 20 and not told:
            told = True
            print('moving', flush=True)
except OSError as error:
    print('met', error, flush=True)
print('cut', time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
"""


def takes_and_gives(connection, visit):
    """Answers without an end, or reads without one."""
    head = read_head(connection)
    if head.startswith(b"POST"):
        while connection.recv(65536):
            visit.at = time.monotonic()
        return
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")


def in_a_transfer(server, internet, way, read):
    """A transfer in the middle of which its host is closed: the program meets a reset at once, and the record says why."""
    internet.names.hosts["stream.test"] = [STREAM]
    listener = internet.services.serve(443, tls({"stream.test": internet.authority.server_context("stream.test")}, takes_and_gives), address=STREAM)
    only_a = {"id": "a", "action": "allow", "host": ["a.test"], "port": [443]}
    stream = {"id": "stream", "action": "allow", "host": ["stream.test"], "port": [443], **({"path": ["/open/**"]} if read else {})}
    try:
        with server.client.create(**doors.by_rules(only_a, stream)) as sandbox:
            for user in doors.USERS:
                sandbox.set_policy(doors.by_rules(only_a, stream)["policy"])
                doors.reach(internet, sandbox)
                said, returned = b"", None
                for message in sandbox.start(["python3", "-c", TRANSFER, way], user=user, timeout_ms=60_000):
                    said += doors.output_of(message)
                    if returned is None and b"moving" in said:
                        sandbox.set_policy(doors.by_rules(only_a)["policy"])
                        returned = time.monotonic()
                assert b"moving" in said and b"cut" in said, said
                # CLOCK_MONOTONIC is the machine's, inside and outside of a sandbox.
                late = float(said.split(b"cut ")[1].split()[0]) - returned
                assert late < 0.1, f"the transfer went on for {late:.3f} s as {user}"
                closed = [event for event in doors.events(server, sandbox, "connect.closed") if event.get("host") == "stream.test"]
                assert closed and closed[-1]["reason"] == "policy" and closed[-1]["up" if way == "up" else "down"] > 1 << 20, closed
                assert doors.curl(sandbox, "https://stream.test/open/x", user=user).exit_code != 0
                doors.reach(internet, sandbox)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


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
    for way, read in (("down", True), ("up", True), ("down", False), ("up", False)):
        tally.check(f"E-15 a change in a transfer {way}{', read' if read else ''}", in_a_transfer, server, internet, way, read)
    tally.check("E-15 back and forth", back_and_forth, server, internet)
    tally.check("E-15 two changes at once", two_at_once, server, internet)
