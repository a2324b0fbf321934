import { readFileSync } from 'node:fs';

import { type ConnectedGateway, connectStdio } from '../../support/gateway.ts';
import type { ClientState, ScriptedSession } from '../../support/scripted-client.ts';
import { processesOf, type TestHome } from '../../support/test-home.ts';

/** Pids of the processes of a session's home, by what they are. */
export function findVictims(home: TestHome, gateway: number): { runner?: number; claude?: number } {
  const victims: { runner?: number; claude?: number } = {};
  for (const pid of processesOf(home.root)) {
    if (pid === gateway) continue;
    const command = commandOf(pid);
    if (command.includes('--strict-mcp-config')) victims.claude = pid;
    else if (command.includes('runner.js')) victims.runner = pid;
  }
  return victims;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Connects a gateway that may be told to crash at one point. */
export function connectCrashing(home: TestHome, failpoint?: string): Promise<ConnectedGateway> {
  const env = failpoint === undefined ? home.env : { ...home.env, REINS_FAILPOINT: failpoint };
  return connectStdio({ ...home, env });
}

/** A call whose gateway may die under it: undefined when no answer came. */
export async function attempt(call: () => Promise<ClientState>): Promise<ClientState | undefined> {
  try {
    return await call();
  } catch {
    return undefined;
  }
}

/**
 * Takes the session over with a new gateway and brings it back to a pending turn, whatever state it is in. Returns the
 * gateway that it ended up with.
 */
export async function bringBack(
  home: TestHome,
  session: ScriptedSession,
): Promise<ConnectedGateway> {
  for (let tries = 0; tries < 20; tries += 1) {
    const gateway = await connectStdio(home);
    session.client = gateway.client;
    const recovered = await attempt(() => session.recover({ wait_seconds: 20 }));
    if (recovered?.error === undefined && recovered !== undefined) {
      if (recovered.status === 'waiting_for_gpt') return gateway;
      if (recovered.status !== 'starting' && recovered.status !== 'running') {
        const continued = await attempt(() => session.continue('Go on.'));
        if (continued?.status === 'waiting_for_gpt') return gateway;
      }
    }
    await gateway.close().catch(() => {});
  }
  throw new Error(
    `the session could not be brought back: ${JSON.stringify(session.state).slice(0, 500)}`,
  );
}
