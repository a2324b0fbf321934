import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mintRunnerId } from '../../../src/base/ids.ts';
import { ReinsError } from '../../../src/base/reins-error.ts';
import { createSessionTokens } from '../../../src/base/session-tokens.ts';
import { listActions } from '../../../src/ledger/actions.ts';
import { findSession, setSessionRunner } from '../../../src/ledger/sessions.ts';
import { listTurns } from '../../../src/ledger/turns.ts';
import { verifySession } from '../../../src/ledger/verify.ts';
import { acceptReply } from '../../../src/session/accept-reply.ts';
import { expireLease, finishStop, recordRunnerLost } from '../../../src/session/end-session.ts';
import { finishRun } from '../../../src/session/finish-run.ts';
import { queuePrompt } from '../../../src/session/queue-prompt.ts';
import { requestStop } from '../../../src/session/request-stop.ts';
import { rotateLease } from '../../../src/session/rotate-lease.ts';
import { startQueuedRun } from '../../../src/session/start-queued-run.ts';
import { createLedgerSession, type LedgerSession } from '../../support/ledger-session.ts';

const NOW = new Date();
const TOKENS = createSessionTokens('secret');

/** What the outside world may believe about a session, kept apart from the ledger. */
interface Model {
  /** Every lease that was ever given out; the last one is the only live one. */
  readonly leases: string[];
  /** Keys of replies that were accepted. */
  readonly accepted: Map<string, string>;
  status: string;
  revision: number;
}

interface Real {
  readonly session: LedgerSession;
  readonly model: Model;
}

type Step = (real: Real) => void;

/** Runs what may be refused; a refusal has to be a coded one and to change nothing. */
function attempt(real: Real, work: () => void): string | undefined {
  const before = findSession(real.session.database, real.session.id)?.revision;
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    expect(error.code).not.toBe('internal');
    expect(findSession(real.session.database, real.session.id)?.revision).toBe(before);
    return error.code;
  }
}

const leaseOf = (real: Real, age: number): string =>
  real.model.leases[Math.max(0, real.model.leases.length - 1 - age)] ?? '';

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((real) => {
    const status = findSession(real.session.database, real.session.id)?.status;
    if (status === 'starting') startQueuedRun(real.session.database, real.session.id, NOW);
    if (status === 'starting' || status === 'running' || status === 'waiting_for_gpt')
      real.session.present();
  }),
  fc.tuple(fc.nat(1), fc.nat(3), fc.constantFrom('a', 'b')).map(
    ([age, key, text]): Step =>
      (real) => {
        const { database, id } = real.session;
        const turn = listTurns(database, id).at(-1);
        const code = attempt(real, () => {
          const accepted = acceptReply(
            database,
            {
              sessionId: id,
              leaseId: leaseOf(real, age),
              turnId: turn?.id ?? 'none',
              replyId: `key ${key}`,
              text,
              calls: [{ tool: 'Read', input: { file_path: text } }],
            },
            NOW,
          );
          const known = real.model.accepted.get(`key ${key}`);
          if (accepted === null) expect(known).toBe(`${turn?.id} ${text}`);
          else {
            expect(known).toBeUndefined();
            real.model.accepted.set(`key ${key}`, `${turn?.id} ${text}`);
          }
        });
        // Leases linearise: only the latest one ever acts.
        if (age > 0 && real.model.leases.length > age) expect(code).toBeDefined();
      },
  ),
  fc.nat(3).map(
    (key): Step =>
      (real) => {
        const { database, id } = real.session;
        attempt(real, () => {
          const { replay, leaseId } = rotateLease(
            database,
            TOKENS,
            { sessionId: id, recoveryToken: TOKENS.recoveryToken(id), recoveryId: `r ${key}` },
            NOW,
          );
          if (replay) expect(real.model.leases.at(-1)).toBe(leaseId);
          else real.model.leases.push(leaseId);
        });
      },
  ),
  fc.tuple(fc.nat(1), fc.nat(5)).map(
    ([age, key]): Step =>
      (real) => {
        attempt(real, () => {
          queuePrompt(
            real.session.database,
            {
              sessionId: real.session.id,
              leaseId: leaseOf(real, age),
              prompt: 'next',
              idempotencyKey: `c ${key}`,
            },
            NOW,
          );
        });
      },
  ),
  fc.tuple(fc.nat(1), fc.nat(5)).map(
    ([age, key]): Step =>
      (real) => {
        attempt(real, () => {
          requestStop(
            real.session.database,
            {
              sessionId: real.session.id,
              leaseId: leaseOf(real, age),
              requestId: `s ${key}`,
              reason: null,
            },
            NOW,
          );
        });
      },
  ),
  fc.boolean().map(
    (isError): Step =>
      (real) => {
        finishRun(real.session.database, real.session.id, { isError, text: 'x' }, NOW);
      },
  ),
  fc.constant<Step>((real) => {
    const { database, id } = real.session;
    if (findSession(database, id)?.status === 'stopping') finishStop(database, id, null, NOW);
  }),
  fc.constant<Step>((real) => {
    const { database, id } = real.session;
    const runner = { id: mintRunnerId(), pid: 1, birth: 'x' };
    setSessionRunner(database, id, runner);
    recordRunnerLost(database, id, runner.id, NOW);
  }),
  fc.constant<Step>((real) => {
    const { database, id } = real.session;
    const status = findSession(database, id)?.status ?? '';
    if (!['stopping', 'stopped', 'lease_expired'].includes(status))
      expireLease(database, id, null, NOW);
  }),
);

test('N7 N43 N44 N45 whatever clients, runners and clocks do: no illegal state, one effect a key, leases linearise', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 5, maxLength: 60 }), (sequence) => {
      const directory = mkdtempSync(join(tmpdir(), 'reins-property-'));
      const session = createLedgerSession(directory, NOW);
      const model: Model = {
        leases: [session.leaseId],
        accepted: new Map(),
        status: 'starting',
        revision: 0,
      };
      try {
        for (const step of sequence) {
          step({ session, model });
          const current = findSession(session.database, session.id);
          if (current === undefined) throw new Error('the session is gone');
          expect(current.revision).toBeGreaterThanOrEqual(model.revision);
          model.revision = current.revision;
          expect(current.leaseId).toBe(model.leases.at(-1));
          const pending = listTurns(session.database, session.id).filter(
            ({ state }) => state === 'pending',
          );
          // A session that is being stopped keeps its turn until its processes have ended.
          if (current.status !== 'stopping') {
            expect(pending.length).toBe(current.status === 'waiting_for_gpt' ? 1 : 0);
          }
        }
        expect(verifySession(session.database, session.id)).toEqual([]);
        expect(listActions(session.database, session.id)).toHaveLength(model.accepted.size);
      } finally {
        session.database.close();
        rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: 100 },
  );
});
