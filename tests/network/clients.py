"""HTTP clients of every kind: a service of which one path is allowed (its TLS is read), one that is allowed as a whole (passed on
unread), and one that no rule names."""
import json

from purposes import ALLOWED, OPEN, ORDERS, REFUSED, UNKNOWN, UNREAD

PYTHON = """import sys, {library} as client
answer = client.get(sys.argv[1], timeout=10)
print(answer.status_code, answer.text)
"""
NODE = "fetch(process.argv[1]).then(async r => console.log(r.status, await r.text())).catch(e => { console.error(e); process.exit(1) })"
JAVA = """import java.net.URI;
import java.net.http.*;
class Fetch {
    public static void main(String[] words) throws Exception {
        var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(words[0])).build(), HttpResponse.BodyHandlers.ofString());
        System.out.println(answer.statusCode() + " " + answer.body());
        System.exit(0);
    }
}
"""
TRUST_OF_JAVA = "sudo update-ca-certificates --fresh >/dev/null"
TRUST_OF_CHROMIUM = """mkdir -p ~/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -N --empty-password
certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n oyat -i /run/oyat/authority.pem
csplit --quiet --digits=4 --elide-empty-files --prefix=/tmp/authority- /etc/ssl/certs/ca-certificates.crt '/BEGIN CERTIFICATE/' '{*}'
for each in $(ls /tmp/authority-* | tail -n 40); do certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n "$each" -i "$each"; done"""

# Each is asked for one URL, and prints the status and the body.
CLIENTS = {
    "curl": "curl -sS --max-time 10 -w '%{{http_code}} ' -o /tmp/body {url} && cat /tmp/body",
    "requests": "/tmp/venv/bin/python /tmp/ask_requests.py {url}",
    "httpx": "/tmp/venv/bin/python /tmp/ask_httpx.py {url}",
    "Node's fetch": f"node -e '{NODE.replace('{', '{{').replace('}', '}}')}' {{url}}",
    "Java": "java /tmp/Fetch.java {url}",
    "Chromium": "timeout 30 chromium --headless --no-sandbox --disable-gpu --dump-dom {url} 2>/dev/null",
}


def prepare(workplace):
    for library in ("requests", "httpx"):
        workplace.write(f"/tmp/ask_{library}.py", PYTHON.format(library=library).encode())
    workplace.write("/tmp/Fetch.java", JAVA.encode())
    for trust in (TRUST_OF_JAVA, TRUST_OF_CHROMIUM):
        result = workplace.run(trust, timeout_ms=100_000)
        assert result.exit_code == 0, result.stderr


def heads(internet, address):
    return [head.split("\r\n")[0] for visit in internet.services.visits if visit.address == address for head in visit.heads]


def asks_read(internet, workplace, command):
    """One path of a service is reached, another is refused with a word of why, before anything of it left."""
    internet.forget()
    answer = workplace.run(command.format(url=ALLOWED), timeout_ms=60_000)
    assert "orders.test" in answer.stdout and any("/v2/orders/7" in head for head in heads(internet, ORDERS)), \
        f"{ALLOWED}: {answer.stdout[-300:]} {answer.stderr[-600:]} {heads(internet, ORDERS)}"
    answer = workplace.run(command.format(url=REFUSED), timeout_ms=60_000)
    assert "denied by rule" in answer.stdout, f"{REFUSED}: {answer.stdout[-300:]} {answer.stderr[-600:]}"
    assert not any("customers" in head for head in heads(internet, ORDERS)), heads(internet, ORDERS)


def asks_unread(internet, workplace, command):
    """A service that a rule names is reached, another is not."""
    internet.forget()
    answer = workplace.run(command.format(url=UNREAD), timeout_ms=60_000)
    assert "open.test" in answer.stdout and heads(internet, OPEN), f"{UNREAD}: {answer.stdout[-300:]} {answer.stderr[-600:]}"
    answer = workplace.run(command.format(url=UNKNOWN), timeout_ms=60_000)
    assert "answered" not in answer.stdout, f"{UNKNOWN}: {answer.stdout}"
    assert {visit.address for visit in internet.services.visits} == {OPEN}, internet.services.visits


def checks(tally, _server, internet, workplace, _purposes):
    tally.check("lists of authorities of Java and Chromium", prepare, workplace)
    for name, command in CLIENTS.items():
        tally.check(f"{name} reaches the one path that a rule names", asks_read, internet, workplace, command)
        tally.check(f"{name} reaches a service that a rule names", asks_unread, internet, workplace, command)
