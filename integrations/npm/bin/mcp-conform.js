#!/usr/bin/env node
// Runs the binary for this platform. It is in an optional dependency; npm installs the one whose `os` and `cpu` match.
'use strict';

const { spawn } = require('node:child_process');
const { optionalDependencies } = require('../package.json');

const name = `mcp-conform-${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'mcp-conform.exe' : 'mcp-conform';

function binary() {
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    console.error(
      name in optionalDependencies
        ? `mcp-conform: the package ${name} is not installed.\n` +
            'Install again without --omit=optional, on the platform that runs the program.'
        : `mcp-conform: no prebuilt binary for ${process.platform}-${process.arch}.\n` +
            'Build it with Rust: cargo install --locked --path . in a clone of the repository.',
    );
    process.exit(2);
  }
}

const child = spawn(binary(), process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(`mcp-conform: ${error.message}`);
  process.exit(2);
});
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

// A terminal sends Ctrl-C to both processes, and the binary quits at once on the second one: then it is not passed on.
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => (hasTerminal && signal !== 'SIGTERM' ? undefined : child.kill(signal)));
}
