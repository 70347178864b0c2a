"""Package managers against the machine's own registries: under the preset `packages-only`, which passes them on unread, and under a rule
that reads each request and lets only those for reading pass. What they install is on the record."""
import json

# Chromium and Java keep lists of authorities of their own: how to make them trust the sandbox's is in docs/network.md.
PACKAGES = "cargo golang-go default-jdk-headless chromium libnss3-tools postgresql-client"


def done(sandbox, command, user="user"):
    """Runs it to its end, which may take minutes; its output if all went well."""
    result = sandbox.run(command, user=user, timeout_ms=400_000)
    assert result.exit_code == 0, f"{command}: {result.stdout[-700:]} {result.stderr[-700:]}"
    return result.stdout


def events(sandbox, kind):
    client = sandbox.client
    status, _, data = client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type={kind}&limit=10000", None, {"X-API-Key": client.key})
    assert status == 200, (status, data)
    return [json.loads(line) for line in data.splitlines() if line.strip()]


def came(sandbox, ecosystem, name, words):
    """It is listed with its version and the command that brought it, and the record says the same."""
    answer = sandbox.client.api("GET", f"/v1/sandboxes/{sandbox.id}/packages")
    found = [each for each in answer["packages"] if (each["ecosystem"], each["name"]) == (ecosystem, name)]
    assert found and found[0]["version"], f"{name} is not among the {len(answer['packages'])} that are listed"
    [command] = found[0]["commands"]
    [asked] = [event for event in events(sandbox, "command.requested") if event["id"] == command]
    assert words in asked["argv"][-1], f"{name} came by {asked['argv']}"
    told = [event for event in events(sandbox, "package.installed") if event["name"] == name and event["ecosystem"] == ecosystem]
    assert told[0]["version"] == found[0]["version"] and told[0]["command"] == command, told


def apt(sandbox):
    done(sandbox, "sudo apt-get update 2>&1 && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends " + PACKAGES + " 2>&1")
    came(sandbox, "debian", "cargo", "apt-get install")


def pip(sandbox):
    done(sandbox, "python3 -m venv /tmp/venv && /tmp/venv/bin/pip install requests httpx 2>&1")
    assert done(sandbox, "/tmp/venv/bin/python -c 'import requests, httpx; print(1)'") == "1\n"
    came(sandbox, "python", "httpx", "pip install")


def script(sandbox):
    """Nothing in the command's text says that it installs: the registry that it reaches does."""
    sandbox.write("/tmp/set-up.sh", b"python3 -m venv /tmp/other && /tmp/other/bin/pip install six 2>&1\n")
    done(sandbox, "sh /tmp/set-up.sh")
    came(sandbox, "python", "six", "sh /tmp/set-up.sh")


def npm(sandbox):
    done(sandbox, "mkdir -p /tmp/npm && cd /tmp/npm && npm init -y && npm install is-number 2>&1")
    assert done(sandbox, "cd /tmp/npm && node -p 'require(\"is-number\")(5)'") == "true\n"
    came(sandbox, "npm", "is-number", "npm install")


def cargo(sandbox):
    # Debian's is older than the sparse protocol's being on by itself; the index as a git repository is no registry host.
    done(sandbox, "cd /tmp && cargo new --quiet crab && cd crab && echo 'itoa = \"1\"' >>Cargo.toml && "
                  "RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch 2>&1")
    assert "itoa" in done(sandbox, "ls ~/.cargo/registry/src/*")
    came(sandbox, "cargo", "itoa", "fetch")


def go(sandbox):
    done(sandbox, "mkdir /tmp/module && cd /tmp/module && go mod init example.test/module 2>&1 && go get golang.org/x/text@latest 2>&1")
    assert "golang.org/x/text" in done(sandbox, "cat /tmp/module/go.mod")
    came(sandbox, "go", "golang.org/x/text", "go get")


READ = {"default": "deny", "rule": [{"id": "registries-read", "category": "package-registries", "action": "allow", "host": ["@registries"],
                                     "method": ["GET", "HEAD"]}]}
# Something that is not there yet, from each.
MORE = {
    "apt": "sudo apt-get update 2>&1 && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends hello 2>&1 && hello",
    "pip": "/tmp/venv/bin/pip install --no-cache-dir six 2>&1 && /tmp/venv/bin/python -c 'import six'",
    "npm": "cd /tmp/npm && npm install --no-audit is-odd 2>&1 && node -e 'require(\"is-odd\")'",
    "cargo": "cd /tmp/crab && echo 'ryu = \"1\"' >>Cargo.toml && RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch 2>&1 && ls ~/.cargo/registry/src/*/ryu-*",
    "go": "cd /tmp/module && go get golang.org/x/sync@latest 2>&1 && grep golang.org/x/sync go.mod",
}


def read(workplace, name):
    """Each request of the package manager is on the record; those that are alike within a minute are one line."""
    before = len(events(workplace, "http.request"))
    done(workplace, MORE[name])
    assert len(events(workplace, "http.request")) > before, "the connections were passed on unread"


def checks_of_reading(tally, workplace):
    workplace.set_policy(READ)
    for name in MORE:
        tally.check(f"{name} installs through connections that are read", read, workplace, name)


def checks(tally, _server, _internet, workplace, _purposes):
    for manager in (apt, pip, script, npm, cargo, go):
        tally.check(f"{manager.__name__} installs from its registry", manager, workplace)
