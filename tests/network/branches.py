"""git over HTTPS with a rule by ref: branches below agent/ can be pushed, no other, and no push that names both."""
from repositories import COMMIT

WORK = "/tmp/shared"
POLICY = {"default": "deny", "rule": [
    {"id": "read", "category": "git", "action": "allow", "host": ["git.test"], "port": [443], "path": ["/shared.git/@git-read"]},
    {"id": "own-branches", "category": "git", "action": "allow", "host": ["git.test"], "port": [443], "path": ["/shared.git/@git-write"],
     "ref": ["refs/heads/agent/**"]}]}

# One command as git sends it, compressed as other clients do.
PACKED = """import gzip, sys, urllib.request, urllib.error
line = "0" * 40 + " " + "0" * 40 + " " + sys.argv[1] + "\\0 report-status"
body = gzip.compress((f"{len(line) + 4:04x}{line}0000" + "x" * 20).encode())
request = urllib.request.Request("https://git.test/shared.git/git-receive-pack", body,
                                 {"Content-Type": "application/x-git-receive-pack-request", "Content-Encoding": "gzip"})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as refused:
    print(refused.status, refused.read().decode())
"""


def ready(workplace):
    result = workplace.run(f"git clone --quiet https://git.test/shared.git {WORK} && cd {WORK} && {COMMIT}")
    assert result.exit_code == 0, result.stderr


def pushes(workplace, words):
    return workplace.run(f"cd {WORK} && git push {words} 2>&1")


def own_branch(workplace, git):
    result = pushes(workplace, "origin HEAD:agent/one")
    assert result.exit_code == 0 and git.branches("shared") == ["agent/one", "main"], result.stdout
    result = pushes(workplace, "--atomic -o ci.skip=1 origin HEAD:agent/two HEAD:agent/three")
    assert result.exit_code == 0 and len(git.branches("shared")) == 4, result.stdout


def large(workplace, git):
    """More than git keeps in memory: it tries with an empty push, then sends chunks."""
    result = workplace.run(f"cd {WORK} && head -c 3000000 /dev/urandom >noise && git add noise && {COMMIT} && git push origin HEAD:agent/large 2>&1")
    assert result.exit_code == 0 and "agent/large" in git.branches("shared"), result.stdout


def refused(workplace, git, words):
    before, reached = git.branches("shared"), len(git.pushed)
    result = pushes(workplace, words)
    assert result.exit_code != 0 and "403" in result.stdout, f"{words}: {result.stdout}"
    assert git.branches("shared") == before and len(git.pushed) == reached, f"{words}: {git.pushed}"


def others(workplace, git):
    for words in ("origin HEAD:main", "origin HEAD:main HEAD:agent/four", "--atomic origin HEAD:agent/four HEAD:main", "origin :main",
                  "--force origin HEAD:main", "origin HEAD:refs/tags/v1", "origin HEAD:agent", "origin HEAD:refs/notes/agent"):
        refused(workplace, git, words)


def deletes(workplace, git):
    result = pushes(workplace, "origin :agent/two")
    assert result.exit_code == 0 and "agent/two" not in git.branches("shared"), result.stdout


def compressed(workplace, git):
    workplace.write("/tmp/packed.py", PACKED.encode())
    reached = len(git.pushed)
    result = workplace.run("python3 /tmp/packed.py refs/heads/main")
    assert result.stdout.startswith("403 oyat: POST https://git.test/shared.git/git-receive-pack push to refs/heads/main denied by rule default"), \
        result.stdout + result.stderr
    assert len(git.pushed) == reached
    result = workplace.run("python3 /tmp/packed.py refs/heads/agent/none")
    assert result.stdout == "200\n" and len(git.pushed) == reached + 1, result.stdout + result.stderr


def on_the_record(server, workplace):
    events = server.client.raw("GET", f"/v1/events?limit=1000&sandbox={workplace.id}", None, {"X-API-KEY": server.client.key})[2].decode()
    assert '"refs":["refs/heads/main"]' in events and '"refs":["refs/heads/agent/one"]' in events, events[-2000:]


def checks(tally, server, purposes):
    if not tally.wants("git branches"):
        return
    git = purposes.git
    git.make("shared")
    with server.client.create(timeout=600, policy=POLICY) as workplace:
        tally.check("git branches: the repository is cloned", ready, workplace)
        tally.check("git branches: those that a rule names can be pushed", own_branch, workplace, git)
        tally.check("git branches: a large push is read as a small one", large, workplace, git)
        tally.check("git branches: no other can, nor both at once, nor be deleted", others, workplace, git)
        tally.check("git branches: an own one can be deleted", deletes, workplace, git)
        tally.check("git branches: a compressed push is read", compressed, workplace, git)
        tally.check("git branches: the record names the refs", on_the_record, server, workplace)
