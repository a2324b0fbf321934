import { randomUUID } from 'node:crypto';
import { ReinsError } from '../base/reins-error.ts';
import type { DelegatedRun } from './delegated-run.ts';

export const WORK_URI = 'computer-mcp://runtime/work/v1';
export const WORK_KIND = 'claude.run';

export interface WorkRow {
  readonly kind: typeof WORK_KIND;
  readonly id: string;
  readonly acquired_by: string;
  readonly state: 'active' | 'uncertain';
}

export interface WorkSnapshot {
  readonly format_version: 1;
  readonly instance_id: string;
  readonly revision: number;
  readonly resources: readonly WorkRow[];
}

/**
 * D6: what a host can see of the work that this connection holds on to. The revision rises whenever a snapshot differs
 * from the one before. Its bounds, 1,024 rows and 512 KiB, are far above the 32 runs that an adapter retains.
 */
export interface WorkResource {
  /** Throws `work_incomplete` while a run is retained that no host has bound; the revision then stays as it was. */
  read(): WorkSnapshot;
}

export function createWorkResource(list: () => readonly DelegatedRun[]): WorkResource {
  const instanceId = randomUUID();
  let revision = 0;
  let last = '[]';
  return {
    read() {
      const resources = list()
        .map(toRow)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const text = JSON.stringify(resources);
      if (text !== last) revision += 1;
      last = text;
      return { format_version: 1, instance_id: instanceId, revision, resources };
    },
  };
}

function toRow(run: DelegatedRun): WorkRow {
  const { id, acquiredBy } = run;
  if (acquiredBy === null) {
    throw new ReinsError(
      'work_incomplete',
      'A run is retained that was started without io.github.computer-mcp/work-invocation in its _meta, so the work of this connection cannot be shown completely; release that run.',
    );
  }
  const uncertain = run.view().cleanup === 'unconfirmed';
  return {
    kind: WORK_KIND,
    id,
    acquired_by: acquiredBy,
    state: uncertain ? 'uncertain' : 'active',
  };
}
