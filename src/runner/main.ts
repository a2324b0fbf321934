import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { armFailpoint } from '../base/failpoint.ts';
import { mintRunnerId } from '../base/ids.ts';
import { createLog } from '../base/log.ts';
import { createSessionTokens } from '../base/session-tokens.ts';
import {
  ensurePrivateDirectory,
  openStateDirectory,
  readOrCreateSecret,
} from '../base/state-directory.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import { closeInherited } from '../process/close-inherited.ts';
import { identifyProcess, isAlive } from '../process/process-identity.ts';
import { claimSession } from '../session/claim-session.ts';
import { listenForGateways } from '../wire/runner-listener.ts';
import { parseRunnerConfig } from './runner-config.ts';
import { createSessionRunner } from './session-runner.ts';

/** Time for the last answers to leave the socket before the process ends, in milliseconds. */
const FLUSH_MS = 100;

closeInherited();
const config = parseRunnerConfig(await text(process.stdin));
armFailpoint(config.failpoint ?? undefined);
const state = openStateDirectory(config.state_directory);
const paths = state.sessionPaths(config.session_id);
ensurePrivateDirectory(paths.root);
const log = createLog('runner', paths.log);
const database = openLedger(state.database);
const tokens = createSessionTokens(readOrCreateSecret(state.secretFile));

const self = identifyProcess(process.pid);
if (self === undefined) throw new Error('this process cannot be identified');
const record = { ...self, id: mintRunnerId() };

if (claimSession(database, config.session_id, record, isAlive, new Date())) await serve();
else process.stdout.write('taken\n');

async function serve(): Promise<void> {
  const runner = createSessionRunner({ database, state, config, runnerId: record.id, log });
  const socketPath = state.socketPath(record.id);
  const launched = runner.launch();
  const server = await listenForGateways({
    socketPath,
    runnerId: record.id,
    token: tokens.runnerToken(config.session_id, record.id),
    welcome: {
      pid: record.pid,
      birth: record.birth,
      proof: tokens.runnerProof(config.session_id, record.id),
    },
    handle: runner.handle,
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => runner.end({ kind: 'terminated', by: `${signal} to its runner` }));
  }
  process.on('uncaughtException', (error) => {
    log.error({ error: String(error), stack: error.stack }, 'uncaught');
    runner.end({ kind: 'terminated', by: 'a fault of its runner' });
  });
  process.stdout.on('error', () => {});
  process.stdout.write('ready\n');
  await Promise.all([launched, runner.ended]);
  server.close();
  rmSync(socketPath, { force: true });
  setTimeout(() => process.exit(0), FLUSH_MS);
}
