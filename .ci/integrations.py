"""The integrations with the programs that they are for: pytest, node:test, and the steps of the action as a runner takes them.

integrations.py PROGRAM DIRECTORY
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.argv[1]).resolve()
# The reference client with faults.
PROOF = Path(PROGRAM).with_name("proof")
INTO = Path(sys.argv[2]).resolve()
FAULT, RULE = "list-item-without-name", "resources-list-item-name"
checked = 0


def check(holds, what, said=""):
    global checked
    checked += 1
    if not holds:
        sys.exit(f"{said}\n\nnot as it should be: {what}")


def directory(name):
    path = INTO / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def ran(command, cwd, **env):
    """Exit code, and all that was said."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "MCP_CONFORM": str(PROGRAM), "NO_COLOR": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def target(path, *server):
    words = ", ".join(f"'{word}'" for word in server)
    (path / "mcp-conform.toml").write_text(f"[targets.server]\nstdio = [{words}]\n")


def in_pytest():
    source = directory("pytest-plugin")
    for file in (ROOT / "integrations/pytest").iterdir():
        if file.is_file():
            shutil.copy(file, source)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "pytest==9.0.2", source], check=True)
    path = directory("pytest")
    (path / "pytest.ini").write_text("[pytest]\ntestpaths = mcp-conform.toml\nmcp_conform = --filter resources.list --filter sep-2093.contents\n")
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]

    target(path, PROGRAM, "serve")
    code, said = ran([*pytest, "-v"], path)
    check(code == 0 and f"{RULE} PASSED" in said and "SKIPPED" in said, "a faultless server passes", said)

    target(path, PROGRAM, "serve", "--fault", FAULT)
    code, said = ran([*pytest], path)
    check(code == 1 and "\n1 failed" not in said and "1 failed" in said, "a faulty server fails in one test", said)
    check("MUST" in said and "name" in said and "rerun  mcp-conform run" in said, "the failure says what is wrong", said)
    check(f"more   mcp-conform explain {RULE}" in said, "the failure says where there is more", said)
    (path / "pytest.ini").write_text("[pytest]\ntestpaths = mcp-conform.toml\nmcp_conform = --filter tools.calls\n")
    target(path, PROGRAM, "serve", "--fault", "unknown-tool-as-failure")
    code, said = ran([*pytest], path)
    check(code == 0 and "Recommended: SHOULD" in said, "what is only recommended is a warning", said)
    code, said = ran([*pytest, "-k", "name-case"], path)
    check(code == 0 and "passed" in said, "tests are chosen as usual", said)

    target(path, PROGRAM, "no-such-command")
    code, said = ran([*pytest], path)
    check(code not in (0, 1) and "the server could not be tested" in said, "a server that does not start is an error", said)


def in_node():
    path = directory("node")
    helper = (ROOT / "integrations/node/index.mjs").as_uri()
    server = f"'--', '{PROGRAM}', 'serve'"

    def write(name, arguments):
        text = f"import test from 'node:test';\nimport {{ conformance }} from '{helper}';\nawait conformance(test, [{arguments}]);\n"
        (path / name).write_text(text)

    write("good.test.mjs", f"'--filter', 'resources.list', {server}")
    write("bad.test.mjs", f"'--filter', 'resources.list', {server}, '--fault', '{FAULT}'")
    write("gone.test.mjs", f"'--', '{PROGRAM}', 'no-such-command'")
    node = ["node", "--test", "--test-reporter=tap"]
    code, said = ran([*node, "good.test.mjs"], path)
    check(code == 0 and re.search(rf"^\s*ok \d+ - resources.list::{RULE}$", said, re.M), "a faultless server passes", said)
    code, said = ran([*node, "bad.test.mjs"], path)
    check(code == 1 and re.search(rf"^\s*not ok \d+ - resources.list::{RULE}$", said, re.M), "a faulty server fails", said)
    check("rerun  mcp-conform run" in said, "the failure says what is wrong", said)
    code, said = ran([*node, "gone.test.mjs"], path)
    check(code == 1 and "the server could not be tested" in said, "a server that does not start is an error", said)


