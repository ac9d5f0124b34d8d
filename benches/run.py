#!/usr/bin/env python3
"""Measures the program: benches/run.py [--program PATH] [--parts runs,floor,judge,walks,start,official] [--rounds N]
Compares it with another: benches/run.py --compare BASE [--program PATH] [--targets WORDS] [--rounds N]

BASE is a revision of git, which is built, or the path of a binary. Without --program it builds the release binary. What is
not installed is skipped, with the reason. Prints Markdown; benches/README.md says what the figures mean.
"""

import argparse
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benches" / "floor"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benches"))
import compare  # noqa: E402
from plan import frames, http_plan, stdio_plan  # noqa: E402

WORK = ROOT / "target" / "bench"
REVISIONS = {
    "stdio": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
    "http": ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
    "sse": ["2024-11-05"],
}
NEWEST = "2026-07-28"
PARTS = ["runs", "floor", "judge", "walks", "start", "official"]


class Skip(Exception):
    pass


class Took:
    """What one process cost: seconds, seconds of processor time, KiB at most."""

    def __init__(self, wall, cpu, peak, code, out):
        self.wall, self.cpu, self.peak, self.code, self.out = wall, cpu, peak, code, out

    @property
    def mib(self):
        return self.peak / 1024


def run(argv, env=None, keep=False, limit=3600):
    out = subprocess.PIPE if keep else subprocess.DEVNULL
    began = time.perf_counter()
    process = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL, stdout=out,
                               stderr=subprocess.STDOUT if keep else subprocess.DEVNULL, env=env)
    text = process.stdout.read().decode(errors="replace") if keep else ""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return Took(wall, used.ru_utime + used.ru_stime, used.ru_maxrss, process.returncode, text)


