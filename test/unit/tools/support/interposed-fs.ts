import type * as fs from 'node:fs/promises';

/** One operation on the file system that a tool is about to make. */
export interface FileOperation {
  readonly name: string;
  readonly args: readonly unknown[];
  /** The open file, for an operation on one. */
  readonly handle: fs.FileHandle | undefined;
}

/** Called before each operation. It may throw in its place, or never resolve, as if the process had ended there. */
type Interposer = (operation: FileOperation) => Promise<void>;

let interposer: Interposer | undefined;
/** Open files of the work that is interfered with. Whoever was kept from closing one leaves it here. */
const opened = new Set<fs.FileHandle>();

/** Calls `before` in front of every operation that is made while `work` runs. */
export async function interposing<Result>(
  before: Interposer,
  work: () => Promise<Result>,
): Promise<Result> {
  interposer = before;
  try {
    return await work();
  } finally {
    interposer = undefined;
    for (const handle of opened) await handle.close();
    opened.clear();
  }
}

const FUNCTIONS = [
  'chmod',
  'link',
  'lstat',
  'mkdir',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'unlink',
] as const;
const METHODS = ['chmod', 'chown', 'close', 'read', 'readFile', 'stat', 'sync', 'writeFile'];

/** `node:fs/promises` with the interposer in front, for a mock of that module. */
export function interposed(actual: typeof fs): typeof fs {
  const wrapped: Record<string, unknown> = { ...actual };
  for (const name of FUNCTIONS) {
    const real = actual[name] as (...args: readonly unknown[]) => Promise<unknown>;
    wrapped[name] = async (...args: readonly unknown[]) => {
      await interposer?.({ name, args, handle: undefined });
      return real(...args);
    };
  }
  wrapped['open'] = async (...args: Parameters<typeof fs.open>) => {
    await interposer?.({ name: 'open', args, handle: undefined });
    const handle = await actual.open(...args);
    if (interposer !== undefined) opened.add(handle);
    return wrapHandle(handle);
  };
  return wrapped as typeof fs;
}

function wrapHandle(handle: fs.FileHandle): fs.FileHandle {
  return new Proxy(handle, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (typeof property !== 'string' || !METHODS.includes(property)) return value.bind(target);
      return async (...args: readonly unknown[]) => {
        await interposer?.({ name: property, args, handle: target });
        if (property === 'close') opened.delete(target);
        return value.apply(target, args);
      };
    },
  });
}
