"""The packages for npm and PyPI, built from the debug binary and used from clean directories as a user would.

packages.py PROGRAM DIRECTORY
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from servers import REAL, ROOT, install, words

PROGRAM = Path(sys.argv[1]).resolve()
INTO = Path(sys.argv[2]).resolve()
PYTHON = Path(sys.executable).parent
HERE = f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"
ELSEWHERE = "win32-x64"
QUICK = ["--filter", "resources.list"]


def done(command, cwd, expected=0, **env):
    """All output of a command that must end with this exit code."""
    command = [str(word) for word in command]
    env = {**os.environ, "NO_COLOR": "1", **env}
    run = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
    if run.returncode != expected:
        sys.exit(f"{run.stdout}\n{command}\nexited {run.returncode}, expected {expected}")
    return run.stdout


def check(holds, what, output=""):
    if not holds:
        sys.exit(f"{output}\n\nnot true: {what}")


def clean(name):
    path = INTO / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def conforms(command, cwd, real, **env):
    """The reference server conforms, a fault of it does not, and a real server is reached."""
    output = done([*command, "run", "--reference"], cwd, **env)
    check("exit 0" in output, "the reference server conforms", output)
    output = done([*command, "run", "--reference", "--fault", "list-item-without-name", *QUICK], cwd, 1, **env)
    check("FAIL  resources-list-item-name" in output, "a fault is found", output)
    output = done([*command, "run", "--filter", "tools.list", "--", *real], cwd, **env)
    check("memory-server" in output, "a real server is tested", output)


class Registry(BaseHTTPRequestHandler):
    """As much of an npm registry as `npm install` needs."""

    tarballs = {}
    served = []

    def do_GET(self):
        name = self.path.strip("/")
        if name in self.tarballs:
            self.served.append(name)
            return self.reply(self.tarballs[name].read_bytes(), "application/octet-stream")
        found = [file for file in self.tarballs.values() if self.manifest(file)["name"] == name]
        if not found:
            return self.send_error(404)
        manifest = self.manifest(found[0])
        host, port = self.server.server_address
        shasum = hashlib.sha1(found[0].read_bytes()).hexdigest()
        manifest["dist"] = {"tarball": f"http://{host}:{port}/{found[0].name}", "shasum": shasum}
        version = manifest["version"]
        self.reply(json.dumps({"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest}}).encode(), "application/json")

    def reply(self, body, media):
        self.send_response(200)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def manifest(file):
        with tarfile.open(file) as archive:
            return json.load(archive.extractfile("package/package.json"))

    def log_message(self, *_):
        pass


def from_npm(binary, real):
    tarballs = clean("npm")
    (tarballs / "elsewhere.exe").write_text("a binary that cannot run here")
    pack = ["node", ROOT / "integrations/npm/pack.mjs", tarballs]
    done([*pack, f"{HERE}={binary}", f"{ELSEWHERE}={tarballs / 'elsewhere.exe'}"], INTO)
    main, here = (next(tarballs.glob(f"{name}-[0-9]*.tgz")) for name in ("mcp-conform", f"mcp-conform-{HERE}"))
    Registry.tarballs = {file.name: file for file in tarballs.glob("*.tgz")}
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{registry.server_address[1]}"
        env = {"npm_config_registry": url, "npm_config_cache": str(clean("npm-cache")), "npm_config_update_notifier": "false"}
        npx = ["npx", "--yes", "--package", main]
        conforms([*npx, "mcp-conform"], clean("npx"), real, **env)
        check(here.name in Registry.served, "npm installs the binary of this platform", Registry.served)
        check(not any(ELSEWHERE in name for name in Registry.served), "and of no other", Registry.served)
        output = done(["npx", "--yes", "mcp-conform", "--version"], clean("npx-by-name"), **env)
        check(output.startswith("mcp-conform "), "it has the same name in a registry", output)

        project = clean("npm-without-optional")
        (project / "package.json").write_text("{}")
        done(["npm", "install", "--silent", "--omit=optional", main], project, **env)
        output = done([project / "node_modules/.bin/mcp-conform", "--version"], project, 2, **env)
        check(f"mcp-conform-{HERE} is not installed" in output, "a missing binary is named", output)
        registry.shutdown()
    nowhere = {**env, "npm_config_offline": "true", "npm_config_cache": str(clean("npm-cache-2"))}
    output = done([*npx, "--package", here, "mcp-conform", "--version"], clean("npx-offline"), **nowhere)
    check(output.startswith("mcp-conform "), "both tarballs need no registry", output)


def from_pypi(real):
    wheels = clean("wheels")
    build = [PYTHON / "maturin", "build", "--profile", "dev", "--strip", "--quiet", "--out", wheels]
    done(build, ROOT / "integrations/pypi")
    (wheel,) = wheels.glob("mcp_conform_cli-*.whl")
    homes = clean("pipx")
    env = {"PIPX_HOME": str(homes / "home"), "PIPX_BIN_DIR": str(homes / "bin"), "USE_EMOJI": "0"}
    conforms([PYTHON / "pipx", "run", "--spec", wheel, "mcp-conform"], clean("pipx-run"), real, **env)
    environment = clean("venv")
    done([sys.executable, "-m", "venv", environment], INTO)
    done([environment / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-index", wheel], INTO)
    output = done([environment / "bin/mcp-conform", "--version"], INTO)
    check(output.startswith("mcp-conform "), "pip installs the command", output)


def main():
    places = install(ROOT / "target/real")
    real = words(yaml.safe_load((REAL / "servers.yaml").read_text())["memory"]["stdio"], places)
    binary = clean("binary") / "mcp-conform"
    # Debug information is 80 % of it.
    done(["strip", "-o", binary, PROGRAM], INTO)
    from_npm(binary, real)
    from_pypi(real)
    print("packages for npm and PyPI run the reference server and a real one")


main()
