"""Each rule of mcp-conform as a test of pytest.

A file mcp-conform.toml that pytest comes by is tested: the server is run once, while tests are collected, and every rule that
can fail and that concerns the server becomes a test.

    [tool.pytest.ini_options]
    testpaths = ["tests", "mcp-conform.toml"]
    mcp_conform = "--strict"                     # more arguments of `mcp-conform run`
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
import warnings

import pytest

CONFIGURATION = "mcp-conform.toml"
# Control characters and those that turn the direction of text: a server must not write on the reader's terminal.
HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def pytest_addoption(parser):
    parser.addini("mcp_conform", "arguments of `mcp-conform run`", default="")


def pytest_collect_file(file_path, parent):
    if file_path.name == CONFIGURATION:
        return Configuration.from_parent(parent, path=file_path)
    return None


class Configuration(pytest.File):
    def collect(self):
        report = run(self.path, shlex.split(self.config.getini("mcp_conform")))
        for rule in report["rules"]:
            if rule["level"] in ("must", "should") and rule["status"] != "not-applicable":
                name = f"{rule['suite']}::{rule['id']}"
                if len(report["revisions"]) > 1:
                    name += f"[{rule['revision']}]"
                yield Rule.from_parent(self, name=name, rule=rule, failing=failing(report))
        yield Run.from_parent(self, name="run", report=report)


def failing(report):
    """The statuses of rules that fail the run."""
    statuses = {"fail", "broken"}
    if report["strict"]:
        statuses.add("warn")
    if report.get("flaky") != "pass":
        statuses.add("flaky")
    return statuses


class Rule(pytest.Item):
    def __init__(self, rule, failing, **kwargs):
        super().__init__(**kwargs)
        self.rule = rule
        self.failing = failing

    def runtest(self):
        status = self.rule["status"]
        if status in self.failing:
            raise Broken(explained(self.rule))
        if status == "warn":
            warnings.warn(Recommended(explained(self.rule)))
        if status in ("not-exercised", "known", "flaky"):
            pytest.skip(plain(self.rule.get("reason", status)))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


class Run(pytest.Item):
    """What concerns no single rule, such as an entry of the baseline that nothing fails for any more."""

    def __init__(self, report, **kwargs):
        super().__init__(**kwargs)
        self.report = report

    def runtest(self):
        report = self.report
        told = failing(report)
        if report["exit_code"] != 0 and not any(rule["status"] in told for rule in report["rules"]):
            raise Broken(plain("\n".join([f"exit code {report['exit_code']}", *report["notes"]])))

    repr_failure = Rule.repr_failure
    reportinfo = Rule.reportinfo


class Broken(Exception):
    """A rule does not hold."""


class Recommended(pytest.PytestWarning):
    """What the protocol recommends does not hold."""


def run(configuration, arguments):
    """The report of one run. A server that cannot be tested is an error of the collection."""
    program = os.environ.get("MCP_CONFORM", "mcp-conform")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        command = [program, "run", "--config", str(configuration), *arguments, "--report", f"json={path}"]
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=configuration.parent)
        except FileNotFoundError:
            raise pytest.UsageError(f"there is no `{program}`; install it, or name it in the variable MCP_CONFORM") from None
        try:
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            # A run that ended before there was a result says why, and in more lines on stderr than in its report.
            if report["rules"] or not ran.stderr.strip():
                return report
        except (FileNotFoundError, ValueError):
            pass
    raise pytest.UsageError(ran.stderr.strip() or f"exit code {ran.returncode} and no report")


def explained(rule):
    lines = [f"{rule['level'].upper()} {rule['statement']}"]
    if rule.get("reason"):
        lines.append(rule["reason"])
    for finding in rule.get("findings", []):
        lines += ["", ": ".join(part for part in (finding["subject"], finding["message"]) if part)]
        lines += [f"  #{frame['frame']} {frame['from']}  {frame['text']}" for frame in finding.get("messages", [])]
        if finding.get("reproduce"):
            lines.append(f"  rerun  {finding['reproduce']}")
    if rule.get("hint"):
        lines.append(f"hint   {rule['hint']}")
    lines.append(f"more   mcp-conform explain {rule['id']}")
    return plain("\n".join(lines))


def plain(text):
    return HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
