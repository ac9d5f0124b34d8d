#!/usr/bin/env python3
"""Runs the program again and again, and lists the rules whose verdicts differ:

    benches/repeat.py PROGRAM [--runs 10] [--loaded 5] [--servers PATH] [--only NAME] [-- ARGUMENTS of `mcp-conform run`]

ARGUMENTS name the target, such as `--reference --revision 2025-11-25`, `--http URL` or `-- npx -y some-server`.
With --servers, a JSON list of servers is tried one after another, each {"name": ..., and "stdio": [COMMAND] or "http": URL,
with "env", "cwd" and "arguments" for `mcp-conform run` if need be; "serve": [COMMAND] is started before and ended after
each run of a server over HTTP}. The first runs have the machine for themselves; in the --loaded ones each processor is
busy with something else. Exits with 1 if a verdict differs.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

# A run that takes longer has hung: its own limit is 300 s.
LONGEST = 600
# A server over HTTP is given so many seconds to listen.
STARTS = 30


@contextmanager
def busy(processes):
    """So many processes that do nothing but work."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def listens(url):
    """Whether somebody accepts connections there."""
    at = urlsplit(url)
    try:
        socket.create_connection((at.hostname, at.port), timeout=1).close()
        return True
    except OSError:
        return False


@contextmanager
def served(server, env):
    """The server in the background, if there is one to start."""
    if "serve" not in server:
        yield
        return
    url = server["http"]
    if listens(url):
        sys.exit(f"something else listens at {url}")
    quiet = {stream: subprocess.DEVNULL for stream in ("stdin", "stdout", "stderr")}
    process = subprocess.Popen(server["serve"], env=env, cwd=server.get("cwd"), start_new_session=True, **quiet)
    try:
        for _ in range(STARTS * 10):
            if listens(url):
                break
            time.sleep(0.1)
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def verdicts(program, arguments, env, cwd):
    """The verdict on each rule, by its id and revision; the exit code, and how long it took."""
    began = time.monotonic()
    command = [str(program), "run", "--report", "json", *arguments]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                         cwd=cwd, timeout=LONGEST)
    took = time.monotonic() - began
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        sys.exit(f"`{' '.join(command)}` exited with {ran.returncode} and without a report:\n"
                 f"{ran.stderr.decode(errors='replace')[-2000:]}")
    found = {f"{rule['id']} ({rule['revision']})": rule["status"] for rule in report["rules"]}
    if not found:
        sys.exit(f"`{' '.join(command)}` judged nothing: {'; '.join(report['notes'])}")
    found["exit code"] = str(ran.returncode)
    return found, took


def repeat(program, name, arguments, args, server=None):
    """Runs it, prints what differs, and returns how many verdicts do."""
    runs, took, server = [], [], server or {}
    env, cwd = {**os.environ, **server.get("env", {})}, server.get("cwd")
    for number in range(args.runs):
        loaded = number >= args.runs - args.loaded
        with busy(os.cpu_count() if loaded else 0), served(server, env):
            found, seconds = verdicts(program, arguments, env, cwd)
        runs.append(found)
        took.append(seconds)
    seen = defaultdict(Counter)
    for rule in sorted({rule for found in runs for rule in found}):
        for found in runs:
            seen[rule][found.get(rule, "absent")] += 1
    differing = {rule: counts for rule, counts in seen.items() if len(counts) > 1}
    free, loaded = took[:args.runs - args.loaded], took[args.runs - args.loaded:]
    seconds = " and ".join(f"{sum(part) / len(part):.1f} s {how}" for part, how in ((free, "each"), (loaded, "under load")) if part)
    print(f"{name}: {len(seen) - 1} rules, {args.runs} runs, {seconds}: {len(differing)} verdicts differ", flush=True)
    for rule, counts in differing.items():
        each = "".join(run.get(rule, "absent")[0] for run in runs)
        print(f"  {rule}: " + ", ".join(f"{count} x {verdict}" for verdict, count in counts.most_common()) + f"  [{each}]", flush=True)
    return len(differing)


def servers(program, args):
    differing = 0
    for server in json.loads(args.servers.read_text()):
        name = server["name"]
        if args.only and name not in args.only:
            continue
        target = ["--http", server["http"]] if "http" in server else ["--", *server["stdio"]]
        differing += repeat(program, name, [*server.get("arguments", []), *target], args, server)
    return differing


def main():
    typed, target = sys.argv[1:], []
    if "--" in typed:
        typed, target = typed[:typed.index("--")], typed[typed.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--loaded", type=int, default=5)
    parser.add_argument("--servers", type=Path)
    parser.add_argument("--only", action="append")
    args = parser.parse_args(typed)
    if bool(args.servers) == bool(target):
        parser.error("either --servers or arguments behind `--` name what is tested")
    if not 0 <= args.loaded <= args.runs:
        parser.error("--loaded is a part of --runs")
    program = args.program.resolve()
    differing = servers(program, args) if args.servers else repeat(program, " ".join(target), target, args)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
