"""Package managers against the machine's own registries, under the preset `packages-only`."""

# Chromium and Java keep lists of authorities of their own: how to make them trust the sandbox's is in docs/network.md.
PACKAGES = "cargo golang-go default-jdk-headless chromium libnss3-tools postgresql-client"


def done(sandbox, command, user="user"):
    """Runs it to its end, which may take minutes; its output if all went well."""
    result = sandbox.run(command, user=user, timeout_ms=400_000)
    assert result.exit_code == 0, f"{command}: {result.stdout[-700:]} {result.stderr[-700:]}"
    return result.stdout


def apt(sandbox):
    done(sandbox, "sudo apt-get update 2>&1 && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends " + PACKAGES + " 2>&1")


def pip(sandbox):
    done(sandbox, "python3 -m venv /tmp/venv && /tmp/venv/bin/pip install requests httpx 2>&1")
    assert done(sandbox, "/tmp/venv/bin/python -c 'import requests, httpx; print(1)'") == "1\n"


def npm(sandbox):
    done(sandbox, "mkdir -p /tmp/npm && cd /tmp/npm && npm init -y && npm install is-number 2>&1")
    assert done(sandbox, "cd /tmp/npm && node -p 'require(\"is-number\")(5)'") == "true\n"


def cargo(sandbox):
    # Debian's is older than the sparse protocol's being on by itself; the index as a git repository is no registry host.
    done(sandbox, "cd /tmp && cargo new --quiet crab && cd crab && echo 'itoa = \"1\"' >>Cargo.toml && "
                  "RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch 2>&1")
    assert "itoa" in done(sandbox, "ls ~/.cargo/registry/src/*")


def go(sandbox):
    done(sandbox, "mkdir /tmp/module && cd /tmp/module && go mod init example.test/module 2>&1 && go get golang.org/x/text@latest 2>&1")
    assert "golang.org/x/text" in done(sandbox, "cat /tmp/module/go.mod")


def checks(tally, _server, _internet, workplace, _purposes):
    for manager in (apt, pip, npm, cargo, go):
        tally.check(f"{manager.__name__} installs from its registry", manager, workplace)
