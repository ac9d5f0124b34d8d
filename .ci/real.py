"""Tests real servers and clients from registries, and holds the verdicts against what is recorded in tests/real.

real.py PROGRAM DIRECTORY [--write] [NAME...]

What is installed in DIRECTORY stays there for the next time. tests/real/README.md says what to do when this fails.
"""

import concurrent.futures
import json
import os
import sys
import time
from pathlib import Path

import yaml

from servers import REAL, ROOT, built, conducted, install

PROGRAM, INTO = (Path(argument).resolve() for argument in sys.argv[1:3])
WRITE = "--write" in sys.argv
CHOSEN = [name for name in sys.argv[3:] if name != "--write"]
VERDICTS = REAL / "verdicts.txt"
# Rules that a server breaks now and then, by run, each with the reason.
SOMETIMES = yaml.safe_load((REAL / "sometimes.yaml").read_text())
HOLDS, NOT = "x", "."
# A machine with other work to do may be slow to answer.
ANSWER_SECONDS, RUN_SECONDS = 30, 900


def known(name, transport):
    """The list of what is known to fail: that of the server, and what fails over this transport alone."""
    lists = [path for path in (REAL / f"{name}.toml", REAL / f"{name}.{transport}.toml") if path.is_file()]
    text = "\n".join(path.read_text() for path in lists)
    if 'reason = ""' in text:
        sys.exit(f"{name}: each entry of what is known to fail needs a reason")
    path = INTO / f"{name}.{transport}.known.toml"
    path.write_text(text)
    return path


def tested(name, transport, how, places):
    """What the program says if something is wrong, the rules that hold, and how long it took."""
    report = INTO / f"{name}.{transport}.json"
    report.unlink(missing_ok=True)
    is_client = transport.startswith("client-")
    what = ["client", "--transport", transport.removeprefix("client-"), "--parallel", "2"] if is_client else ["run"]
    command = [PROGRAM, *what, "--strict", "--report", f"json={report}", "--report", "human", "--baseline", known(name, transport)]
    command += ["--transcript", report.with_suffix(".jsonl"), "--run-timeout", RUN_SECONDS, "--timeout", ANSWER_SECONDS]
    began = time.monotonic()
    # The program starts a client itself, like a server over stdio.
    done = conducted(command, "stdio" if is_client else transport, how, places, INTO, 2 * RUN_SECONDS)
    written = report.read_text() if report.is_file() else ""
    rules = json.loads(written)["rules"] if written else []
    # What no text states may depend on the moment, and fails nobody.
    passed = {rule["id"] for rule in rules if rule["status"] == "pass" and rule["level"] in ("must", "should")}
    excused = set(SOMETIMES.get(f"{name}.{transport}", {}))
    failed = {rule["id"] for rule in rules if rule["status"] in ("fail", "warn", "broken")}
    is_right = done.returncode == 0 or (failed and failed <= excused)
    return None if is_right else done.stdout, passed - excused, time.monotonic() - began


def recorded():
    """The rules that hold, for each run."""
    if not VERDICTS.is_file():
        return {}
    runs, *rows = (line.split() for line in VERDICTS.read_text().splitlines() if not line.startswith("#"))
    return {run: {rule for rule, marks in rows if marks[at] == HOLDS} for at, run in enumerate(runs)}


def write(holding):
    runs = sorted(holding)
    rules = sorted(set().union(*holding.values()))
    width = max(map(len, rules))
    rows = [f"{rule:{width}} " + "".join(HOLDS if rule in holding[run] else NOT for run in runs) for rule in rules]
    about = "# The rules that hold on real servers; a column for each run, in this order. Written by .ci/real.py --write"
    VERDICTS.write_text("\n".join([about, " ".join(runs), *rows]) + "\n")


def main():
    began = time.monotonic()
    servers = yaml.safe_load((REAL / "servers.yaml").read_text())
    places = install(INTO)
    runs = [(name, transport, how) for name, ways in servers.items() for transport, how in ways.items() if not CHOSEN or name in CHOSEN]
    if any("{rmcp}" in str(how) for _, _, how in runs):
        places["rmcp"] = built(ROOT / "integrations/clients/rmcp", INTO / "rmcp")
    print(f"installed after {time.monotonic() - began:.0f} s", flush=True)
    expected, holding, wrong = recorded(), {}, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        going = [pool.submit(tested, *run, places) for run in runs]
        for (name, transport, _), run in zip(runs, going):
            said, passed, seconds = run.result()
            at = f"{name}.{transport}"
            holding[at] = passed
            lost = sorted(expected.get(at, set()) - passed)
            print(f"{at:24} {len(passed)} rules hold, {seconds:.1f} s", flush=True)
            if said is not None:
                print(said)
            for rule in lost if not WRITE else []:
                print(f"  held before, and does not now: {rule}")
            wrong += said is not None or bool(lost and not WRITE)
    if WRITE:
        write({**expected, **holding} if CHOSEN else holding)
    if wrong:
        sys.exit("verdicts on real servers have changed: tests/real/README.md says what to do")


main()
