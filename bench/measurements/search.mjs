import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { rgPath } from '@vscode/ripgrep';
import { alternate } from '../support/alternate.mjs';
import { loadProduct } from '../support/load-product.mjs';
import { ratioResult } from '../support/results.mjs';
import { textOf } from '../support/text.mjs';
import { withWorkspace } from '../support/workspace.mjs';

const DIRECTORIES = 600;
const FILES_PER_DIRECTORY = 100;
/** Sizes go round from a quarter of this to seven quarters. */
const MEAN_FILE_BYTES = 10 * 1024;
/** One file in so many holds the text that is searched. */
const FILES_PER_MATCH = 150;
const QUERY = 'needle(in)[a].haystack*';

/** SearchText, called directly, against ripgrep with the same flags for the walk. */
export function measureSearch({ runs, progress }) {
  return withWorkspace(async (workspace) => {
    progress.say('SearchText: making the tree');
    const matches = await makeTree(workspace.project);
    const { createPathProtection, toolsFor, WALK_FLAGS } = await loadProduct(workspace);
    const tool = toolsFor('read_only').find(({ name }) => name === 'SearchText');
    const context = {
      workingDirectory: workspace.project,
      writeRoot: null,
      protection: createPathProtection(
        workspace.env.HOME,
        workspace.env.REINS_STATE_DIR,
        process.platform,
        { closed: [], opened: [] },
      ),
      commands: null,
      lastSeen: () => undefined,
    };
    const ours = async () => {
      const startedAt = performance.now();
      const answer = await tool.execute({ query: QUERY }, context);
      const ms = performance.now() - startedAt;
      const total = /\[(\d+) matching lines/.exec(answer.text)?.[1];
      requireMatches(Number(total), matches);
      return ms;
    };
    const ripgrep = async () => {
      const startedAt = performance.now();
      const args = [...WALK_FLAGS, '-F', '-n', '--', QUERY, workspace.project];
      const child = spawn(rgPath, args, { env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
      const found = await text(child.stdout);
      const ms = performance.now() - startedAt;
      requireMatches(found.split('\n').length - 1, matches);
      return ms;
    };
    const label = 'SearchText against rg -F';
    const figures = await alternate({ pairs: runs, progress, label, ours, baseline: ripgrep });
    return [
      ratioResult({
        measurement: label,
        unit: 'ms',
        ...figures,
        limit: 1.3,
        note: `${DIRECTORIES * FILES_PER_DIRECTORY} files, ${describeSize()}, ${matches} matching lines, all in the page cache`,
      }),
    ];
  });
}

/** Returns the number of matching lines. Contents are slices of one text, since making them anew would take longer. */
async function makeTree(root) {
  const pool = textOf(4 * MEAN_FILE_BYTES);
  let matches = 0;
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `part-${directory % 20}`, `module-${directory}`);
    await mkdir(path, { recursive: true });
    const writes = [];
    for (let file = 0; file < FILES_PER_DIRECTORY; file += 1) {
      const number = directory * FILES_PER_DIRECTORY + file;
      const offset = (number * 977) % (2 * MEAN_FILE_BYTES);
      const content = pool.slice(offset, offset + fileBytes(number));
      const hit = number % FILES_PER_MATCH === 0;
      if (hit) matches += 1;
      writes.push(
        writeFile(
          join(path, `file-${file}.ts`),
          hit ? `${content}\n// the ${QUERY}\n` : `${content}\n`,
        ),
      );
    }
    await Promise.all(writes);
  }
  return matches;
}

function fileBytes(number) {
  return Math.floor((MEAN_FILE_BYTES * (1 + (number % 7))) / 4);
}

function describeSize() {
  let bytes = 0;
  for (let number = 0; number < DIRECTORIES * FILES_PER_DIRECTORY; number += 1) {
    bytes += fileBytes(number);
  }
  return `${Math.round(bytes / 1e6)} MB`;
}

function requireMatches(found, expected) {
  if (found !== expected) throw new Error(`${found} matching lines instead of ${expected}`);
}
