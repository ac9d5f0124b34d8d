"""Records conversations with the smallest server on each SDK anew, and the verdicts on the client of each: tests/recorded/sdks.

sdks.py PROGRAM DIRECTORY [NAME...]

What is installed in DIRECTORY stays there for the next time. tests/sdks/README.md says more.
"""

import concurrent.futures
import gzip
import http.server
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import yaml

from servers import ROOT, conducted, ended, environment, free_port, installed, listening, private, without_private, words

PROGRAM, INTO = (Path(argument).resolve() for argument in sys.argv[1:3])
CHOSEN = sys.argv[3:]
SDKS = ROOT / "tests/sdks"
CLIENTS = ROOT / "integrations/clients"
RECORDED = ROOT / "tests/recorded/sdks"
RUN_SECONDS = 900
RECORDED_CLIENTS = RECORDED / "clients"
RECORDED_OFFICIAL = RECORDED / "official"
# The official suite, which needs a newer Node than others: the stable one, and the newest with each of its sets of scored scenarios.
OFFICIAL_PACKAGES = ["node@24.21.0", "stable@npm:@modelcontextprotocol/conformance@0.1.16", "alpha@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12"]
OFFICIAL = {
    "0.1.16": ("stable", []),
    "0.2.0-alpha.12, 2025-11-25": ("alpha", ["--requirements", "2025-11-25"]),
    "0.2.0-alpha.12, 2026-07-28": ("alpha", ["--requirements", "2026-07-28"]),
}
# A server in five revisions over HTTP has nine tenths of that, most others a third.
LARGEST = 300_000


