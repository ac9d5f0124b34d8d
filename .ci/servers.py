"""Servers from registries: what .ci/real.py, .ci/record.py and .ci/planted.py share. Locks, commands and what to start stand in tests/real."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT / "tests/real"
# A machine with other work to do may be slow to start a server.
START_SECONDS = 60


def installed(directory, locks, *commands):
    """Runs the commands in the directory, unless they were run for the same locks before."""
    of = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()
    mark = directory / "installed.txt"
    if mark.is_file() and mark.read_text() == of:
        return
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for lock in locks:
        shutil.copy(lock, directory)
    for command in commands:
        subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)
    mark.write_text(of)


def install(into):
    """Where everything is that servers.yaml names."""
    npm = into / "npm"
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    installed(npm, sorted((REAL / "npm").iterdir()), ["npm", "ci", *quiet])
    places = {"npm": npm / "node_modules", "servers": npm / "servers", "data": into / "data"}
    for lock in sorted((REAL / "python").glob("*.txt")):
        directory = into / lock.stem
        pip = ["bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
        installed(directory, [lock], [sys.executable, "-m", "venv", "."], [*pip, "-r", lock.name])
        places[lock.stem] = directory / "bin"
    for name in ("servers", "data"):
        shutil.rmtree(places[name], ignore_errors=True)
        places[name].mkdir()
    for file in [*(REAL / "servers").iterdir(), *(ROOT / "tests/servers").glob("*.*"), *(ROOT / "integrations/clients").glob("*_sdk.*")]:
        shutil.copy(file, places["servers"])
    (places["data"] / "folder").mkdir()
    (places["data"] / "hello.txt").write_text("hello\n")
    (places["data"] / "folder/list.json").write_text("[1, 2, 3]\n")
    return places


def built(package, target):
    """Where the programs of this Rust package are."""
    command = ["cargo", "build", "--locked", "--quiet", "--manifest-path", package / "Cargo.toml", "--target-dir", target]
    subprocess.run(command, check=True)
    return target / "debug"


def words(command, places):
    return [word.format_map(places) for word in shlex.split(command)]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def listening(command, port, more=None):
    """The server as a process, once it listens."""
    env = {**os.environ, "PORT": str(port), **(more or {})}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=env, start_new_session=True, **silent)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    ended(process)
    sys.exit(f"{shlex.join(command)}\nnever listened on port {port}")


def conducted(command, transport, how, places, cwd, seconds, more=None):
    """Runs the program on a server, and starts and ends that one if it is one over HTTP."""
    process = None
    if transport == "stdio":
        command = [*command, "--", *words(how, places)]
    else:
        port = free_port()
        process = listening(words(how["start"], {**places, "port": port}), port, more)
        command = [*command, f"--{transport}", f"http://127.0.0.1:{port}{how['at']}"]
    try:
        run = [str(word) for word in command]
        return subprocess.run(run, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    finally:
        if process:
            ended(process)


def private(into):
    """Paths of this machine, and what is written instead."""
    return {str(into): "/srv/mcp", str(ROOT): "/srv/mcp", sys.base_prefix: "/usr", str(Path.home()): "/home/user"}


def without_private(text, private):
    for path, instead in private.items():
        # An escaped line break looks like the end of a word.
        text = re.sub(rf"((?<!\w)|(?<=\\n)){re.escape(path)}(?![\w-])", instead, text)
    return text


def environment(into):
    """A server may show its environment."""
    return {"PATH": f"{Path(shutil.which('node')).parent}:/usr/bin:/bin", "HOME": str(into / "home")}


def ended(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
