import { listProcesses, type ProcessRecord } from './list-processes.ts';
import type { ProcessIdentity } from './process-identity.ts';

/**
 * All processes that provably come from one: what it started, and what those started. A member is recognised by
 * - its parent, which is a member and still lives, or is the one who looks,
 * - the marker in its environment, which it inherited, or
 * - its session, which a member had at the look before and which has not been empty since.
 * Each is held on to by pid and birth. Where the one who looks adopts what its descendants leave behind, the parent alone
 * tells them all. Where it does not, something that rids itself of all three between two looks (an emptied environment,
 * a session of its own and a dead parent) is not found. What other programs start on its behalf, such as a system's
 * service manager, is no member anywhere.
 */
export interface ProcessFamily {
  /** The members that live now. */
  look(): readonly ProcessRecord[];
}

export interface FamilyOptions {
  /** A text that only members have in their environment. */
  readonly marker: string;
  /** The one who looks, who is no member. */
  readonly self: number;
  /** Whether every child of the one who looks is a member, its adopted ones included. */
  readonly ownChildren?: boolean;
  /** Members that somebody else has found before. */
  readonly known?: readonly ProcessIdentity[];
}

export function createFamily({
  marker,
  self,
  ownChildren,
  known = [],
}: FamilyOptions): ProcessFamily {
  let members = new Set(known.map(keyOf));
  let sessions = new Set<number>();
  const strangers = new Set<string>();

  const isMarked = (record: ProcessRecord): boolean => {
    const key = keyOf(record);
    if (strangers.has(key)) return false;
    const environment = record.environment();
    if (environment.includes(marker)) return true;
    // An empty one says nothing yet: it can belong to a member that is just starting another program.
    if (environment !== '') strangers.add(key);
    return false;
  };

  return {
    look() {
      const records = listProcesses().filter(({ pid }) => pid !== self);
      const found = new Map<number, ProcessRecord>();
      const admit = (record: ProcessRecord): void => void found.set(record.pid, record);
      for (const record of records) {
        const isChild = ownChildren === true && record.parentPid === self;
        const wasMember = members.has(keyOf(record)) || sessions.has(record.sessionId);
        if (isChild || wasMember || isMarked(record)) admit(record);
      }
      for (let before = -1; before !== found.size; ) {
        before = found.size;
        for (const record of records) {
          const parent = found.get(record.parentPid);
          if (parent !== undefined && parent.startedAt <= record.startedAt) admit(record);
        }
      }
      members = new Set([...found.values()].map(keyOf));
      sessions = new Set([...found.values()].map(({ sessionId }) => sessionId));
      return [...found.values()];
    },
  };
}

function keyOf({ pid, birth }: ProcessIdentity): string {
  return `${pid} ${birth}`;
}
