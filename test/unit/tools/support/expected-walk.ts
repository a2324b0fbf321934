import { readdirSync } from 'node:fs';

/**
 * The regular files below a directory in the order that searches promise: in each directory by the bytes of the name,
 * and what a directory holds where its own name would stand. Nothing is left out.
 */
export function expectedWalk(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) return expectedWalk(path);
      return entry.isFile() ? [path] : [];
    });
}
