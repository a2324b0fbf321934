import { randomBytes } from 'node:crypto';
import { createLog } from '../../base/log.ts';
import { describeUnsupported, requireCandidates } from '../../claude/assert-version.ts';
import { VERSION_CHECK } from '../../claude/cli-tree.ts';
import { toClaudeSearch } from '../../claude/find-claude.ts';
import { inheritedEnvironment } from '../../claude/inherited-environment.ts';
import { createRunRegistry } from '../../delegate/run-registry.ts';
import { MARKER_VARIABLE } from '../../delegate/supervisor/messages.ts';
import { createSupervisorPool } from '../../delegate/supervisor-pool.ts';
import { createWorkResource } from '../../delegate/work-resource.ts';
import { createDelegateServer } from '../../mcp/delegate/server.ts';
import { serveOverStdio } from '../../mcp/stdio-front.ts';
import type { ContentMode } from '../../mcp/to-tool-result.ts';
import { closeInherited } from '../../process/close-inherited.ts';
import { supervisorCommand, supervisorLaunch } from '../supervisor-command.ts';
import { VERSION } from '../version.ts';

/** `reins delegate`: ends when the client closes stdin, and every run with it. */
export async function runDelegate(
  env: Readonly<Record<string, string | undefined>>,
  content: ContentMode,
): Promise<void> {
  closeInherited();
  const log = createLog('delegate');
  const directory = process.cwd();
  // Not a secret: it only tells the processes of this adapter's runs from all others.
  const adapterMarker = randomBytes(15).toString('base64url');
  const launch = await supervisorLaunch();
  const registry = createRunRegistry({
    question: { args: VERSION_CHECK.args, answer: VERSION_CHECK.stdout },
    findClaude: () => requireCandidates(toClaudeSearch(env)),
    describeUnsuitable: (seen) =>
      describeUnsupported(seen.map(({ file, said }) => `${file} ${said}`)),
    supervisors: createSupervisorPool(launch, supervisorCommand(), adapterMarker),
    adapterMarker,
    environment: inheritedEnvironment(env),
    outerMarker: env[MARKER_VARIABLE] ?? null,
    now: () => new Date(),
  });
  const work = createWorkResource(registry.list);
  const client = serveOverStdio(
    () => createDelegateServer({ version: VERSION, registry, work, directory, content, log }),
    log,
  );
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.once(signal, () => resolve());
  });
  await Promise.race([client, told]);
  await registry.close();
  process.exit(0);
}
