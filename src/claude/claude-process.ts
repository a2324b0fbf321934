import { writeFileSync } from 'node:fs';
import type { RunId } from '../base/ids.ts';
import { splitLines } from '../base/split-lines.ts';
import { truncateText } from '../base/truncate-text.ts';
import type { ConfinedCommand } from '../process/confined-command.ts';
import { endGroup } from '../process/end-group.ts';
import { toExitSignal } from '../process/exit-signal.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';
import { childEnd, type PipedChild, spawnOwned } from '../process/spawn-owned.ts';
import { type ClaudeLaunch, EXECUTOR_SERVER_NAME, toClaudeToolName } from './contract.ts';
import { wrapPrompt } from './request-markers.ts';
import { parseClaudeEvent } from './stream-events.ts';

/** A line of output above this is dropped: no event that a session acts on is as long. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** As much of stderr as an error message quotes. */
const MAX_STDERR_BYTES = 600;

export interface ClaudeHandlers {
  /** A prompt has come to its end. */
  onResult(result: { readonly isError: boolean; readonly text: string }): void;
  /** The process offers other tools than it was told to: it must not go on. */
  onContractBroken(reason: string): void;
  onExit(how: string): void;
}

/** A running Claude Code that takes one prompt after another. */
export interface ClaudeProcess {
  /** Undefined when it has ended already. */
  readonly identity: ProcessIdentity | undefined;
  sendPrompt(run: RunId, prompt: string): void;
  /** Ends the process and its group; resolves when it has been reaped. */
  end(): Promise<void>;
}

/**
 * Copies from one pipe and to the other until its input ends or it is told to end. Both copies have to end then at
 * once: Claude Code waits two seconds for a server that still holds an output.
 */
const COPY_BOTH_WAYS =
  'exec 3<&0; cat "$2" & a=$!; cat >"$1" <&3 & b=$!; trap "kill $a $b; exit" INT TERM; wait $b; kill $a';

/**
 * The MCP configuration file of a session: the executor, behind two named pipes. Claude Code starts its servers as
 * programs, so the program is a shell that copies.
 */
export function writeMcpConfig(file: string, requestsPipe: string, answersPipe: string): void {
  const copy = ['-c', COPY_BOTH_WAYS, 'executor', requestsPipe, answersPipe];
  const config = {
    mcpServers: { [EXECUTOR_SERVER_NAME]: { type: 'stdio', command: '/bin/sh', args: copy } },
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
}

/** Starts a binary whose version has just been asserted, as the confined command that was made of `launch`. */
export function startClaude(
  confined: ConfinedCommand,
  launch: ClaudeLaunch,
  handlers: ClaudeHandlers,
): ClaudeProcess {
  const child = spawnOwned(confined.command);
  let program: ProcessIdentity | undefined;
  void confined.findProgram(child).then((pid) => {
    if (pid !== undefined) program = identifyProcess(pid);
  });
  child.stdin.on('error', () => {});
  const stderr = collectTail(child);
  const takeLine = (line: string): void => {
    const event = parseClaudeEvent(line);
    if (event.kind === 'init') {
      const broken = findContractBreach(launch, event);
      if (broken !== undefined) handlers.onContractBroken(broken);
    }
    if (event.kind === 'result') handlers.onResult(event);
  };
  child.stdout.on('data', splitLines(MAX_LINE_BYTES, takeLine));
  void childEnd(child).then((end) => {
    const how =
      end.error !== undefined
        ? `could not be started (${end.error.message})`
        : (describeSignal(end.signal ?? toExitSignal(end.exitCode)) ??
          `exited with code ${end.exitCode}`);
    const said = stderr().trim();
    handlers.onExit(said === '' ? how : `${how}, saying: ${said}`);
  });
  return {
    identity: child.pid === undefined ? undefined : identifyProcess(child.pid),
    sendPrompt: (run, prompt) => {
      const message = {
        type: 'user',
        message: { role: 'user', content: [{ type: 'text', text: wrapPrompt(run, prompt) }] },
        parent_tool_use_id: null,
        session_id: launch.sessionId,
      };
      child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    end: () => endGroup(child, program),
  };
}

function describeSignal(signal: string | undefined): string | undefined {
  return signal === undefined ? undefined : `was ended by ${signal}`;
}

/** N41 is asserted on what the process itself reports, not on what it was asked for. */
function findContractBreach(
  launch: ClaudeLaunch,
  init: { readonly tools: readonly string[]; readonly servers: readonly string[] },
): string | undefined {
  const expected = launch.tools.map(toClaudeToolName).sort();
  const actual = [...init.tools].sort();
  if (expected.join() !== actual.join()) {
    return `it offers the tools ${actual.join(', ') || 'none'} instead of ${expected.join(', ')}`;
  }
  const server = `${EXECUTOR_SERVER_NAME} connected`;
  if (init.servers.join() !== server) return `its MCP servers are ${init.servers.join(', ')}`;
  return undefined;
}

function collectTail(child: PipedChild): () => string {
  let tail = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-MAX_STDERR_BYTES);
  });
  return () => truncateText(tail, MAX_STDERR_BYTES);
}
