import { isInside } from '../../base/is-inside.ts';
import type { ToolContext } from '../tool.ts';
import type { CommandRuntime } from './command-runtime.ts';
import { findHardLinks, findLinkedSecrets, findSecrets } from './find-hidden.ts';

/** Everything that the command is not to see, and what of it lies where it works. */
export async function findAllHidden(
  cwd: string,
  runtime: CommandRuntime,
  context: ToolContext,
): Promise<{ readonly hidden: readonly string[]; readonly shown: readonly string[] }> {
  const { protection, workingDirectory } = context;
  protection.refresh();
  const own = [workingDirectory, cwd].filter((path) => path !== '/');
  const directories = [...new Set(own)].filter(
    (path, _index, all) => !all.some((other) => other !== path && isInside(path, other)),
  );
  const [home, ...near] = await Promise.all([
    runtime.findHomeSecrets(),
    ...directories.map((path) => findSecrets(path, protection)),
    ...directories.map((path) => findLinkedSecrets(path, protection)),
  ]);
  const links = await findHardLinks([...directories, runtime.home], protection);
  return {
    hidden: [...new Set([...protection.closedPlaces(), ...home, ...near.flat(), ...links])],
    shown: [...near.flat(), ...links.filter((path) => own.some((root) => isInside(path, root)))],
  };
}
