import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Failpoint } from '../base/failpoint.ts';
import type { SessionId } from '../base/ids.ts';
import { type SessionTokens, secretsEqual } from '../base/session-tokens.ts';
import type { StateDirectory } from '../base/state-directory.ts';
import type { ClaudeSearch } from '../claude/find-claude.ts';
import type { ProtectionSettings } from '../confine/path-protection.ts';
import type { DeepseekSettings } from '../deepseek/deepseek-settings.ts';
import { endLeftover } from '../process/end-leftover.ts';
import { isAlive } from '../process/process-identity.ts';
import { spawnDetached } from '../process/spawn-detached.ts';
import type { RunnerConfig } from '../runner/runner-config.ts';
import type { RunnerPort } from '../session/runner-port.ts';
import { connectRunner, type RunnerConnection } from '../wire/runner-connection.ts';

/** Loading the program takes a fraction of a second; a machine under load may need a multiple of that. */
const START_TIMEOUT_MS = 30_000;

export interface LauncherOptions {
  readonly state: StateDirectory;
  readonly tokens: SessionTokens;
  readonly userHome: string;
  readonly claude: ClaudeSearch;
  readonly protection: ProtectionSettings;
  readonly searchPath: string;
  readonly toolLocations: Readonly<Record<string, string>>;
  readonly compactWindowTokens: number | null;
  /** How a runner of this session asks DeepSeek; null for one that may not, or where there is no key. */
  deepseekFor(session: SessionId): DeepseekSettings | null;
  readonly failpoint: Failpoint | null;
}

/** Starts runners as detached processes and finds running ones again by socket, token, pid and start time. */
export function createRunnerLauncher(options: LauncherOptions): RunnerPort {
  const { state, tokens } = options;
  const connections = new Map<string, RunnerConnection>();
  return {
    async find(session, runner) {
      const known = connections.get(runner.id);
      if (known?.open) return { kind: 'attached', connection: known };
      connections.delete(runner.id);
      const socketPath = state.socketPath(runner.id);
      if (!isAlive(runner)) {
        for (const path of [
          socketPath,
          state.modelSocketPath(runner.id),
          state.subagentSocketPath(runner.id),
        ]) {
          rmSync(path, { force: true });
        }
        rmSync(state.subagentPaths(session).root, { recursive: true, force: true });
        return { kind: 'gone' };
      }
      const connection = await connectRunner({
        socketPath,
        hello: { runner_id: runner.id, token: tokens.runnerToken(session, runner.id) },
      });
      if (connection === undefined) return { kind: isAlive(runner) ? 'silent' : 'gone' };
      const { pid, birth, proof } = connection.welcome;
      const proved =
        pid === runner.pid &&
        birth === runner.birth &&
        secretsEqual(proof, tokens.runnerProof(session, runner.id));
      if (!proved) {
        connection.close();
        return { kind: 'silent' };
      }
      connections.set(runner.id, connection);
      return { kind: 'attached', connection };
    },

    isAlive,
    endLeftover,

    async launch(session) {
      const config: RunnerConfig = {
        state_directory: state.root,
        session_id: session,
        user_home: options.userHome,
        claude: { ...options.claude },
        protection: {
          closed: [...options.protection.closed],
          opened: [...options.protection.opened],
        },
        search_path: options.searchPath,
        tool_locations: { ...options.toolLocations },
        compact_window_tokens: options.compactWindowTokens,
        deepseek: options.deepseekFor(session),
        failpoint: options.failpoint,
      };
      const start = await spawnDetached(
        {
          file: process.execPath,
          args: [...RUNNER_NODE_FLAGS, runnerEntry()],
          cwd: '/',
          env: { PATH: '/usr/bin:/bin', HOME: state.root },
        },
        JSON.stringify(config),
        START_TIMEOUT_MS,
      );
      if (start.kind === 'ready') return null;
      const how =
        start.kind === 'timeout'
          ? `did not start within ${START_TIMEOUT_MS / 1000} s`
          : `ended at once (${start.signal ?? `code ${start.exitCode}`})`;
      return {
        code: 'runner_failed',
        message: `The process that runs the session ${how}; run "reins doctor" or look at the session's runner log in the state directory, then call native_session_continue.`,
      };
    },
  };
}

/** Small young generation: a runner waits most of its life, and memory is what many sessions share. */
const RUNNER_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=2'];

function runnerEntry(): string {
  const entry = fileURLToPath(new URL('./runner.js', import.meta.url));
  if (existsSync(entry)) return entry;
  // A test imports this file from src/, where the built runner is beside it in dist/.
  return fileURLToPath(new URL('../../dist/runner.js', import.meta.url));
}
