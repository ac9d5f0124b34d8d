"""Records conversations with real servers anew: tests/recorded, which `cargo test` judges.

record.py PROGRAM DIRECTORY [SERVER...]

What is installed in DIRECTORY stays there for the next time. tests/recorded/README.md says more.
"""

import concurrent.futures
import gzip
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from servers import REAL, ROOT, conducted, environment, install, installed, private, without_private

PROGRAM, INTO = (Path(argument).resolve() for argument in sys.argv[1:3])
CHOSEN = sys.argv[3:]
RECORDED = ROOT / "tests/recorded"
RUN_SECONDS = 900
# Larger records slow down each checkout and each test; those of most servers have a fifth of that.
LARGEST = 500_000
PRIVATE, ENVIRONMENT = private(INTO), environment(INTO)


def install_more(listed):
    """Where everything is that tests/recorded/servers.yaml names."""
    places, quiet = {}, ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    wanted = [f"{name}@{version}" for name, version in listed["npm"].items()]
    list_of = RECORDED / "servers.yaml"
    installed(INTO / "more", [list_of], ["npm", "install", *quiet, *wanted])
    places["more"] = INTO / "more/node_modules"
    for name, package in listed["pypi"].items():
        places[name] = INTO / name
        pip = ["bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", package]
        installed(places[name], [list_of], [sys.executable, "-m", "venv", "."], pip)
    places["repository"] = INTO / "repository"
    shutil.rmtree(places["repository"], ignore_errors=True)
    subprocess.run(["git", "init", "-q", places["repository"]], check=True)
    places["kubeconfig"] = ROOT / "tests/sdks/servers/kubeconfig.json"
    return places


def make_executable(command, places):
    """Some packages have programs without that bit, which their install script would set."""
    program = Path(shlex.split(command)[0].format_map(places))
    if program.is_relative_to(INTO):
        program.chmod(0o755)


def record(name, transport, how, places):
    """Runs one server in each revision that it supports; what is wrong, if something is."""
    transcript = INTO / f"{name}.{transport}.jsonl"
    transcript.unlink(missing_ok=True)
    make_executable(how if transport == "stdio" else how["start"], places)
    command = [PROGRAM, "run", "--revision", "all", "--transcript", transcript, "--run-timeout", RUN_SECONDS]
    done = conducted(command, transport, how, places, INTO, 2 * RUN_SECONDS)
    if done.returncode not in (0, 1):
        return f"{shlex.join(done.args)} ended with {done.returncode}\n{done.stdout}"
    text = without_private(transcript.read_text(), PRIVATE)
    packed = gzip.compress(text.encode(), mtime=0)
    if len(packed) > LARGEST:
        return f"{name}.{transport}: {len(packed)} bytes are too many"
    (RECORDED / f"{name}.{transport}.jsonl.gz").write_bytes(packed)
    print(f"{name}.{transport}: {len(packed)} bytes", flush=True)


def main():
    (INTO / "home").mkdir(parents=True, exist_ok=True)
    listed = yaml.safe_load((RECORDED / "servers.yaml").read_text())
    servers = {**yaml.safe_load((REAL / "servers.yaml").read_text()), **listed["servers"]}
    places = {**install(INTO), **install_more(listed)}
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    runs = [(name, transport, how) for name, ways in servers.items() for transport, how in ways.items() if not CHOSEN or name in CHOSEN]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(lambda run: record(*run, places), runs) if said]
    if wrong:
        sys.exit("\n".join(wrong))


main()