def as_a_runner(workspace, **inputs):
    """Takes the `run` steps of the action in order: exit code, what was said, and the files that a runner reads."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    defaults = {name: str(given.get("default", "")) for name, given in action["inputs"].items()}
    check(set(inputs) <= set(defaults), "the inputs are known")
    known = {f"inputs.{name}": value for name, value in {**defaults, **inputs}.items()}
    known |= {"github.action_path": str(ROOT), "github.action_repository": "", "github.action_ref": ""}

    def filled(text):
        return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda found: known[found[1]], text)

    files = {name: workspace / f".{name.lower()}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
    for file in files.values():
        file.touch()
    everything = ""
    for step in action["runs"]["steps"]:
        if "run" not in step:
            continue
        env = {name: filled(value) for name, value in step.get("env", {}).items()}
        paths = [str(PROGRAM.parent), *files["GITHUB_PATH"].read_text().split(), os.environ["PATH"]]
        env |= {name: str(file) for name, file in files.items()}
        env |= {"PATH": ":".join(paths), "RUNNER_TEMP": str(workspace)}
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", filled(step["run"])]
        code, said = ran(command, workspace, **env)
        everything += said
        if code != 0:
            break
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return code, everything, outputs, files["GITHUB_STEP_SUMMARY"].read_text()


def in_an_action():
    path = directory("action-good")
    code, said, outputs, summary = as_a_runner(path, stdio=f"'{PROGRAM}' serve", args="--filter 'resources.list' --filter resources.read")
    check(code == 0 and outputs["exit-code"] == "0" and outputs["failed"] == "0", "a faultless server passes", said)
    check("passed" in summary, "the job summary is written", summary)
    for name in ("report.json", "junit.xml", "report.html"):
        check((path / "conformance" / name).stat().st_size > 0, f"{name} is written")

    path = directory("action-bad")
    target(path, PROGRAM, "serve", "--fault", FAULT)
    code, said, outputs, summary = as_a_runner(path, target="server", args="--filter resources.list", reports="out")
    check(code == 1 and outputs["exit-code"] == "1" and outputs["failed"] == "1", "a faulty server fails the job", said)
    check("::error" in said and RULE in summary, "the failure is annotated and in the summary", said)
    check(outputs["report"] == "out/report.json" and (path / "out/report.json").is_file(), "the reports are where they were wanted")

    path = directory("action-baseline")
    (path / "known.toml").write_text(f'[[known]]\nrule = "{RULE}"\nreason = "to be mended"\n')
    code, said, outputs, _ = as_a_runner(
        path, stdio=f"'{PROGRAM}' serve --fault {FAULT}", args="--filter resources.list", baseline="known.toml"
    )
    check(code == 0 and outputs["failed"] == "0", "what is known does not fail the job", said)

    path = directory("action-client")
    args = "--filter client-request-id-unique-while-open"
    code, said, outputs, _ = as_a_runner(path, client=f"'{PROGRAM}' act", args=args)
    check(code == 0 and outputs["failed"] == "0", "a faultless client passes", said)
    code, said, outputs, _ = as_a_runner(path, client=f"'{PROOF}' act --fault id-always-one", args=args)
    check(code == 1 and outputs["failed"] == "1", "a faulty client fails the job", said)

    path = directory("action-typo")
    code, said, outputs, _ = as_a_runner(path, stdio=f"'{PROGRAM}' serve", args="--no-such-flag")
    check(code == 2 and outputs["exit-code"] == "2", "wrong arguments are told apart", said)


def from_the_start():
    """What `init` writes works as it is."""
    path = directory("init")
    (path / "server.py").write_text(f"import os\nos.execv('{PROGRAM}', ['mcp-conform', 'serve'])\n")
    code, said = ran([PROGRAM, "init", "--ci", "github"], path)
    check(code == 0, "a project is begun", said)
    # The example of a custom rule is not judged until the user says so.
    configuration = path / "mcp-conform.toml"
    code, said = ran([PROGRAM, "run", "--filter", "resources.read"], path)
    check(code == 0 and "house-tools-are-described" not in said, "a first run has no custom rule", said)
    text = configuration.read_text()
    check("\n# suites = " in text, "the configuration has a line for custom rules", text)
    configuration.write_text(text.replace("\n# suites = ", "\nsuites = "))
    steps = yaml.safe_load((path / ".github/workflows/conformance.yml").read_text())["jobs"]["conformance"]["steps"]
    lines = [step["run"] for step in steps if step.get("run", "").startswith("mcp-conform run")]
    check(len(lines) == 1, "the pipeline tests the server")
    env = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    summary = path / "summary.md"
    summary.write_text("An earlier step.\n")
    line = f"{lines[0]} --filter house --filter resources.read"
    code, said = ran(["bash", "-e", "-c", line], path, GITHUB_STEP_SUMMARY=str(summary), **env)
    check(code == 0, "the pipeline passes", said)
    appended = summary.read_text().removeprefix("An earlier step.\n")
    check(len(appended) < len(summary.read_text()) and "mcp-conform" in appended, "the summary is appended", appended)
    code, said = ran([PROGRAM, "run", "--filter", "house"], path)
    check("house-tools-are-described" in said, "the rule of one's own is judged", said)
    code, said = ran([PROGRAM, "init", "--ci", "github"], path)
    check(code == 0 and said.count("kept") == 4 and "wrote" not in said, "nothing is overwritten", said)
    code, said = ran([PROGRAM, "explain", "house-tools-are-described"], path)
    check(code == 0 and "our house rules" in said, "the rule of one's own is explained", said)

    code, said = ran([PROGRAM, "init", "--ci", "gitlab"], path)
    check(code == 0 and ".gitlab-ci.yml" in said, "a second pipeline is begun", said)
    check(yaml.safe_load((path / ".gitlab-ci.yml").read_text())["include"] == ".gitlab-ci.conformance.yml", "it is included")
    script = yaml.safe_load((path / ".gitlab-ci.conformance.yml").read_text())["conformance"]["script"]
    (path / ".mcp-conform/bin").mkdir(parents=True)
    (path / ".mcp-conform/bin/mcp-conform").symlink_to(PROGRAM)
    lines = [line for line in script if "mcp-conform run" in line]
    code, said = ran(["bash", "-e", "-c", f"{lines[0]} --filter house"], path, **env)
    check(code == 0 and len(lines) == 1 and (path / "conform.xml").is_file(), "the pipeline passes", said)


for part in (in_pytest, in_node, in_an_action, from_the_start):
    part()
print(f"{checked} checks hold")
