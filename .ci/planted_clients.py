"""Plants bugs in a client on the TypeScript SDK and in one without an SDK, one at a time, and shows that `mcp-conform client` finds them.

planted_clients.py PROGRAM DIRECTORY [--only NAME...]

tests/planted/README.md says what belongs to it. What is installed in DIRECTORY stays there for the next time.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import yaml

from planted import AT_ONCE, INTO, ONLY, PLANTED, PROGRAM, RUN_SECONDS, WRONG
from servers import install

BUGS = PLANTED / "clients"


COMMANDS = {
    "typescript": ["node", "--import", "./bugs.mjs", "typescript_sdk.mjs"],
    "plain": [sys.executable, "plain.py"],
}


def at(entry):
    """The client without a bug that this one is compared with."""
    suites = entry["suites"] if isinstance(entry["suites"], list) else [entry["suites"]]
    return entry.get("client", "typescript"), entry.get("transport", "http"), entry["revision"], *suites


def wrong(bug, client, transport, revision, *suites, servers):
    """The rules that do not hold with this bug, or without one."""
    report = INTO / "reports" / f"client.{bug or 'none'}.{client}.{transport}.{revision}.{'.'.join(suites).replace('*', '_')}.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    command = [PROGRAM, "client", "--transport", transport, "--revision", revision, "--parallel", "4", "--run-timeout", RUN_SECONDS]
    command += [word for suite in suites for word in ("--filter", suite)]
    command += ["--report", f"json={report}", "--", *COMMANDS[client]]
    run = [str(word) for word in command]
    environment = {**os.environ, "BUG": bug, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(run, cwd=servers, env=environment, capture_output=True, text=True)
    if not report.is_file():
        sys.exit(f"{bug}: nothing was judged\n{done.stdout}{done.stderr}")
    return {rule["id"] for rule in json.loads(report.read_text())["rules"] if rule["status"] in WRONG}


def main():
    began = time.monotonic()
    bugs = [entry for entry in yaml.safe_load((BUGS / "bugs.yaml").read_text()) if not ONLY or entry["bug"] in ONLY]
    servers = install(INTO)["servers"]
    for file in [BUGS / "bugs.mjs", *BUGS.glob("*.py")]:
        shutil.copy(file, servers)
    sound = {place: wrong("", *place, servers=servers) for place in {at(entry) for entry in bugs}}
    missed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        going = [pool.submit(wrong, entry["bug"], *at(entry), servers=servers) for entry in bugs]
        for entry, run in zip(bugs, going):
            more = run.result() - sound[at(entry)]
            found = entry["detected_by"] in more
            others = " ".join(sorted(more - {entry["detected_by"]}))
            print(f"{'found ' if found else 'MISSED'} {entry['bug']}{': also ' + others if others else ''}", flush=True)
            missed += [] if found else [entry["bug"]]
    print(f"{len(bugs) - len(missed)} of {len(bugs)} bugs found, {time.monotonic() - began:.0f} s")
    if missed:
        sys.exit(f"missed: {' '.join(missed)}")


if __name__ == "__main__":
    main()
