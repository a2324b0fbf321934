#!/usr/bin/env node
import { existsSync } from 'node:fs';

const entry = new URL('../dist/reins.js', import.meta.url);
if (!existsSync(entry)) {
  process.stderr.write('reins is not built yet. Type: npm run setup\n');
  process.exit(1);
}
await import(entry.href);