class Backend(http.server.BaseHTTPRequestHandler):
    """What a published server finds where it expects a service of its own: each request has an empty object as its response."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


def install(name, row, source):
    """Where the server or client of this row is, with its packages around it."""
    into, packages = INTO / name, row["packages"]
    pinned = INTO / f"{name}.lock"
    pinned.write_text(yaml.safe_dump(packages))
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    npm = ["npm", "install", *quiet, *(f"{package}@{version}" for package, version in packages.items())]
    if "published" in row:
        installed(into, [pinned], npm)
        program = into / "node_modules" / row["published"]
        # Their install scripts, which do not run here, would set this bit.
        program.chmod(0o755)
        return program
    if source.suffix == ".mjs":
        installed(into, [pinned], npm)
    elif source.suffix == ".py":
        pip = ["bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        wanted = [f"{package}=={version}" for package, version in packages.items()]
        installed(into, [pinned], [sys.executable, "-m", "venv", "."], [*pip, *wanted])
    elif "build" in row:
        # A change of the source is built anew too.
        pinned.write_text(pinned.read_text() + "".join(path.read_text() for path in sorted(source.rglob("*.*"))))
        installed(into, [pinned], ["cp", "-r", f"{source}/.", "."], npm, shlex.split(row["build"]))
        return into
    else:
        # Cargo's own files pin the packages. Its target folder is shared: most of what the servers need is the same.
        target = INTO / "target"
        manifest = source / "Cargo.toml"
        installed_from = [manifest, source / "Cargo.lock", *sorted((source / "src").iterdir())]
        build = ["cargo", "build", "--locked", "--quiet", "--manifest-path", manifest, "--target-dir", target]
        program = tomllib.loads(manifest.read_text())["package"]["name"]
        installed(into, installed_from, build, ["cp", target / "debug" / program, "program"])
        return into / "program"
    return Path(shutil.copy(source, into / f"program{source.suffix}"))


def named(row):
    """The SDKs of a row that something is known of, in the order of the ledger."""
    ledger = [yaml.safe_load(path.read_text())["sdk"] for path in sorted((ROOT / "suites/sdks").glob("*.yaml"))]
    packages = {**row["packages"], **({row["sdk"]: row["version"]} if "published" in row else {})}
    return [{"package": sdk, "version": str(packages[sdk])} for sdk in ledger if sdk in packages]


def with_sdks(transcript, transport, sdks):
    """The transcript with the SDKs in its first line. Over stdio the run has to have found them."""
    first, rest = transcript.split("\n", 1)
    header = json.loads(first)
    target = header["transcript"]["target"]
    if transport == "stdio" and target.get("sdks", []) != sdks:
        raise ValueError(f"the run found {target.get('sdks')}, and not {sdks}")
    target["sdks"] = sdks
    return json.dumps(header, ensure_ascii=False, separators=(",", ":")) + "\n" + rest


def record(name, transport, how, places, row):
    """Runs one server in each revision that it supports; what is wrong, if something is."""
    transcript, report = (INTO / f"{name}.{transport}.{suffix}" for suffix in ("jsonl", "json"))
    transcript.unlink(missing_ok=True)
    command = [PROGRAM, "run", "--revision", "all", "--transcript", transcript, "--report", f"json={report}"]
    # The tools of the servers here do nothing but return something.
    command += [] if "published" in row else ["--call-tools"]
    done = conducted([*command, "--run-timeout", RUN_SECONDS], transport, how, places, INTO, 2 * RUN_SECONDS)
    if done.returncode not in (0, 1):
        return f"{shlex.join(done.args)} ended with {done.returncode}\n{done.stdout}"
    try:
        text = with_sdks(transcript.read_text(), transport, named(row))
    except ValueError as why:
        return f"{name}: {why}"
    packed = gzip.compress(without_private(text, private(INTO)).encode(), mtime=0)
    if len(packed) > LARGEST:
        return f"{name}.{transport}: {len(packed)} bytes are too many"
    RECORDED.mkdir(parents=True, exist_ok=True)
    (RECORDED / f"{name}.{transport}.jsonl.gz").write_bytes(packed)
    print(f"{name}.{transport}: {len(packed)} bytes", flush=True)


def record_client(name, transport, start):
    """Tests one client in each revision that it speaks; what is wrong, if something is. A transcript would have a hundred megabytes."""
    report = INTO / f"{name}.{transport}.json"
    command = [PROGRAM, "client", "--transport", transport, "--revision", "all", "--parallel", "2", "--run-timeout", RUN_SECONDS, "--report", f"json={report}"]
    run = [str(word) for word in [*command, *shlex.split(start)]]
    done = subprocess.run(run, cwd=INTO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=2 * RUN_SECONDS)
    if done.returncode not in (0, 1):
        return f"{shlex.join(run)} ended with {done.returncode}\n{done.stdout}"
    result, judged, found = json.loads(report.read_text()), {}, []
    # A run that reached its limit exits with 1 if a rule had failed by then.
    if result.get("cut_short"):
        return f"{name}.{transport}: {result['cut_short']}"
    for rule in result["rules"]:
        if rule["status"] in ("fail", "warn", "pass"):
            of = judged.setdefault(rule["revision"], {"fail": 0, "warn": 0, "pass": 0})
            of[rule["status"]] += 1
        if rule["status"] == "fail":
            found.append({"rule": rule["id"], "revision": rule["revision"], "message": rule["findings"][0]["message"]})
    client = {"judged": judged, "found": found}
    RECORDED_CLIENTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(client, ensure_ascii=False, indent=1) + "\n"
    (RECORDED_CLIENTS / f"{name}.{transport}.json").write_text(without_private(text, private(INTO)))
    print(f"{name}.{transport}: {len(found)} failures of the client", flush=True)


def record_official(name, how, places):
    """How many of the scenarios that count pass in the official suite. It requires tools and resources of its own."""
    port, of, packages = free_port(), {}, INTO / "official/node_modules"
    process = listening(words(how["start"], {**places, "port": port}), port)
    try:
        for version, (package, more) in OFFICIAL.items():
            command = [packages / "node/bin/node", packages / package / "dist/index.js", "server", "--url", f"http://127.0.0.1:{port}{how['at']}"]
            done = subprocess.run([*command, *more], cwd=INTO, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=RUN_SECONDS)
            ends, _, uncounted = done.stdout.partition("=== SUMMARY ===")[2].partition("Not scored for")
            counted = {scenario: mark for mark, scenario in re.findall(r"^([✓✗]) ([\w-]+):", ends, re.M)}
            for scenario in re.findall(r"^  [✓✗] ([\w-]+) \(", uncounted, re.M):
                counted.pop(scenario, None)
            of[version] = {"passed": list(counted.values()).count("✓"), "scenarios": len(counted)}
    finally:
        ended(process)
    RECORDED_OFFICIAL.mkdir(parents=True, exist_ok=True)
    (RECORDED_OFFICIAL / f"{name}.http.json").write_text(json.dumps(of, indent=1) + "\n")
    print(f"{name}.http: the official suite says {of}", flush=True)


def rows(file):
    every = yaml.safe_load((SDKS / file).read_text())
    return {name: row for name, row in every.items() if not CHOSEN or name in CHOSEN}.items()


def main():
    (INTO / "home").mkdir(parents=True, exist_ok=True)
    backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    runs = []
    for name, row in rows("servers.yaml"):
        places = {"server": install(name, row, SDKS / "servers" / row.get("server", "")), "python": INTO / name / "bin/python"}
        places |= {"backend": f"http://127.0.0.1:{backend.server_port}", "files": SDKS / "servers"}
        runs += [(record, name, transport, row[transport], places, row) for transport in ("stdio", "http") if transport in row]
        if "http" in row and "published" not in row:
            pinned = INTO / "official.lock"
            pinned.write_text("\n".join(OFFICIAL_PACKAGES))
            npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
            installed(INTO / "official", [pinned], [*npm, *OFFICIAL_PACKAGES])
            runs.append((record_official, name, row["http"], places))
    for name, row in rows("clients.yaml"):
        places = {"client": install(name, row, CLIENTS / row["client"]), "python": INTO / name / "bin/python"}
        runs += [(record_client, name, transport, start.format_map(places)) for transport, start in row["starts"].items()]
    os.environ.clear()
    os.environ.update(environment(INTO))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda run: run[0](*run[1:]), runs) if said]
    if wrong:
        sys.exit("\n".join(wrong))


main()
