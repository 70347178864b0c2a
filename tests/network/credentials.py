"""Programs that use a credential which is not in their sandbox: package managers with private indexes, git, and clients of models."""
import threading
import time

from git_server import GitServer
from model_api import PAUSE, PIECES, ModelApi
from private_packages import Guarded, apt_repository, basic, npm_registry, python_index
from services import tls

USER = "agent"
SECRETS = {name: f"{name}-Tr0e/Value+with~signs-{number}" for number, name in enumerate(
    ("pip", "npm", "apt", "git", "bearer", "api-key", "query", "body"))}
HOSTS = {"pip.test": "203.0.113.71", "npm.test": "203.0.113.72", "apt.test": "203.0.113.73", "private.test": "203.0.113.74",
         "model.test": "203.0.113.75", "messages.test": "203.0.113.76"}
POLICY = {"preset": "packages-only", "rule": [
    {"id": "private", "category": "internal-apis", "action": "allow", "host": list(HOSTS), "port": [443]}]}

# Where each may go, and its place in a request. Versions of Anthropic's client send the key in one field or in another.
BINDINGS = [
    {"secret": "pip", "env": "PIP_PASSWORD", "where": {"host": ["pip.test"]}, "how": {"in": "basic"}},
    {"secret": "npm", "env": "NPM_TOKEN", "where": {"host": ["npm.test"]}, "how": {"in": "header", "name": "Authorization"}},
    {"secret": "apt", "env": "APT_PASSWORD", "where": {"host": ["apt.test"]}, "how": {"in": "basic"}},
    {"secret": "git", "env": "GIT_PASSWORD", "where": {"host": ["private.test"]}, "how": {"in": "basic"}},
    {"secret": "bearer", "env": "OPENAI_API_KEY", "shape": "sk-{32}", "where": {"host": ["model.test"]}, "how": {"in": "header", "name": "Authorization"}},
    {"secret": "api-key", "env": "ANTHROPIC_API_KEY", "shape": "sk-ant-{32}", "where": {"host": ["messages.test"]}, "how": {"in": "header"}},
    {"secret": "query", "env": "QUERY_KEY", "where": {"host": ["model.test"]}, "how": {"in": "query", "name": "key"}},
    {"secret": "body", "env": "BODY_TOKEN", "where": {"host": ["model.test"]}, "how": {"in": "body", "name": "token"}},
]
OPENAI = """import time
from openai import OpenAI
client = OpenAI(base_url="https://model.test/v1", max_retries=0)
print(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}]).choices[0].message.content)
began, pieces = time.monotonic(), []
for chunk in client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], stream=True):
    pieces.append((chunk.choices[0].delta.content, round(time.monotonic() - began, 3)))
print(pieces)
"""
ANTHROPIC = """import time
from anthropic import Anthropic
client = Anthropic(base_url="https://messages.test", max_retries=0)
ask = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
print(client.messages.create(**ask).content[0].text)
began, pieces = time.monotonic(), []
with client.messages.stream(**ask) as stream:
    for text in stream.text_stream:
        pieces.append((text, round(time.monotonic() - began, 3)))
print(pieces)
"""


class Private:
    """The services behind credentials, and the sandbox that may use them."""

    def __init__(self, server, internet, workplace):
        self.server, self.internet, self.workplace = server, internet, workplace
        self.pip = Guarded(basic(USER, SECRETS["pip"]), python_index())
        self.npm = Guarded("Bearer " + SECRETS["npm"], npm_registry("https://npm.test"))
        self.apt = Guarded(basic(USER, SECRETS["apt"]), apt_repository())
        root = internet.folder / "private-git"
        root.mkdir()
        self.git = GitServer(root, authorization=basic(USER, SECRETS["git"]))
        self.git.make("project")
        self.model = ModelApi(bearer=SECRETS["bearer"], api_key=SECRETS["api-key"], query=SECRETS["query"], body=SECRETS["body"])
        for (name, address), served in zip(HOSTS.items(), (self.pip, self.npm, self.apt, self.git, self.model, self.model)):
            internet.names.hosts[name] = [address]
            internet.services.serve(443, tls({name: internet.authority.server_context(name)}, served.handler), address=address)
        for name, value in SECRETS.items():
            server.client.api("POST", "/v1/secrets", {"name": name, "value": value})
        server.client.api("POST", f"/v1/sandboxes/{workplace.id}/secrets", {"secrets": BINDINGS})

    def done(self, command, user="user"):
        result = self.workplace.run(command, user=user, timeout_ms=400_000)
        assert result.exit_code == 0, f"{result.stdout[-700:]} {result.stderr[-1200:]}"
        for name, value in SECRETS.items():
            assert value not in result.stdout + result.stderr, f"{name} is inside"
        return result.stdout

    def events(self):
        return self.server.client.raw("GET", f"/v1/events?limit=10000&sandbox={self.workplace.id}", None, {"X-API-KEY": self.server.client.key})[2].decode()


def only_placeholders_inside(private):
    shown = private.done("env")
    assert "PIP_PASSWORD=oyat_ph_" in shown and "OPENAI_API_KEY=sk-" in shown, shown


