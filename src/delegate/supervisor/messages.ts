import * as z from 'zod';

/**
 * What goes between the adapter and a supervisor, a JSON line each. The adapter writes to the supervisor's stdin; when
 * that ends, the adapter is gone. The supervisor answers on a channel of its own, so that nothing which Claude Code
 * prints can be taken for a report.
 */
export type SupervisorCommand =
  | ({ readonly kind: 'order' } & SupervisorOrder)
  | { readonly kind: 'end' }
  /** There will be no order. */
  | { readonly kind: 'dismiss' }
  /** Ends whatever is left of all runs of an adapter. */
  | { readonly kind: 'sweep'; readonly adapterMarker: string };

export interface SupervisorOrder {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the run, its marker included. */
  readonly env: Readonly<Record<string, string>>;
  /** What is written to the program's stdin before it is closed; null closes it at once. */
  readonly stdin: string | null;
  /** Names the run in the environment of everything that it starts. */
  readonly marker: string;
}

export const supervisorReportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), pid: z.number().int() }),
  /** The processes of the run as the latest look found them, so that the adapter knows them if it has to go on alone. */
  z.object({
    kind: z.literal('members'),
    members: z.array(z.object({ pid: z.number().int(), birth: z.string() })),
  }),
  z.object({ kind: z.literal('not_started'), reason: z.string() }),
  z.object({
    kind: z.literal('exited'),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
  }),
  /** The last one: everything of the run has ended, but for the survivors. */
  z.object({
    kind: z.literal('cleaned'),
    survivors: z.array(z.object({ pid: z.number().int(), command: z.string() })),
  }),
]);
export type SupervisorReport = z.infer<typeof supervisorReportSchema>;

/** A run with more processes than this is reported in part. */
export const MAX_REPORTED_MEMBERS = 500;
/** No report is as long, whatever the survivors are called. Bytes. */
export const MAX_REPORT_BYTES = 128 * 1024;
