"""git over HTTPS: every repository can be read, one can be written."""
COMMIT = "git -c user.name=Test -c user.email=test@a.test commit --quiet --allow-empty --message more"


def clones(workplace):
    result = workplace.run("cd /tmp && git clone --quiet https://git.test/project.git && cd project && git fetch --quiet && git log --format=%s")
    assert result.exit_code == 0 and result.stdout == "first\n", result.stderr


def push_is_refused(workplace, git):
    result = workplace.run(f"cd /tmp/project && {COMMIT} && git push https://git.test/project.git HEAD:main 2>&1")
    assert result.exit_code != 0 and "403" in result.stdout, result.stdout
    assert git.pushed == [] and git.branches("project") == ["main"], git.pushed


def push_is_allowed(workplace, git):
    result = workplace.run(f"cd /tmp && git clone --quiet https://git.test/fork.git && cd fork && {COMMIT} && head -c 3000000 /dev/urandom >noise && "
                           f"git add noise && {COMMIT} && git push --quiet origin HEAD:agent 2>&1")
    assert result.exit_code == 0, result.stdout + result.stderr
    assert git.branches("fork") == ["agent", "main"], git.branches("fork")


def checks(tally, _server, _internet, workplace, purposes):
    tally.check("git clones", clones, workplace)
    tally.check("git pushes nowhere by a rule for reading", push_is_refused, workplace, purposes.git)
    tally.check("git pushes to the one repository that a rule names", push_is_allowed, workplace, purposes.git)
