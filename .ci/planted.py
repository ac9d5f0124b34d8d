"""Plants faults in servers on real SDKs, one at a time, and shows that the program finds them.

planted.py PROGRAM DIRECTORY [--rust] [--missed] [--only NAME...]

tests/planted/README.md says what belongs to it. What is installed in DIRECTORY stays there for the next time.
"""

import concurrent.futures
import json
import shutil
import sys
import time
from pathlib import Path

import yaml

from servers import ROOT, built, conducted, install, words

PLANTED = ROOT / "tests/planted"
PROGRAM, INTO = (Path(argument).resolve() for argument in sys.argv[1:3])
RUST, MISSED = "--rust" in sys.argv, "--missed" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1 :] if "--only" in sys.argv else []
AT_ONCE, ANSWER_SECONDS, RUN_SECONDS = 2, 4, 300
RUN = f"run --timeout {ANSWER_SECONDS} --run-timeout {RUN_SECONDS} --config {{config}} --transcript {{transcript}}"
WRONG = ("fail", "warn", "advice", "broken")


def build(places):
    """The servers of this folder, beside the packages that they import."""
    places["python"] = PLANTED / "python"
    for file in (PLANTED / "typescript").iterdir():
        shutil.copy(file, places["servers"])
    if RUST:
        places["rust"] = built(PLANTED / "rust", INTO / "rust")


def verdicts(server, transport, fault, places):
    """The rules that do not hold, and those of which nothing could be said."""
    name = f"{server['name']}.{transport}.{fault or 'none'}"
    report = INTO / "reports" / f"{name}.json"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    files = {"config": PLANTED / server["config"], "transcript": report.with_suffix(".jsonl")}
    command = [PROGRAM, *words(server["command"], files), "--strict", "--report", f"json={report}", "--revision", server["revision"]]
    # Nothing is left in the folder of the servers.
    if transport == "stdio":
        command += ["--env", "PYTHONDONTWRITEBYTECODE=1", "--env", f"FAULT={fault}"]
    environment = {"FAULT": fault, "PYTHONDONTWRITEBYTECODE": "1"}
    how = server["stdio"] if transport == "stdio" else {"start": server["http"], "at": "/mcp"}
    done = conducted(command, transport, how, places, INTO, 2 * RUN_SECONDS, environment)
    rules = json.loads(report.read_text())["rules"] if report.is_file() else []
    if not rules:
        print(f"{name}: nothing was judged\n{done.stdout}", flush=True)
    wrong = {rule["id"] for rule in rules if rule["status"] in WRONG}
    return wrong, {rule["id"] for rule in rules if rule["status"] not in (*WRONG, "pass")}


def timed(*run):
    began = time.monotonic()
    return *verdicts(*run), time.monotonic() - began


def main():
    began = time.monotonic()
    servers = yaml.safe_load((PLANTED / "servers.yaml").read_text())
    listed = yaml.safe_load((PLANTED / "planted.yaml").read_text())
    entries = listed["planted"] + (listed["missed"] if MISSED else [])
    started = {name for name, server in servers.items() if RUST or "{rust}" not in server["stdio"]}
    chosen = [entry for entry in entries if entry["server"] in started and (not ONLY or entry["fault"] in ONLY)]
    places = install(INTO)
    build(places)
    print(f"installed after {time.monotonic() - began:.0f} s", flush=True)
    for name, server in servers.items():
        server.update(name=name, config=f"{server.get('config', name)}.toml", revision=server.get("revision", "auto"), command=server.get("command", RUN))
    bare = sorted({(entry["server"], entry["transport"]) for entry in chosen})
    missed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        sound = {at: pool.submit(timed, servers[at[0]], at[1], "", places) for at in bare}
        going = [pool.submit(timed, servers[entry["server"]], entry["transport"], entry["fault"], places) for entry in chosen]
        for (name, transport), run in sound.items():
            wrong, _, seconds = run.result()
            print(f"{name}.{transport} without a fault, {seconds:.0f} s: {' '.join(sorted(wrong)) or 'nothing'} wrong", flush=True)
        for entry, run in zip(chosen, going):
            wrong, unsaid, seconds = run.result()
            before, _, _ = sound[entry["server"], entry["transport"]].result()
            lost = [rule for rule in entry["detected_by"] if rule not in wrong or rule in before]
            more = sorted(wrong - before - set(entry["detected_by"]))
            print(f"{'MISSED' if lost else 'found '} {entry['server']}.{entry['transport']:5} {entry['fault']}, {seconds:.0f} s", flush=True)
            for rule in lost:
                why = "wrong without it too" if rule in before else "not judged" if rule in unsaid else "holds"
                print(f"    not found: {rule} ({why})", flush=True)
            if more:
                print(f"    and: {' '.join(more)}", flush=True)
            if lost and "why" in entry:
                print(f"    known: {entry['why']}", flush=True)
            missed += [entry["fault"]] if lost and "why" not in entry else []
    known = [entry["fault"] for entry in chosen if "why" in entry]
    print(f"{len(chosen) - len(known) - len(missed)} of {len(chosen) - len(known)} faults found, {time.monotonic() - began:.0f} s")
    if missed:
        sys.exit(f"missed: {' '.join(missed)}")


if __name__ == "__main__":
    main()
