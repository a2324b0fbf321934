import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestHome } from './test-home.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/claude', import.meta.url));

/** The names of all stand-ins. */
export const FAKES: readonly string[] = readdirSync(FIXTURES)
  .map((file) => file.replace('.mjs', ''))
  .filter((name) => name !== 'support');

/** Puts a stand-in for Claude Code into a home, which misbehaves in the one way that its name says. */
export function installFake(home: TestHome, name: string): string {
  if (!FAKES.includes(name)) throw new Error(`there is no stand-in "${name}"`);
  const path = join(home.root, name);
  const fixture = join(FIXTURES, `${name}.mjs`);
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${fixture}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}
