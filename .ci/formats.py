#!/usr/bin/env python3
"""Reads the reports that the tests have left in the folder given, with parsers that know nothing of this project."""
import html.parser
import sys
import time
from pathlib import Path

import html5lib
import junitparser
from sarif import loader
from tap.parser import Parser


def tap(path):
    parsed = list(Parser().parse_file(str(path)))
    plan = next(line for line in parsed if line.category == "plan")
    points = [line for line in parsed if line.category == "test"]
    assert plan.expected_tests == len(points) > 0, (plan.expected_tests, len(points))
    unknown = [line for line in parsed if line.category == "unknown" and line.__class__.__name__ == "Unknown"]
    assert all(point.number == index + 1 for index, point in enumerate(points))
    return f"{len(points)} points, {sum(not point.ok for point in points)} not ok, {len(unknown)} other lines"


def junit(path):
    suites = list(junitparser.JUnitXml.fromfile(str(path)))
    cases = [case for suite in suites for case in suite]
    assert cases, "no test case"
    return f"{len(suites)} suites, {len(cases)} cases, {sum(case.is_failure for case in cases)} failures"


def sarif(path):
    log = loader.load_sarif_file(str(path))
    return f"{log.get_result_count()} results"


def page(path):
    class Loads(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag not in ("img", "link", "iframe", "object", "base", "b") or tag == "b" and not attributes, tag
            for name, value in attributes:
                assert not name.startswith("on"), name
                assert name not in ("src", "srcdoc"), name
                # The matrix leads to the reports beside it.
                beside = path.stem == "matrix" and "/" not in value and value.endswith(".json")
                assert name != "href" or value.startswith(("#", "https://")) or beside, value

    text = path.read_text()
    html5lib.HTMLParser(strict=True).parse(text)
    Loads().feed(text)
    return f"{len(text)} characters"


READERS = {".tap": tap, ".xml": junit, ".sarif": sarif, ".html": page}

folder, seen = Path(sys.argv[1]), 0
for path in sorted(folder.iterdir()):
    reader = READERS.get(path.suffix)
    if reader:
        began = time.monotonic()
        print(f"{path.name:<24} {reader(path)}  ({time.monotonic() - began:.2f} s)")
        seen += 1
assert seen == 3 * len(READERS) + 1, f"{seen} files in {folder}: run the tests first"
