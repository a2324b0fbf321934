import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RunnerId, SessionId } from './ids.ts';

/**
 * Tokens derived from the state directory's secret key. Whoever can read that 0600 file can derive them, so
 * none has to be stored, put into an argument list or passed through an environment.
 */
export interface SessionTokens {
  /** Given to the client that created a session; authorises `native_session_recover`. */
  recoveryToken(session: SessionId): string;
  /** Presented by a gateway to a runner. */
  runnerToken(session: SessionId, runner: RunnerId): string;
  /** Presented by a runner to a gateway, so that a foreign process on the socket is found out. */
  runnerProof(session: SessionId, runner: RunnerId): string;
}

export function createSessionTokens(secret: string): SessionTokens {
  const derive = (...parts: readonly string[]): string =>
    createHmac('sha256', secret).update(parts.join('\0')).digest('base64url');
  return {
    recoveryToken: (session) => `rt_${derive('recovery', session)}`,
    runnerToken: (session, runner) => derive('runner', session, runner),
    runnerProof: (session, runner) => derive('proof', session, runner),
  };
}

/** Compares two secrets in time that depends on their length alone. */
export function secretsEqual(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
