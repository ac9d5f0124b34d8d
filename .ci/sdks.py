"""Records conversations with the smallest server on each SDK anew: tests/recorded/sdks.

sdks.py PROGRAM DIRECTORY [NAME...]

What is installed in DIRECTORY stays there for the next time. tests/sdks/README.md says more.
"""

import concurrent.futures
import gzip
import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import yaml

from servers import ROOT, conducted, environment, installed, private, without_private

PROGRAM, INTO = (Path(argument).resolve() for argument in sys.argv[1:3])
CHOSEN = sys.argv[3:]
SDKS = ROOT / "tests/sdks"
RECORDED = ROOT / "tests/recorded/sdks"
RUN_SECONDS = 900
# A server in five revisions over HTTP has nine tenths of that, most others a third.
LARGEST = 260_000


def install(name, row):
    """Where the server of this row is, with its packages around it."""
    source = SDKS / "servers" / row["server"]
    into, packages = INTO / name, row["packages"]
    pinned = INTO / f"{name}.lock"
    pinned.write_text(yaml.safe_dump(packages))
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    npm = ["npm", "install", *quiet, *(f"{package}@{version}" for package, version in packages.items())]
    if source.suffix == ".mjs":
        installed(into, [pinned], npm)
        server = into / "server.mjs"
    elif source.suffix == ".py":
        pip = ["bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        wanted = [f"{package}=={version}" for package, version in packages.items()]
        installed(into, [pinned], [sys.executable, "-m", "venv", "."], [*pip, *wanted])
        server = into / "server.py"
    elif "build" in row:
        # A change of the source is built anew too.
        pinned.write_text(pinned.read_text() + "".join(path.read_text() for path in sorted(source.rglob("*.*"))))
        installed(into, [pinned], ["cp", "-r", f"{source}/.", "."], npm, shlex.split(row["build"]))
        return into
    else:
        # Cargo's own files pin the packages. Its target folder is shared: most of what the servers need is the same.
        target = INTO / "target"
        installed_from = [source / "Cargo.toml", source / "Cargo.lock", source / "src/main.rs"]
        build = ["cargo", "build", "--locked", "--quiet", "--manifest-path", source / "Cargo.toml", "--target-dir", target]
        installed(into, installed_from, build, ["cp", target / "debug" / source.name, "server"])
        return into / "server"
    shutil.copy(source, server)
    return server


def named(row):
    """The SDKs of a row that something is known of, in the order of the ledger."""
    ledger = [yaml.safe_load(path.read_text())["sdk"] for path in sorted((ROOT / "suites/sdks").glob("*.yaml"))]
    return [{"package": sdk, "version": str(row["packages"][sdk])} for sdk in ledger if sdk in row["packages"]]


def with_sdks(transcript, transport, sdks):
    """The transcript with the SDKs in its first line. Over stdio the run has to have found them."""
    first, rest = transcript.split("\n", 1)
    header = json.loads(first)
    target = header["transcript"]["target"]
    if transport == "stdio" and target.get("sdks", []) != sdks:
        raise ValueError(f"the run found {target.get('sdks')}, and not {sdks}")
    target["sdks"] = sdks
    return json.dumps(header, ensure_ascii=False, separators=(",", ":")) + "\n" + rest


def record(name, transport, how, places, sdks):
    """Runs one server in each revision that it supports; what is wrong, if something is."""
    transcript, report = (INTO / f"{name}.{transport}.{suffix}" for suffix in ("jsonl", "json"))
    transcript.unlink(missing_ok=True)
    # The tools do nothing but return something.
    command = [PROGRAM, "run", "--revision", "all", "--call-tools", "--transcript", transcript, "--report", f"json={report}"]
    done = conducted([*command, "--run-timeout", RUN_SECONDS], transport, how, places, INTO, 2 * RUN_SECONDS)
    if done.returncode not in (0, 1):
        return f"{shlex.join(done.args)} ended with {done.returncode}\n{done.stdout}"
    try:
        text = with_sdks(transcript.read_text(), transport, sdks)
    except ValueError as why:
        return f"{name}: {why}"
    packed = gzip.compress(without_private(text, private(INTO)).encode(), mtime=0)
    if len(packed) > LARGEST:
        return f"{name}.{transport}: {len(packed)} bytes are too many"
    RECORDED.mkdir(parents=True, exist_ok=True)
    (RECORDED / f"{name}.{transport}.jsonl.gz").write_bytes(packed)
    print(f"{name}.{transport}: {len(packed)} bytes", flush=True)


def main():
    (INTO / "home").mkdir(parents=True, exist_ok=True)
    rows = {name: row for name, row in yaml.safe_load((SDKS / "servers.yaml").read_text()).items() if not CHOSEN or name in CHOSEN}
    runs = []
    for name, row in rows.items():
        places = {"server": install(name, row), "python": INTO / name / "bin/python"}
        runs += [(name, transport, row[transport], places, named(row)) for transport in ("stdio", "http") if transport in row]
    os.environ.clear()
    os.environ.update(environment(INTO))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda run: record(*run), runs) if said]
    if wrong:
        sys.exit("\n".join(wrong))


main()
