import * as z from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { OwnedChild } from '../../process/spawn-owned.ts';
import { REPORT_FD } from './bubblewrap.ts';

/** bwrap writes two short lines. */
const MAX_BYTES = 4096;

const line = z.looseObject({ 'child-pid': z.int().positive().optional() });

/** The pid of the sandbox's first process, once bwrap has set everything up; undefined when it never got there. */
export function readSandboxReport(child: OwnedChild): Promise<number | undefined> {
  const stream = child.stdio[REPORT_FD];
  if (stream === null || stream === undefined || !('read' in stream)) {
    return Promise.resolve(undefined);
  }
  return new Promise((resolve) => {
    let text = '';
    stream.on('error', () => resolve(undefined));
    stream.on('close', () => resolve(undefined));
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(0, MAX_BYTES);
      const end = text.indexOf('\n');
      if (end < 0) return;
      resolve(line.safeParse(parseJson(text.slice(0, end))).data?.['child-pid']);
    });
  });
}
