// Packs `mcp-conform` and a package for each binary, in the version of Cargo.toml, as tarballs:
//
// node pack.mjs DIRECTORY PLATFORM=BINARY...        node pack.mjs dist linux-x64=target/release/mcp-conform
//
// Platforms are named as Node names them: process.platform, "-", process.arch.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const root = resolve(here, '../..');
const [directory, ...binaries] = process.argv.slice(2);
const into = resolve(directory);
const [, version] = readFileSync(join(root, 'Cargo.toml'), 'utf8').match(/^version = "(.+)"$/m);
const template = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

function pack(description, fill) {
  const from = mkdtempSync(join(tmpdir(), 'mcp-conform-npm-'));
  try {
    writeFileSync(join(from, 'package.json'), JSON.stringify(description, null, 2));
    for (const license of ['LICENSE-MIT', 'LICENSE-APACHE']) copyFileSync(join(root, license), join(from, license));
    fill(from);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', into], { cwd: from, shell: process.platform === 'win32' });
  } finally {
    rmSync(from, { recursive: true });
  }
}

mkdirSync(into, { recursive: true });
for (const given of binaries) {
  const [platform, binary] = given.split('=');
  const name = `mcp-conform-${platform}`;
  if (!(name in template.optionalDependencies)) throw new Error(`${name} is not an optional dependency in package.json`);
  const [os, cpu] = platform.split('-');
  const file = os === 'win32' ? 'mcp-conform.exe' : 'mcp-conform';
  const description = { name, version, description: `The binary of mcp-conform for ${platform}`, license: template.license };
  pack({ ...description, os: [os], cpu: [cpu], files: [file, "LICENSE-*"], preferUnplugged: true }, (from) => {
    copyFileSync(binary, join(from, file));
    chmodSync(join(from, file), 0o755);
  });
}
const optionalDependencies = Object.fromEntries(Object.keys(template.optionalDependencies).map((name) => [name, version]));
pack({ ...template, version, optionalDependencies }, (from) => {
  cpSync(join(here, 'bin'), join(from, 'bin'), { recursive: true });
  copyFileSync(join(here, 'README.md'), join(from, 'README.md'));
});
