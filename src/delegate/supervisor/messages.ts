import * as z from 'zod';

/** In the environment of everything that a run starts. */
export const MARKER_VARIABLE = 'REINS_RUN_MARKER';

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
  /** Programs that may be the one that is wanted, best first. The first that answers the question as expected is run. */
  readonly candidates: readonly string[];
  readonly question: { readonly args: readonly string[]; readonly answer: string };
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the run, its marker included. */
  readonly env: Readonly<Record<string, string>>;
  /** What is written to the program's stdin before it is closed; null closes it at once. */
  readonly stdin: string | null;
  /** Names the run in the environment of everything that it starts. */
  readonly marker: string;
  /** The supervisor's parent, which adopts what the run leaves behind; null where none does. */
  readonly adopterPid: number | null;
}

export const supervisorReportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('started'), pid: z.number().int() }),
  /** The processes of the run as the latest look found them, so that the adapter knows them if it has to go on alone. */
  z.object({
    kind: z.literal('members'),
    members: z.array(z.object({ pid: z.number().int(), birth: z.string() })),
  }),
  z.object({ kind: z.literal('not_started'), reason: z.string() }),
  /** No candidate is the program that is wanted. */
  z.object({
    kind: z.literal('unsuitable'),
    seen: z.array(z.object({ file: z.string(), said: z.string() })),
  }),
  z.object({
    kind: z.literal('exited'),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
  }),
  /** The supervisor's last one: everything of the run has ended, but for the survivors. */
  z.object({
    kind: z.literal('cleaned'),
    survivors: z.array(z.object({ pid: z.number().int(), command: z.string() })),
  }),
  /** The adopter's: the kernel says that there is nothing left. */
  z.object({ kind: z.literal('reaped') }),
]);
export type SupervisorReport = z.infer<typeof supervisorReportSchema>;

/** A run with more processes than this is reported in part. */
export const MAX_REPORTED_MEMBERS = 500;
/** No report is as long, whatever the survivors are called. Bytes. */
export const MAX_REPORT_BYTES = 128 * 1024;
