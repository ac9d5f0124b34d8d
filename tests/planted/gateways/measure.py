"""Shows which of the derived bugs of gateways `mcp-conform gateway` finds, by class.

measure.py PROGRAM [--part N/M] [--only NAME...] [--at-once N] [--compare] [--out FILE]

A bug is found if a rule has a finding that the same gateway without a bug does not have. `--part 2/4` takes every fourth
row of bugs.json, beginning with the second. `--out` keeps the findings as JSON, and what is in it already is not run again.
`--compare` also judges the rules about servers through the gateway, as the command does by default. classes.json says why some
bugs are not found.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# The scenarios of these rules say nothing about a change of single messages, and take half of the time.
ELSEWHERE = ("gateway-large-*", "gateway-huge-*", "gateway-unmarked-*", "gateway-streams-resumed")
MARKS = ("fail", "warn", "broken", "advice")


def judged(program, bug, compare):
    """The rules with a finding and their status, or None if the gateway could not be tested."""
    front = bug["gateway"]
    command = [program, "gateway", "--timeout", "10", "--run-timeout", "200", "--back", bug.get("back", "http")]
    if not compare:
        command.append("--no-compare")
        if "op" in bug and bug["op"] != "truncate":
            command += [word for rule in ELSEWHERE for word in ("--exclude", rule)]
    if bug.get("revision"):
        command += ["--revision", bug["revision"]]
    if front == "http":
        command += ["--front", "http"]
    place = ["{port}", "{upstream}"] if front == "http" else ["{upstream}"]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command += ["--report", f"json={report}", "--", sys.executable, str(HERE / f"{front}_front.py"), *place]
        environment = {**os.environ, "GATEWAY_BUG": bug["id"]}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 3 or not report.is_file():
            return None
        return {rule["id"]: rule["status"] for rule in json.loads(report.read_text())["rules"] if rule["status"] in MARKS}


def kind_of(bug):
    return f"{bug['dir']} {bug['kind']}" if "op" in bug else "switch"


def class_of(bug, classes):
    """`permitted`, `equal` or `no occasion`, if classes.json says why a bug is not found; else `gap`."""
    fitting = (one["class"] for one in classes for name in one["bugs"] if fnmatch.fnmatch(bug["id"], name))
    return next(fitting, "gap")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--part", default="1/1")
    options.add_argument("--only", nargs="*")
    options.add_argument("--at-once", type=int, default=3)
    options.add_argument("--compare", action="store_true")
    options.add_argument("--out")
    options = options.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    bugs = json.loads((HERE / "bugs.json").read_text())
    number, count = map(int, options.part.split("/"))
    bugs = [bug for bug in bugs if bug["id"] in options.only] if options.only else bugs[number - 1::count]
    out = pathlib.Path(options.out) if options.out else None
    known = json.loads(out.read_text()) if out and out.is_file() else {}

    def run(bug):
        began = time.time()
        rules = judged(program, bug, options.compare)
        return bug, rules, time.time() - began

    sound = [{"id": "", "gateway": front} for front in sorted({bug["gateway"] for bug in bugs})]
    baseline = {bug["gateway"]: judged(program, bug, options.compare) or {} for bug in sound}
    table, gaps = collections.defaultdict(collections.Counter), []
    classes = json.loads((HERE / "classes.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        todo = [bug for bug in bugs if bug["id"] not in known]
        for bug, rules, took in pool.map(run, todo):
            found = {"": "untestable"} if rules is None else {
                rule: status for rule, status in rules.items() if rule not in baseline[bug["gateway"]]}
            known[bug["id"]] = found
            print(f"{bug['id']}: {', '.join(f'{status} {rule}' for rule, status in found.items()) or 'MISSED'} ({took:.0f} s)", flush=True)
            if out:
                out.write_text(json.dumps(known, indent=0))
    for bug in bugs:
        end = "found" if known[bug["id"]] else class_of(bug, classes)
        for row in (kind_of(bug), "all"):
            table[row][end] += 1
        if end == "gap":
            gaps.append(bug["id"])
    ends = ["found", "permitted", "equal", "no occasion", "gap"]
    print(f"{'':18}" + "".join(f"{end:>13}" for end in ends))
    for name, row in sorted(table.items()):
        print(f"{name:18}" + "".join(f"{row[end]:13}" for end in ends))
    print("gaps:", " ".join(gaps) or "none")


if __name__ == "__main__":
    main()