def middle(tooks):
    """The run with the median wall time; peak memory is the largest."""
    tooks = sorted(tooks, key=lambda took: took.wall)
    chosen = tooks[len(tooks) // 2]
    return Took(chosen.wall, chosen.cpu, max(took.peak for took in tooks), chosen.code, chosen.out)


def repeated(rounds, argv, env=None, codes=(0,)):
    tooks = [run(argv, env) for _ in range(rounds + 1)][1:]  # The first one reads the program from disk.
    if tooks[0].code not in codes:
        raise Skip(f"`{' '.join(map(str, argv[1:]))}` ended with {tooks[0].code}")
    return middle(tooks)


@contextmanager
def served(argv, ready=None, env=None):
    """A server in the background; the value is the first line that it prints, or what `ready` waits for."""
    process = subprocess.Popen([str(arg) for arg in argv], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL if ready else subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    try:
        yield ready(process) if ready else process.stdout.readline().decode().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def table(title, note, head, rows):
    print(f"\n## {title}\n\n{note}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def ms(seconds):
    return f"{seconds * 1000:,.0f} ms"


def runs(program, rounds):
    rows = []
    for transport, revisions in REVISIONS.items():
        for revision in revisions:
            tail = ["--revision", revision, "--quiet"]
            if transport == "stdio":
                took = repeated(rounds, [program, "run", "--reference", *tail])
            else:
                with served([program, "serve", "--http", "127.0.0.1:0"]) as url:
                    url = url if transport == "http" else url.replace("/mcp", "/sse")
                    took = repeated(rounds, [program, "run", f"--{transport}", url, *tail])
            rows.append([f"{transport} {revision}", ms(took.wall), ms(took.cpu), f"{took.mib:.1f} MiB"])
    table("Whole runs", "All suites against the reference server. Over stdio its processor time is in it.",
          ["run", "wall", "processor", "peak memory"], rows)


def floor(program, rounds):
    if not shutil.which("rustc"):
        raise Skip("there is no rustc to compile the floor with")
    client, rows = WORK / "floor", []
    subprocess.run(["rustc", "-O", "--edition", "2024", "-o", client, ROOT / "benches" / "floor" / "floor.rs"], check=True)
    transcript, plan = WORK / "floor.jsonl", WORK / "plan"
    tail = ["--revision", NEWEST, "--quiet"]

    run([program, "run", "--reference", *tail, "--transcript", transcript])
    plan.write_bytes(stdio_plan(transcript))
    whole = repeated(rounds, [program, "run", "--reference", *tail])
    least = repeated(rounds, [client, plan, program, "serve"])
    rows.append([f"stdio {NEWEST}", ms(whole.wall), ms(least.wall), f"{whole.wall / least.wall:.2f}", ms(whole.cpu), ms(least.cpu)])

    with served([program, "serve", "--http", "127.0.0.1:0"]) as url:
        address = url.split("://", 1)[1].split("/", 1)[0]
        run([program, "run", "--http", url, *tail, "--transcript", transcript])
        requests, kept, of = http_plan(transcript, address)
        plan.write_bytes(requests)
        whole = repeated(rounds, [program, "run", "--http", url, *tail])
        least = repeated(rounds, [client, plan, address])
    rows.append([f"http {NEWEST}", ms(whole.wall), ms(least.wall), f"{whole.wall / least.wall:.2f}", ms(whole.cpu), ms(least.cpu)])
    table("The floor", "The same requests with the same concurrency, and answers that are only read. "
          f"Over HTTP {of - kept} of {of} requests are left out: streams that the client left.",
          ["run", "wall", "floor", "run ÷ floor", "processor", "floor"], rows)


def answers(transcript):
    return sum(1 for frame in frames(transcript) if frame["from"] == "server" and frame["kind"] == "message"
               and isinstance(frame["message"], dict) and "method" not in frame["message"])


def judge(program, rounds):
    rows = []
    for name, argv in {
        "all suites": ["run", "--reference"],
        "all suites, all revisions": ["run", "--reference", "--revision", "all"],
        "a walk of 10,000": walk(program, 10_000),
    }.items():
        transcript = WORK / "judge.jsonl"
        run([program, *argv, "--quiet", "--transcript", transcript])
        took = repeated(rounds, [program, "judge", transcript, "--quiet"])
        count = answers(transcript)
        rows.append([name, f"{count:,}", ms(took.wall), f"{count / took.wall:,.0f}", f"{took.mib:.1f} MiB"])
    table("Judging alone", "`mcp-conform judge` over recorded runs, from the start of the program to its end.",
          ["transcript", "exchanges", "wall", "exchanges/s", "peak memory"], rows)


def walk(program, nodes, fanout=100):
    world = f"tree:{nodes},fanout:{fanout},page:{fanout}"
    limits = {"walk_nodes": 2 * nodes + 1000, "walk_depth": 64, "walk_pages": nodes + 1000, "walk_seconds": 1000, "suite": 2000,
              "run": 2000, "record_messages": 10 * nodes + 10_000, "disk_bytes": 8 << 30}
    limits = [word for name, value in limits.items() for word in ("--limit", f"{name}={value}")]
    return ["run", "--stdio", f"'{program}' serve --content {world}", *limits]


def walks(program, _):
    rows, first = [], None
    for nodes in (10_000, 100_000, 1_000_000):
        took = run([program, *walk(program, nodes), "--quiet"], keep=True)
        if took.code != 0:
            raise Skip(f"the walk of {nodes:,} ended with {took.code}: {took.out[-500:]}")
        more = "·" if first is None else f"{(took.peak - first.peak) * 1024 / (nodes - 10_000):.0f}"
        first = first or took
        rows.append([f"{nodes:,}", f"{took.wall:.2f} s", f"{nodes / took.wall:,.0f}", f"{took.cpu:.2f} s",
                     f"{took.mib:.1f} MiB", more])
    table("Walks", "Whole runs with everything judged over `serve --content tree:N,fanout:100`. The last column is peak memory "
          "over that of the first line, by the nodes that there are more.",
          ["nodes", "wall", "nodes/s", "processor", "peak memory", "bytes a further node"], rows)


def start(program, rounds):
    rows = []
    for what in (["--help"], ["list"], ["list", "rules"]):
        took = repeated(4 * rounds, [program, *what])
        rows.append([f"`{' '.join(what)}`", f"{took.wall * 1000:.1f} ms", f"{took.mib:.1f} MiB"])
    table("Starting", f"The binary has {Path(program).stat().st_size / (1 << 20):.1f} MiB.", ["command", "wall", "peak memory"], rows)


def listening(port):
    def wait(process):
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return f"http://127.0.0.1:{port}/mcp"
            if process.poll() is not None:
                raise Skip("server-everything did not start")
            time.sleep(0.05)
        raise Skip("server-everything does not listen")

    return wait


def official(program, rounds):
    if not shutil.which("npm"):
        raise Skip("there is no npm")
    home = WORK / "npm"
    home.mkdir(parents=True, exist_ok=True)
    packages = ["node", "@modelcontextprotocol/conformance", "@modelcontextprotocol/server-everything"]
    modules = home / "node_modules"
    if not all((modules / package / "package.json").exists() for package in packages):
        wanted = ["node@24", *packages[1:]]
        if run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", home, *wanted]).code != 0:
            raise Skip("npm cannot fetch " + ", ".join(wanted))
    node = modules / "node" / "bin" / "node"
    env = {**os.environ, "PATH": f"{node.parent}:{os.environ['PATH']}"}
    version = lambda name: json.loads((modules / name / "package.json").read_text())["version"]
    suite = modules / "@modelcontextprotocol" / "conformance"
    entry = json.loads((suite / "package.json").read_text())["bin"]
    entry = suite / (entry if isinstance(entry, str) else next(iter(entry.values())))
    everything = modules / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rows = []
    with served([node, everything, "streamableHttp"], listening(port), {**env, "PORT": str(port)}) as url:
        theirs = [run([node, entry, "server", "--url", url], env, keep=True) for _ in range(rounds)]
        total = re.search(r"Total: (\d+) passed, (\d+) failed", theirs[0].out)
        if not total:
            raise Skip("the official suite printed no total")
        checks = sum(map(int, total.groups()))
        ours = [run([program, "run", "--http", url, "--report", "json"], keep=True) for _ in range(rounds)]
    report = json.loads(ours[0].out)
    judged = sum(count for status, count in report["totals"]["by_status"].items()
                 if status not in ("not-exercised", "not-applicable", "broken"))
    for name, tooks, verdicts in (
        (f"official suite {version('@modelcontextprotocol/conformance')}, active scenarios", theirs, checks),
        ("mcp-conform", ours, judged),
    ):
        took = middle(tooks)
        rows.append([name, f"{took.wall:.2f} s", f"{took.cpu:.2f} s", f"{took.mib:.0f} MiB", verdicts])
    table("Beside the official suite",
          f"On server-everything {version('@modelcontextprotocol/server-everything')} over Streamable HTTP, its processor time not "
          "counted. Verdicts: checks that the official suite prints; rules that mcp-conform has judged.",
          ["suite", "wall", "processor", "peak memory", "verdicts"], rows)


def built(directory):
    """The release binary of the sources in this directory."""
    subprocess.run(["cargo", "build", "--release", "--locked"], cwd=directory, check=True)
    return directory / "target" / "release" / "mcp-conform"


def program_of(base):
    """The binary at this path, or of this revision, which is built once in a worktree."""
    if Path(base).is_file():
        return Path(base).resolve()
    told = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"], cwd=ROOT, capture_output=True, text=True)
    if told.returncode != 0:
        sys.exit(f"{base} is neither a file nor a revision of git")
    commit = told.stdout.strip()
    binary = WORK / f"mcp-conform-{commit[:12]}"
    if not binary.is_file():
        tree = WORK / "base"
        shutil.rmtree(tree / "src", ignore_errors=True)
        if not (tree / ".git").exists():
            subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
            subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", tree, commit], cwd=ROOT, check=True)
        subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", commit], cwd=tree, check=True)
        shutil.copy(built(tree), binary)
    return binary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compare", metavar="BASE")
    parser.add_argument("--targets", default="", help="with --compare, --record or --recorded: words in the names of targets, by comma")
    parser.add_argument("--record", action="store_true", help="write processor time and starts to benches/recorded.json")
    parser.add_argument("--recorded", action="store_true", help="print them with the recorded ones")
    args = parser.parse_args()
    unknown = [part for part in args.parts.split(",") if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    WORK.mkdir(parents=True, exist_ok=True)
    program = args.program or built(ROOT)
    program = program.resolve()
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                 platform.processor()) if Path("/proc/cpuinfo").exists() else platform.processor()
    load = os.getloadavg()[0]
    print(f"{time.strftime('%Y-%m-%d')}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores ({model}), "
          f"load before {load:.1f}" + ("; **others were at work on it**" if load > os.cpu_count() / 2 else ""))
    chosen = [word for word in args.targets.split(",") if word]
    if args.compare:
        return compare.compare(run, walk, program_of(args.compare), program, WORK, args.rounds, chosen)
    if args.record or args.recorded:
        part = compare.record if args.record else compare.against_recorded
        return part(run, walk, program, WORK, args.rounds, chosen)
    for part in args.parts.split(","):
        try:
            globals()[part](program, args.rounds)
        except (Skip, OSError, subprocess.CalledProcessError, ValueError) as why:
            print(f"\n{part}: skipped: {why}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