def pip(private):
    private.done(f"python3 -m venv /tmp/venv && /tmp/venv/bin/pip install --index-url https://{USER}:$PIP_PASSWORD@pip.test/simple greeting 2>&1")
    assert private.done("/tmp/venv/bin/python -c 'import greeting; print(greeting.WORDS)'") == "hello from a private index\n"


def npm(private):
    private.done("mkdir -p /tmp/npm && cd /tmp/npm && echo '//npm.test/:_authToken=${NPM_TOKEN}' >.npmrc && npm init -y && "
                 "npm install --no-audit --registry https://npm.test/ greeting 2>&1")
    assert private.done("cd /tmp/npm && node -p 'require(\"greeting\")'") == "hello from a private registry\n"


def apt(private):
    private.done(f"echo machine https://apt.test login {USER} password $APT_PASSWORD >/etc/apt/auth.conf.d/private.conf && "
                 "echo 'deb [trusted=yes] https://apt.test/ ./' >/etc/apt/private.list && "
                 "apt-get -o Dir::Etc::sourcelist=/etc/apt/private.list -o Dir::Etc::sourceparts=- update 2>&1 && "
                 "apt-get -o Dir::Etc::sourcelist=/etc/apt/private.list -o Dir::Etc::sourceparts=- install -y greeting 2>&1", user="root")
    assert private.done("cat /usr/share/greeting/words") == "hello from a private repository\n"


def git(private):
    private.done(f"cd /tmp && git clone --quiet https://{USER}:$GIT_PASSWORD@private.test/project.git && cd project && "
                 "git -c user.name=Test -c user.email=test@a.test commit --quiet --allow-empty --message more && git push --quiet origin HEAD:agent 2>&1")
    assert private.git.branches("project") == ["agent", "main"]


def model(private, program):
    private.workplace.write("/tmp/ask.py", program.encode())
    shown = private.done("/tmp/venv/bin/python /tmp/ask.py").splitlines()
    assert shown[0] == "".join(PIECES), shown
    pieces = eval(shown[1])  # noqa: S307 - what the program above has printed
    assert [text for text, _ in pieces if text] == PIECES, pieces
    assert pieces[len(PIECES) - 1][1] - pieces[0][1] > PAUSE, f"the answer came at once: {pieces}"


def models(private):
    private.done("/tmp/venv/bin/pip install openai anthropic 2>&1")
    for program in (OPENAI, ANTHROPIC):
        model(private, program)


def query_and_body(private):
    for command in ('"https://model.test/query?key=$QUERY_KEY"', 'https://model.test/body -H "Content-Type: application/json" -d "{\\"token\\": \\"$BODY_TOKEN\\"}"'):
        assert private.done(f"curl -sS --max-time 10 {command}") == '{"ok": true}', command
    refused = private.done('curl -sS --max-time 10 "https://model.test/query?other=$QUERY_KEY"')
    assert refused.startswith("oyat: GET https://model.test/query refused:"), refused


def echo(private):
    """A service that sends the credential back gives it to nobody."""
    shown = private.done('curl -sS --max-time 10 -i --compressed -H "Authorization: Bearer $OPENAI_API_KEY" https://model.test/echo')
    stars = "*" * len(SECRETS["bearer"])
    assert f"x-you: {stars}" in shown.lower() and f'"you": "{stars}"' in shown, shown
    assert '"type":"secret.echoed"' in private.events()


def no_server_refused(private):
    """No placeholder reached a service, and no true value another one."""
    assert private.model.refused == [], private.model.refused
    for served in (private.pip, private.npm, private.apt):
        assert not any("oyat_ph_" in (said or "") for said in served.refused), served.refused
        assert served.served
    events = private.events()
    assert all(value not in events for value in SECRETS.values())


def revoked(private):
    """An answer that is on its way ends, and no request follows it."""
    ended = []

    def follow():
        ended.append(private.workplace.run('curl -sS -N --max-time 20 -H "Authorization: Bearer $OPENAI_API_KEY" https://model.test/ticks; echo "exit $?"'))
    private.internet.forget()
    reader = threading.Thread(target=follow)
    reader.start()
    while not any("/ticks" in head for visit in list(private.internet.services.visits) for head in visit.heads):
        time.sleep(0.05)
    private.server.client.api("POST", "/v1/secrets/bearer/revoke")
    began = time.monotonic()
    reader.join(timeout=30)
    assert time.monotonic() - began < 5, "the answer went on"
    assert "exit 0" not in ended[0].stdout, ended[0].stdout[-200:]
    refused = private.done('curl -sS --max-time 10 -H "Authorization: Bearer $OPENAI_API_KEY" https://model.test/echo')
    assert "secret bearer was revoked" in refused, refused


def checks(tally, server, internet):
    if not tally.wants("credentials"):
        return
    with server.client.create(timeout=900, policy=POLICY) as workplace:
        workplace.client.timeout = 400
        private = Private(server, internet, workplace)
        for name, check in (("only placeholders are inside", only_placeholders_inside), ("pip and a private index", pip),
                            ("npm and a private registry", npm), ("apt and a private repository", apt), ("git over HTTPS", git),
                            ("openai and anthropic, answers at once and streamed", models), ("in a query and in a body", query_and_body),
                            ("what a service sends back", echo), ("no service saw a placeholder", no_server_refused),
                            ("revoked in the middle of an answer", revoked)):
            tally.check(f"credentials: {name}", check, private)
