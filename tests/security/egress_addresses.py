"""E-07, E-08, E-21: addresses and ports that nobody may reach, however they are spelled."""
import doors
from doors import a_try
from guests import run_guest
from internet import HOST, METADATA, PRIVATE

HTTP = b"GET / HTTP/1.0\r\n\r\n"
NEVER = [METADATA, "169.254.170.2", "168.63.129.16", "100.100.100.200", "0.0.0.1", "224.0.0.1", "255.255.255.255", PRIVATE, "172.16.0.1",
         "192.168.1.1", "100.64.0.1", "198.18.0.1", HOST]


def always_denied(server, internet):
    """No byte of a try on an address of the always-deny set leaves, and each is on the record with its rule."""
    with server.client.create() as sandbox:
        doors.stay_shut(server, internet, sandbox, [a_try(address, port, HTTP) for address in NEVER for port in (80, 443)],
                        ("always-deny:", "private"))
        with doors.nothing_leaves(internet, sandbox):
            run_guest(sandbox, "e_08_always_denied")


def own_doors(server, internet):
    """The server's own address and port answer its clients, never a sandbox."""
    port = server.client.url.port
    with server.client.create() as sandbox:
        doors.stay_shut(server, internet, sandbox, [a_try(HOST, port, HTTP), a_try("169.254.1.1", port, HTTP)], ("always-deny:",))
        # Its loopback is the sandbox's own: nobody listens there.
        for outcome in doors.knock(sandbox, [a_try("127.0.0.1", port, HTTP), a_try("::1", port, HTTP)]):
            assert outcome.errno == "ECONNREFUSED" and not outcome.got, outcome


# Each means 169.254.169.254, 10.9.9.9 or the machine itself to somebody.
SPELLINGS = ["http://0xa9fea9fe/", "http://025177524776/", "http://2852039166/", "http://169.254.43518/", "http://0xa9.0xfe.0xa9.0xfe/",
             "http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/", "http://10.592137/", "http://0/", "http://0.0.0.0/",
             "http://127.1/", "http://017700000001/", "http://localhost./", "http://%31%36%39.254.169.254/",
             "http://a.test@169.254.169.254/", "http://a.test%00@169.254.169.254/", "http://169.254.169.254\\@private.test/",
             "http://169。254。169。254/", "http://①⑥⑨.254.169.254/", "http://metadata.test/", "http://metadata.test./",
             "http://METADATA.TEST/", "http://private.test/", "http://metadata.google.internal/"]


def spellings(server, internet):
    with server.client.create() as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                for url in SPELLINGS:
                    answer = doors.curl(sandbox, "--globoff", url, user=user)
                    assert answer.exit_code != 0, f"{url} as {user}: {answer.stdout[:200]}"
        doors.on_record(server, sandbox, ("always-deny:link-local",), addr=METADATA, port=80)
        doors.on_record(server, sandbox, ("private",), addr=PRIVATE, port=80)
        doors.on_record(server, sandbox, ("rebind", "always-deny:"), name="metadata.test")
        doors.on_record(server, sandbox, ("always-deny:metadata",), name="metadata.google.internal")


def mail(server, internet):
    with server.client.create() as sandbox:
        doors.stay_shut(server, internet, sandbox, [a_try("203.0.113.25", port, b"EHLO x\r\n") for port in (25, 465, 587)], ("no-mail",))


def checks(tally, server, internet):
    tally.check("E-07 spellings of addresses", spellings, server, internet)
    tally.check("E-08 always denied, and nothing leaves", always_denied, server, internet)
    tally.check("E-08 the server's own doors", own_doors, server, internet)
    tally.check("E-21 mail", mail, server, internet)
