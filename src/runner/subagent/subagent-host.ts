import {
  isSubsessionId,
  mintClaudeSessionId,
  mintSubsessionId,
  type SubsessionId,
} from '../../base/ids.ts';
import { ReinsError } from '../../base/reins-error.ts';
import { withinTime } from '../../base/within-time.ts';
import { ROUTES } from '../../deepseek/deepseek-settings.ts';
import {
  findActiveSubsession,
  findSubsession,
  listSubsessions,
  type SubsessionOutcome,
  type SubsessionRecord,
} from '../../ledger/subsessions.ts';
import { describeSubagent } from '../../session/describe-subagent.ts';
import { requestSubagentStop } from '../../session/end-subagent.ts';
import { recordSubagentStart } from '../../session/start-subagent.ts';
import type { SubagentRuntime } from '../../tools/subagent/subagent-runtime.ts';
import {
  type SubagentDependencies,
  type SubagentProcess,
  startSubagent,
} from './subagent-process.ts';

/** The subagents of a session, one after another. */
export interface SubagentHost extends SubagentRuntime {
  /** Ends the one that works. Undefined when there is none; else resolves when the ledger says that it has ended. */
  end(message: string): Promise<void> | undefined;
  /** The same, and none is started any more. */
  close(message: string): Promise<void> | undefined;
}

export function createSubagentHost(
  dependencies: Omit<SubagentDependencies, 'settings'>,
): SubagentHost {
  const { database, session, clock, config, log } = dependencies;
  let current: SubagentProcess | undefined;
  let isClosed = false;

  /** Durable first: who looks at the ledger sees that it is to end before anything is done about it. */
  function end(outcome: SubsessionOutcome): Promise<void> | undefined {
    const running = current;
    if (running === undefined) return undefined;
    if (!running.isEnding) {
      try {
        requestSubagentStop(database, session.id, running.id, clock());
      } catch (error) {
        log.error({ error: String(error) }, 'that a subagent is to end could not be recorded');
      }
      dependencies.onChange();
      running.end({ event: 'ended', outcome });
    }
    return running.ended;
  }

  function find(id: string | undefined): SubsessionRecord {
    const found =
      id === undefined
        ? listSubsessions(database, session.id, 1)[0]
        : isSubsessionId(id)
          ? findSubsession(database, session.id, id)
          : undefined;
    if (found !== undefined) return found;
    throw new ReinsError(
      'subagent_unknown',
      id === undefined
        ? 'This session has had no subagent yet; deepseek_subagent_start starts one.'
        : 'subsession_id names no subagent of this session; leave it out for the latest one.',
    );
  }

  function begin(id: SubsessionId): void {
    const subsession = findSubsession(database, session.id, id);
    const { deepseek: settings } = config;
    if (subsession === undefined || settings === null) return;
    const started = startSubagent({ ...dependencies, settings }, subsession);
    current = started;
    void started.ended.then(() => {
      if (current === started) current = undefined;
    });
    if (isClosed) void end({ code: 'session_ended', message: 'The session ended.' });
  }

  return {
    plan(task, action) {
      const { deepseek: settings } = config;
      if (settings === null) {
        throw new ReinsError(
          'subagent_unavailable',
          'The gateway that started this process had no DeepSeek key that it could use, and "reins doctor" says why; correct that, then stop and continue the session.',
        );
      }
      const active = findActiveSubsession(database, session.id);
      if (active !== undefined || isClosed) {
        throw new ReinsError(
          'subagent_unavailable',
          `The subagent ${active?.id ?? 'before'} has not ended; one works at a time.`,
        );
      }
      const id = mintSubsessionId();
      return {
        id,
        record(at) {
          recordSubagentStart(
            database,
            {
              id,
              sessionId: session.id,
              actionId: action.id,
              claudeSessionId: mintClaudeSessionId(),
              modelClass: task.modelClass,
              model: settings.models[ROUTES[task.modelClass]],
              task: task.task,
              maxTurns: task.maxTurns,
              deadline: new Date(Date.parse(at) + task.maxMinutes * 60_000).toISOString(),
            },
            at,
          );
        },
        begin: () => begin(id),
      };
    },

    describe: (id) =>
      dependencies.hidePlaces(JSON.stringify(describeSubagent(database, find(id)), null, 1)),

    async ended(id, timeoutMs) {
      if (current?.id === find(id).id) await withinTime(current.ended, timeoutMs);
    },

    async stop(id) {
      if (current?.id !== find(id).id) return;
      await end({
        code: 'stopped_by_client',
        message: 'The client stopped the subagent; what it has changed stays.',
      });
    },

    end: (message) => end({ code: 'session_ended', message }),

    close(message) {
      isClosed = true;
      return end({ code: 'session_ended', message });
    },
  };
}
