import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';

export const WORK_URI = 'computer-mcp://runtime/work/v1';
const MAX_BYTES = 512 * 1024;

const snapshotSchema = z.strictObject({
  format_version: z.literal(1),
  instance_id: z.uuid(),
  revision: z.number().int().min(0),
  resources: z
    .array(
      z.strictObject({
        kind: z.literal('claude.run'),
        id: z.string().min(1),
        acquired_by: z.uuid(),
        state: z.enum(['active', 'uncertain']),
      }),
    )
    .max(1024),
});
export type WorkSnapshot = z.infer<typeof snapshotSchema>;

/** A host that looks at the work of one connection again and again and believes nothing that does not hold over time. */
export class WorkChecker {
  readonly #client: Client;
  #last: WorkSnapshot | undefined;
  looks = 0;
  refusals = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The snapshot, or undefined when the connection says that it cannot give one. */
  async look(): Promise<WorkSnapshot | undefined> {
    this.looks += 1;
    let contents: { uri: string; mimeType?: string | undefined; text?: string }[];
    try {
      ({ contents } = await this.#client.readResource({ uri: WORK_URI }));
    } catch {
      this.refusals += 1;
      return undefined;
    }
    const [content, ...more] = contents;
    if (content === undefined || more.length > 0) throw new Error('not exactly one entry');
    if (content.uri !== WORK_URI || content.mimeType !== 'application/json') {
      throw new Error(`the entry is ${content.uri}, ${content.mimeType}`);
    }
    const text = content.text ?? '';
    if (Buffer.byteLength(text) > MAX_BYTES) throw new Error('the entry is too long');
    const snapshot = snapshotSchema.parse(JSON.parse(text));
    const ids = snapshot.resources.map(({ id }) => id);
    if (new Set(ids).size !== ids.length) throw new Error('a run is there twice');
    this.#compare(snapshot);
    this.#last = snapshot;
    return snapshot;
  }

  #compare(now: WorkSnapshot): void {
    const last = this.#last;
    if (last === undefined) return;
    if (now.instance_id !== last.instance_id) throw new Error('the instance has changed');
    if (now.revision < last.revision) throw new Error('the revision has gone back');
    const sorted = (rows: WorkSnapshot['resources']) =>
      [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
    const equalSet = isDeepStrictEqual(sorted(now.resources), sorted(last.resources));
    if (equalSet !== (now.revision === last.revision)) {
      throw new Error(
        `revision ${last.revision} -> ${now.revision}, but the set is ${equalSet ? 'the same' : 'another'}`,
      );
    }
  }
}
