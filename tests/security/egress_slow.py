"""E-18 the other way round: programs that are slow on purpose. They lose their connection or keep only what a connection costs; oyatd stays small
and others are answered as ever."""
import doors
from client_hello import greeting
from doors import a_try
from egress_http2 import memory_of, others_answer
from egress_requests import OPEN_PATH, request
from http2_frames import HEADERS, frame
from http2_frames import greeting as http2_greeting
from internet import SHARED
from services import read_head, tls

LIMIT = 16_000  # ms: ten seconds for what has to come at once, and a loaded machine
GROWTH = 32 << 20
STREAM, ENDLESS = "203.0.113.81", "endless.test"
READERS = 40
TOLD = ("half a head in clear", "a head in TLS")  # who listens, and does not go on sending

# Ask for something without an end, and do not read it.
NOT_READING = f"""
import socket, ssl, time
held = []
for number in range({READERS}):
    trust = ssl.create_default_context()
    one = trust.wrap_socket(socket.create_connection(('{ENDLESS}', 443), timeout=10), server_hostname='{ENDLESS}')
    one.sendall(b'GET /open/x HTTP/1.1\\r\\nHost: {ENDLESS}\\r\\n\\r\\n')
    held.append(one)
print('holding', flush=True)
time.sleep(4)
print(sum(len(one.recv(1)) for one in held), flush=True)
"""


def without_end(connection, visit):
    """Answers with a body that never ends, however it is asked."""
    head = read_head(connection)
    visit.heads.append(head.decode("latin-1"))
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")


def slow_senders(server, internet):
    """A head, a greeting or a handshake that comes byte by byte, or half."""
    half = request().replace(b"\r\n\r\n", b"\r\nX-A: ")
    tries = {
        "a head in clear": a_try(SHARED, 80, half + b"y" * 1000, pieces=1000, pause=0.1, wait=20),
        "half a head in clear": a_try(SHARED, 80, half, wait=20), "half a greeting": a_try(SHARED, 443, greeting(b"a.test")[:60], wait=20),
        "a greeting": a_try(SHARED, 443, greeting(b"a.test", more=[(21, bytes(500))]), pieces=700, pause=0.1, wait=20),
        "half a handshake": a_try(SHARED, 443, greeting(b"a.test"), wait=20), "a head in TLS": a_try(SHARED, 443, half, tls="a.test", wait=20),
        "half a head in HTTP/2": a_try(SHARED, 443, http2_greeting(frame(HEADERS, 0, 1, b"\x82")), tls="a.test", alpn="h2", wait=20),
        "half a frame": a_try(SHARED, 443, http2_greeting(frame(HEADERS, 4, 1, bytes(9))[:12]), tls="a.test", alpn="h2", wait=20),
    }
    with server.client.create(**OPEN_PATH) as sandbox, others_answer(server):
        for user in doors.USERS:
            doors.reach(internet, sandbox, path="/open/well")
            internet.forget()
            for name, outcome in zip(tries, doors.knock(sandbox, list(tries.values()), user)):
                assert outcome.errno != "timeout" and outcome.ms < LIMIT and b"answered" not in outcome.got, f"{name} as {user}: {outcome}"
                assert name not in TOLD or outcome.got.startswith(b"HTTP/1.1 408 "), f"{name} as {user}: {outcome}"
            assert not [visit for visit in internet.services.visits if any("neighbour" not in head and "well" not in head for head in visit.heads)]
            doors.reach(internet, sandbox, path="/open/well")


def slow_readers(server, internet, read):
    """Answers without an end that nobody reads stay where they are, not in oyatd."""
    internet.names.hosts[ENDLESS] = [STREAM]
    internet.services.serve(443, tls({ENDLESS: internet.authority.server_context(ENDLESS)}, without_end), address=STREAM)
    rules = [{"id": "a", "action": "allow", "host": ["a.test"], "port": [443]},
             {"id": "e", "action": "allow", "host": [ENDLESS], "port": [443], **({"path": ["/open/**"]} if read else {})}]
    pid = server.ready()["oyatdPid"]
    before = memory_of(pid)
    with server.client.create(**doors.by_rules(*rules)) as sandbox, others_answer(server):
        said = b""
        for message in sandbox.start(["python3", "-c", NOT_READING], timeout_ms=60_000):
            said += doors.output_of(message)
            if b"holding" in said:
                assert memory_of(pid) - before < GROWTH, f"oyatd grew by {(memory_of(pid) - before) >> 20} MiB"
        assert said == b"holding\n%d\n" % READERS, said
        assert memory_of(pid) - before < GROWTH, f"oyatd grew by {(memory_of(pid) - before) >> 20} MiB"
        doors.reach(internet, sandbox)


def checks(tally, server, internet):
    tally.check("E-18 programs that send slowly", slow_senders, server, internet)
    tally.check("E-18 programs that do not read", slow_readers, server, internet, True)
    tally.check("E-18 programs that do not read, passed on unread", slow_readers, server, internet, False)
