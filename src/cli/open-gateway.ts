import { systemClock } from '../base/clock.ts';
import { ReinsError } from '../base/reins-error.ts';
import { createSessionTokens } from '../base/session-tokens.ts';
import {
  openStateDirectory,
  readOrCreateSecret,
  type StateDirectory,
} from '../base/state-directory.ts';
import { type DeepseekSettings, toDeepseekRoute } from '../deepseek/deepseek-settings.ts';
import type { LedgerDatabase } from '../ledger/database.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import { findSession } from '../ledger/sessions.ts';
import { createSessionService, type SessionService } from '../session/session-service.ts';
import { reconcileActions } from '../tools/reconcile-actions.ts';
import { createToolContext } from '../tools/tool-context.ts';
import { describeTool, toolsFor } from '../tools/tool-set.ts';
import { toDeepseekSettings } from './deepseek-environment.ts';
import type { Environment } from './environment.ts';
import { planWorktree } from './plan-worktree.ts';
import { createRunnerLauncher } from './runner-launcher.ts';

export interface Gateway {
  readonly state: StateDirectory;
  readonly database: LedgerDatabase;
  readonly service: SessionService;
}

/** Everything that a front needs, over one state directory. Any number may be open at once. */
export function openGateway(environment: Environment): Gateway {
  const state = openStateDirectory(environment.stateDirectory);
  const tokens = createSessionTokens(readOrCreateSecret(state.secretFile));
  const database = openLedger(state.database);
  const runners = createRunnerLauncher({
    state,
    tokens,
    userHome: environment.userHome,
    claude: environment.claude,
    protection: environment.protection,
    searchPath: environment.searchPath,
    toolLocations: environment.toolLocations,
    compactWindowTokens: environment.compactWindowTokens,
    deepseekFor: (session) =>
      findSession(database, session)?.subagentPolicy === 'deepseek_explicit'
        ? findSettings(environment)
        : null,
    failpoint: environment.failpoint,
  });
  const service = createSessionService({
    database,
    tokens,
    runners,
    catalogue: (session) => toolsFor(session.profile, session.subagentPolicy).map(describeTool),
    opened: environment.protection.opened,
    deepseekRoute: toDeepseekRoute(environment.deepseek.models),
    leaseSeconds: environment.leaseSeconds,
    planWorktree: (topLevel) => planWorktree(state, environment.userHome, topLevel),
    freezeSkills: async (asked, project) => {
      // Reading front matter takes a library that most gateways never need.
      const { freezeSkills } = await import('../skills/freeze-skills.ts');
      const places = { home: environment.userHome, project };
      return freezeSkills(asked, environment.skillAllowList, places);
    },
    requireSubagents: () => {
      if (toDeepseekSettings(environment.deepseek) !== null) return;
      throw new ReinsError(
        'feature_unavailable',
        'subagent_policy deepseek_explicit takes a DeepSeek key of your own; set REINS_DEEPSEEK_API_KEY for the gateway or give it a key file, for which "reins doctor" shows the place, or use subagent_policy none.',
      );
    },
    reconcile: (session) =>
      reconcileActions({
        database,
        session: session.id,
        context: createToolContext(
          database,
          session,
          environment.userHome,
          state.root,
          environment.protection,
        ),
        clock: systemClock,
        redo: session.stopRequest === null,
        onChange: () => {},
      }),
    clock: systemClock,
  });
  return { state, database, service };
}

/** A session that goes on without its key can do all but start a subagent, and is told so when it tries. */
function findSettings(environment: Environment): DeepseekSettings | null {
  try {
    return toDeepseekSettings(environment.deepseek);
  } catch {
    return null;
  }
}
