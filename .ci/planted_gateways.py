"""Plants bugs in two gateways, one at a time, and shows that `mcp-conform gateway` finds them and nothing else.

planted_gateways.py PROGRAM [--part N/M] [--only NAME...]

Both gateways need only Python. tests/planted/README.md says what belongs to it.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "planted" / "gateways"
# Most runs wait most of the time.
AT_ONCE = 4
# What a gateway may do, over the transports of its clients that have it.
LAWFUL = {
    "stdio": ["", "own-pings", "pings-both", "prefix", "own-cursors", "collected", "aggregated", "sorted", "own-meta",
              "own-info", "own-progress", "cache", "no-sampling", "no-completions"],
    "http": ["", "own-pings", "keepalives", "json", "prefix", "own-cursors", "aggregated", "sorted", "own-meta",
             "own-info", "cache", "no-sampling", "no-completions"],
}
WRONG = ("fail", "warn", "broken")
# `http_front.py` keeps no events to send again.
KNOWN = ["streamable-http-sse-priming-event"]


def judged(program, front, environment, narrow):
    """The rules with a finding, or None if the gateway could not be tested."""
    command = [program, "gateway", "--timeout", "10", "--run-timeout", "300"]
    if narrow:
        command.append("--no-compare")
    if front == "http":
        command += ["--front", "http"]
    place = ["{port}", "{upstream}"] if front == "http" else ["{upstream}"]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command += ["--report", f"json={report}", "--", sys.executable, str(HERE / f"{front}_front.py"), *place]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode == 3 or not report.is_file():
            return None
        return {rule["id"]: rule["status"] for rule in json.loads(report.read_text())["rules"]}


def has_finding(rules, wanted):
    return any(rules.get(rule) in (*WRONG, "advice") for rule in wanted)


def check_bug(program, bug):
    rules = judged(program, bug["gateway"], {"GATEWAY_BUG": bug["id"]}, not bug.get("compared"))
    if bug.get("by") == ["untestable"]:
        return None if rules is None else f"{bug['id']}: the gateway could be tested"
    if rules is None:
        return f"{bug['id']}: the gateway could not be tested"
    if not has_finding(rules, bug["by"]):
        return f"{bug['id']}: no finding of {', '.join(bug['by'])}"
    return None


def check_lawful(program, front, way):
    rules = judged(program, front, {"GATEWAY_LAWFUL": way}, False)
    found = "it could not be tested" if rules is None else ", ".join(rule for rule, status in rules.items() if status in WRONG and rule not in KNOWN)
    return f"lawful {front} {way}: {found}" if found else None


def main():
    program, rest = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    bugs = [bug for bug in json.loads((HERE / "bugs.json").read_text()) if bug.get("by")]
    lawful = [(front, way) for front, ways in LAWFUL.items() for way in ways]
    if rest[:1] == ["--part"]:
        number, count = map(int, rest[1].split("/"))
        bugs, lawful = bugs[number - 1::count], lawful[number - 1::count]
    elif rest[:1] == ["--only"]:
        bugs, lawful = [bug for bug in bugs if bug["id"] in rest[1:]], []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        going = [pool.submit(check_lawful, program, *one) for one in lawful]
        going += [pool.submit(check_bug, program, bug) for bug in bugs]
        flaws = [flaw for flaw in (one.result() for one in going) if flaw]
    print(f"{len(bugs)} bugs, {len(lawful)} lawful gateways, {len(flaws)} flaws")
    sys.exit("\n".join(flaws) if flaws else 0)


if __name__ == "__main__":
    main()
