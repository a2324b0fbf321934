#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

// A gateway waits most of its life and its work is parsing and sockets, which are native: code that is never
// optimised costs it nothing that a client would notice and saves about a tenth of its memory.
setFlagsFromString('--optimize-for-size');
setFlagsFromString('--no-opt');
// What comes by in a stream is short-lived: without this the heap grows with it by tens of megabytes.
setFlagsFromString('--semi-space-growth-factor=1');

const entry = new URL('../dist/reins.js', import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write('reins is not built yet. Type: npm run setup\n');
  process.exit(1);
}
await import(entry.href);
