// Each rule of mcp-conform as a test of node:test or Vitest:
//
//     import test from 'node:test';                       // or: import { test } from 'vitest';
//     import { conformance } from 'mcp-conform-node';
//     await conformance(test);                            // the server of mcp-conform.toml
//     await conformance(test, ['--stdio', 'node server.mjs']);

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Tests a server and registers a test for each rule that can fail and that concerns it. The arguments are those of `mcp-conform run`. */
export async function conformance(test, args = []) {
  const report = await run(args);
  for (const rule of report.rules) {
    if (!['must', 'should'].includes(rule.level) || rule.status === 'not-applicable') continue;
    let name = `${rule.suite}::${rule.id}`;
    if (report.revisions.length > 1) name += ` (${rule.revision})`;
    if (['not-exercised', 'known'].includes(rule.status) || (rule.status === 'flaky' && !fails(report, rule))) {
      test.skip(plain(`${name}: ${rule.reason ?? rule.status}`), () => {});
    } else {
      test(name, () => {
        if (fails(report, rule)) throw failure(explained(rule));
      });
    }
  }
  // What concerns no single rule, such as an entry of the baseline that nothing fails for any more.
  test('run', () => {
    if (report.exit_code !== 0 && !report.rules.some((rule) => fails(report, rule))) {
      throw failure(plain([`exit code ${report.exit_code}`, ...report.notes].join('\n')));
    }
  });
}

/** The JSON report of one run. */
export async function run(args = []) {
  const directory = await mkdtemp(join(tmpdir(), 'mcp-conform-'));
  try {
    const path = join(directory, 'report.json');
    // What comes after `--` is the command of the server.
    const end = args.includes('--') ? args.indexOf('--') : args.length;
    const said = await ended(['run', ...args.slice(0, end), '--report', `json=${path}`, ...args.slice(end)]);
    const text = await readFile(path, 'utf8').catch(() => '');
    const report = text ? JSON.parse(text) : undefined;
    // A run that ended before there was a result says why, and in more lines on stderr than in its report.
    if (!report || (report.rules.length === 0 && said.trim())) throw new Error(said.trim() || 'there is no report');
    return report;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function ended(args) {
  const program = process.env.MCP_CONFORM ?? 'mcp-conform';
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    child.on('error', () => reject(new Error(`there is no \`${program}\`; install it, or name it in the variable MCP_CONFORM`)));
    child.on('close', () => resolve(said));
  });
}

function fails(report, rule) {
  if (rule.status === 'flaky') return report.flaky !== 'pass';
  return rule.status === 'fail' || rule.status === 'broken' || (report.strict && rule.status === 'warn');
}

function explained(rule) {
  const lines = [`${rule.level.toUpperCase()} ${rule.statement}`];
  if (rule.reason) lines.push(rule.reason);
  for (const finding of rule.findings ?? []) {
    lines.push('', [finding.subject, finding.message].filter(Boolean).join(': '));
    for (const frame of finding.messages ?? []) lines.push(`  #${frame.frame} ${frame.from}  ${frame.text}`);
    if (finding.reproduce) lines.push(`  rerun  ${finding.reproduce}`);
  }
  if (rule.hint) lines.push(`hint   ${rule.hint}`);
  lines.push(`more   mcp-conform explain ${rule.id}`);
  return plain(lines.join('\n'));
}

/** Without control characters and those that turn the direction of text: a server must not write on the reader's terminal. */
function plain(text) {
  const harmful = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
  return text.replace(harmful, (character) => `\\u${character.codePointAt(0).toString(16).padStart(4, '0')}`);
}

/** An error that speaks for itself: where it was thrown says nothing. */
function failure(message) {
  const error = new Error(message);
  error.stack = message;
  return error;
}
