"""Runs `mcp-conform generate` at its default limits on a server with derived bugs, and prints how many it notices.

measure.py PROGRAM [--of schema texts state] [--batches N] [--sound]

bugs.json has the bugs, one of each subject in a batch. So one run tests many, and a finding belongs to the subject that it names.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import server
from store import FAMILIES

HERE = Path(__file__).resolve().parent
PROGRAM = Path(sys.argv[1]).resolve()
AT_ONCE = 2


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def kinds():
    if "--of" not in sys.argv:
        return ["schema", "texts", "state"]
    return [word for word in sys.argv[sys.argv.index("--of") + 1 :] if word in ("schema", "texts", "state")]


def names_of(subject):
    """The names that a finding about the subject has."""
    if subject in FAMILIES:
        return [name for name in FAMILIES[subject]["tools"] if name]
    if subject in server.TEMPLATES:
        return [server.TEMPLATES[subject][0], f"{subject}:/"]
    return [subject]


def run(kind, plan):
    """The findings of one run, each as a rule and a text, and the time that it took."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        command = [PROGRAM, "generate", "--call-tools", "--seed", "1", "--report", f"json={report}", "--examples", f"{directory}/calls.jsonl"]
        command += ["--env", "PLAN=" + json.dumps(plan), "--env", "PYTHONDONTWRITEBYTECODE=1"]
        command += ["--env", "SUBJECTS=state"] if kind == "state" else []
        began = time.monotonic()
        done = subprocess.run([*command, "--stdio", f"{sys.executable} {HERE / 'server.py'}"], capture_output=True, text=True)
        if not report.is_file():
            raise SystemExit(done.stdout + done.stderr)
        rules = json.loads(report.read_text())["rules"]
        found = [(rule["id"], json.dumps(finding)) for rule in rules for finding in rule.get("findings") or []]
        return kind, plan, found, time.monotonic() - began


def is_about(text, subject):
    ends = ('"', ":", " ", '\\"')
    return any(name + end in text for name in names_of(subject) for end in ends) or (subject in server.TEMPLATES and f"{subject}:/" in text)


def told(bug):
    return f"{bug['kw']} {bug['op']} at {bug['ptr'] or 'the arguments'}" if isinstance(bug, dict) else bug


def main():
    bugs = json.loads((HERE / "bugs.json").read_text())
    few = int(option("--batches", 1000))
    plans = [("schema", {}), ("state", {})] if "--sound" in sys.argv else [(kind, plan) for kind in kinds() for plan in bugs[kind][:few]]
    noticed, missed, wrong = {}, [], 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for kind, plan, found, seconds in pool.map(lambda one: run(*one), plans):
            hits = {subject: any(is_about(text, subject) for _, text in found) for subject in plan}
            others = [(rule, text) for rule, text in found if not any(is_about(text, subject) for subject in plan)]
            print(f"{kind}: {sum(hits.values())} of {len(plan)} in {seconds:.0f} s", flush=True)
            for rule, text in others:
                wrong += 1
                print(f"  without a bug: {rule} {text[:300]}", flush=True)
            for subject, is_hit in hits.items():
                one = noticed.setdefault(kind, [0, 0])
                one[0], one[1] = one[0] + is_hit, one[1] + 1
                if not is_hit:
                    missed.append(f"  {kind} {subject}: {told(plan[subject])}")
    print(*sorted(missed), sep="\n")
    for kind, (hits, total) in noticed.items():
        print(f"{kind}: {hits} of {total} noticed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
