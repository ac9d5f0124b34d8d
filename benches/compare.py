"""Compares two programs on eight fixed targets, or one with recorded figures: run.py --compare and --record."""

import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci"))
from servers import ended, free_port, listening  # noqa: E402

RECORDED = ROOT / "benches" / "recorded.json"
NODES = 100_000
# A change that costs more than this says why.
MORE = 1.1
# What .ci/real.py has installed.
REAL = ROOT / "target" / "real"


class Missing(Exception):
    """What a target needs and is not installed."""


def needs(path, how):
    if not Path(path).exists():
        raise Missing(f"{Path(path).relative_to(ROOT)} is missing ({how})")
    return str(path)


def node():
    found = shutil.which("node")
    if not found:
        raise Missing("there is no node")
    return found


def build_rust_server(work):
    """Builds it, which takes a minute, unless there is no cargo or no network: then its target is skipped."""
    manifest = ROOT / "benches/rust-server/Cargo.toml"
    command = ["cargo", "build", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", work / "rust-server"]
    if not shutil.which("cargo") or subprocess.run([str(word) for word in command]).returncode != 0:
        print("the Rust server cannot be built", file=sys.stderr)


def counted(command, count):
    """A command that notes each of its starts in a file, and then is the server."""
    return ["sh", "-c", 'echo >> "$0"; exec "$@"', str(count), *map(str, command)]


class Stdio:
    """A run that starts the server itself."""

    def __init__(self, command=None):
        self.command = command

    @contextmanager
    def argv(self, program, work):
        count = work / "starts"
        count.write_text("")
        if self.command:
            yield [program, "run", "--quiet", "--", *counted(self.command, count)], lambda: len(count.read_text().splitlines())
        else:
            # It starts itself, and each connection is one process.
            transcript = work / "starts.jsonl"
            starts = lambda: sum(line.startswith('{"link"') for line in transcript.open())
            yield [program, "run", "--reference", "--quiet", "--transcript", transcript], starts


class Listening:
    """A run on a server that is started once and listens."""

    def __init__(self, transport, command, path):
        self.transport, self.command, self.path = transport, command, path

    @contextmanager
    def argv(self, program, work):
        port = free_port()
        command = [str(word).format(port=port, program=program) for word in self.command]
        process = listening(command, port)
        try:
            yield [program, "run", f"--{self.transport}", f"http://127.0.0.1:{port}{self.path}", "--quiet"], lambda: 0
        finally:
            ended(process)


def targets(work, walk):
    """The name of each target, and how it is made; `Missing` says why it cannot be."""
    real = ".ci/real.py installs it"
    npm, servers = REAL / "npm" / "node_modules", REAL / "npm" / "servers"

    def everything():
        script = needs(npm / "@modelcontextprotocol/server-everything/dist/index.js", real)
        return Listening("http", [node(), script, "streamableHttp"], "/mcp")

    return {
        "reference, stdio": lambda: Stdio(),
        "reference, HTTP": lambda: Listening("http", ["{program}", "serve", "--http", "127.0.0.1:{port}"], "/mcp"),
        "reference, HTTP+SSE": lambda: Listening("sse", ["{program}", "serve", "--http", "127.0.0.1:{port}"], "/sse"),
        "server-everything, HTTP": everything,
        "TypeScript SDK, stdio": lambda: Stdio([node(), needs(servers / "weather.mjs", real)]),
        "Python SDK 1, stdio": lambda: Stdio([needs(REAL / "python-1/bin/python", real), needs(servers / "library.py", real)]),
        "FastMCP (Python SDK 2), stdio": lambda: Stdio([needs(REAL / "python-2/bin/python", real), needs(servers / "notes.py", real)]),
        "Rust (rmcp), stdio": lambda: Stdio([needs(work / "rust-server/debug/rust-server", "--compare builds it")]),
        f"walk of {NODES:,}": lambda: walk,
    }


class Walk:
    def __init__(self, argv):
        self.of = argv

    def argv(self, program, _):
        return nullcontext(([program, *self.of(program, NODES), "--quiet"], lambda: 1))


def measured(run, target, program, work):
    """One run: seconds, seconds of processor time, MiB, starts of the server."""
    with target.argv(program, work) as (argv, starts):
        took = run(argv)
        if took.code not in (0, 1):
            raise Missing(f"`{shlex.join(map(str, argv[1:]))}` ended with {took.code}")
        return {"wall": took.wall, "processor": took.cpu, "memory": took.mib, "starts": starts()}


def medians(rows):
    return {what: statistics.median(row[what] for row in rows) for what in rows[0]}


def ratio(before, after):
    return "·" if not before else f"{after / before:.2f}"


def compared(run, walk, base, program, work, rounds, chosen):
    """Runs both programs in turn, and yields the medians for each target."""
    for name, made in targets(work, Walk(walk)).items():
        if chosen and not any(word in name for word in chosen):
            continue
        try:
            target, rows = made(), {base: [], program: []}
            for turn in range(rounds + 1):
                for which in (base, program):
                    row = measured(run, target, which, work)
                    # The first run of each reads from disk.
                    if turn > 0 or rounds == 0:
                        rows[which].append(row)
            yield name, medians(rows[base]), medians(rows[program])
        except Missing as why:
            print(f"| {name} | skipped: {why} |" + " |" * 4, flush=True)


def shown(name, before, after):
    def both(what, unit, digits):
        values = [f"{row[what]:.{digits}f}" for row in (before, after)]
        return f"{ratio(before[what], after[what])} ({values[0]} → {values[1]} {unit})"

    starts = f"{before['starts']:.0f} → {after['starts']:.0f}" if before["starts"] else "·"
    print(f"| {name} | {both('wall', 's', 2)} | {both('processor', 's', 2)} | {both('memory', 'MiB', 0)} | {starts} |", flush=True)


def compare(run, walk, base, program, work, rounds, chosen):
    build_rust_server(work)
    print("\n## Compared\n\nMedians, this program ÷ the base. Processor time and memory are those of the program; over stdio those of "
          "its servers are in them.\n")
    print("| target | wall | processor | peak memory | starts |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    ratios = []
    for name, before, after in compared(run, walk, base, program, work, rounds, chosen):
        shown(name, before, after)
        ratios.append((name, after["processor"] / before["processor"]))
    for name, times in ratios:
        if times > MORE:
            print(f"\n{name}: {times:.2f} times the processor time. CONTRIBUTING.md asks for the reason in the commit.")


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                 platform.processor()) if Path("/proc/cpuinfo").exists() else platform.processor()
    return f"{os.cpu_count()} x {model}"


def profile(program):
    """Debug and release builds have figures of their own."""
    return "release" if program.parent.name == "release" else "debug"


def commit():
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return told.stdout.strip() or "unknown"


def alone(run, walk, program, work, rounds, chosen):
    for name, made in targets(work, Walk(walk)).items():
        if chosen and not any(word in name for word in chosen):
            continue
        try:
            target = made()
            yield name, medians([measured(run, target, program, work) for _ in range(max(rounds, 1))])
        except Missing as why:
            print(f"{name}: skipped: {why}", flush=True)


def record(run, walk, program, work, rounds, chosen):
    """Writes the figures of this program; those of targets that are skipped stay."""
    recorded = json.loads(RECORDED.read_text()) if RECORDED.is_file() else {}
    of = recorded.setdefault(profile(program), {})
    figures = of.get("figures", {})
    for name, row in alone(run, walk, program, work, rounds, chosen):
        figures[name] = {"processor": round(row["processor"], 3), "starts": round(row["starts"])}
        print(f"{name}: {figures[name]}", flush=True)
    of.update(commit=commit(), machine=machine(), figures=figures)
    RECORDED.write_text(json.dumps(recorded, indent=2) + "\n")


def against_recorded(run, walk, program, work, rounds, chosen):
    """Prints processor time and starts with the recorded ones. Machines differ, so it fails nothing."""
    recorded = json.loads(RECORDED.read_text()) if RECORDED.is_file() else {}
    of = recorded.get(profile(program))
    if of is None:
        print(f"nothing is recorded for a {profile(program)} build; --record does it")
        return
    print(f"recorded at {of['commit']}")
    if of["machine"] != machine():
        print(f"**another machine**: recorded on {of['machine']}, this is {machine()}; only starts can be compared")
    print("\n| target | processor, recorded → now | ratio | starts |\n| --- | ---: | ---: | ---: |", flush=True)
    for name, row in alone(run, walk, program, work, rounds, chosen):
        before = of["figures"].get(name)
        if before is None:
            print(f"| {name} | {row['processor']:.2f} s | not recorded | {row['starts']:.0f} |", flush=True)
            continue
        mark = " (more than a tenth)" if row["processor"] > MORE * before["processor"] else ""
        print(f"| {name} | {before['processor']:.2f} → {row['processor']:.2f} s | {ratio(before['processor'], row['processor'])}{mark} "
              f"| {before['starts']} → {row['starts']:.0f} |", flush=True)
