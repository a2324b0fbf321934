import { listProcesses, type ProcessRecord } from './list-processes.ts';
import type { ProcessIdentity } from './process-identity.ts';

/**
 * All processes that provably come from one: what it started, and what those started. A member is recognised by
 * - its parent, which is a member and still lives, or adopts for the one who looks,
 * - the marker in one variable of its environment, which it inherited, or
 * - its session, which a member that was known before is in at this very look: the number means the same session then.
 * Each is held on to by pid and birth. A process that rids itself of all three between two looks (an emptied
 * environment, a session of its own and a dead parent) is not found. What other programs start on its behalf, such as a
 * system's service manager, is no member.
 */
export interface ProcessFamily {
  /** The members that live now. */
  look(): readonly ProcessRecord[];
}

/** A variable whose value names families, separated by colons: one can be inside another. */
export interface FamilyMarker {
  readonly variable: string;
  /** The name of a family, or what its name begins with before a dot, for all that do. */
  readonly name: string;
}

export interface FamilyOptions {
  readonly marker: FamilyMarker;
  /** The one who looks, who is no member. */
  readonly self: number;
  /** Asked at each look: processes of which every child is a member, but for the one who looks. */
  parents?(): readonly number[];
  /** Members that somebody else has found before. */
  readonly known?: readonly ProcessIdentity[];
}

export function createFamily({
  marker,
  self,
  parents = () => [],
  known = [],
}: FamilyOptions): ProcessFamily {
  let members = new Set(known.map(keyOf));
  const strangers = new Set<string>();
  // On Linux variables are separated by zero bytes, in what macOS prints by blanks.
  const variable = new RegExp(`(?:^|[\\0 ])${marker.variable}=([^\\0 ]*)`);

  const isMarked = (record: ProcessRecord): boolean => {
    const key = keyOf(record);
    if (strangers.has(key)) return false;
    const environment = record.environment();
    const names = variable.exec(environment)?.[1]?.split(':') ?? [];
    if (names.some((name) => name === marker.name || name.startsWith(`${marker.name}.`))) {
      return true;
    }
    // An empty one says nothing yet: it can belong to a member that is just starting another program.
    if (environment !== '') strangers.add(key);
    return false;
  };

  return {
    look() {
      const all = listProcesses();
      // Whatever else is wrong: nobody ends those that have started him, the system's first process among them.
      const above = ancestorsOf(self, all);
      const records = all.filter(({ pid }) => pid !== self && !above.has(pid));
      const adopting = parents().filter((pid) => pid > 1);
      const before = records.filter((record) => members.has(keyOf(record)));
      const sessions = new Set(before.map(({ sessionId }) => sessionId));
      const found = new Map(before.map((record) => [record.pid, record]));
      const admit = (record: ProcessRecord): void => void found.set(record.pid, record);
      for (const record of records) {
        const isChild = adopting.includes(record.parentPid);
        if (isChild || sessions.has(record.sessionId) || isMarked(record)) admit(record);
      }
      for (let size = -1; size !== found.size; ) {
        size = found.size;
        for (const record of records) {
          const parent = found.get(record.parentPid);
          if (parent !== undefined && parent.startedAt <= record.startedAt) admit(record);
        }
      }
      members = new Set([...found.values()].map(keyOf));
      return [...found.values()];
    },
  };
}

function ancestorsOf(pid: number, records: readonly ProcessRecord[]): Set<number> {
  const parents = new Map(records.map((record) => [record.pid, record.parentPid]));
  const above = new Set<number>([1]);
  for (let each = parents.get(pid); each !== undefined && each > 1; each = parents.get(each)) {
    if (above.has(each)) break;
    above.add(each);
  }
  return above;
}

function keyOf({ pid, birth }: ProcessIdentity): string {
  return `${pid} ${birth}`;
}
