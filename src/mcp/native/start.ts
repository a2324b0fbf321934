import { z } from 'zod';
import { ReinsError } from '../../base/reins-error.ts';
import { prompt, retryKey, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

const WAIT_SECONDS = 30;

export const startTool = defineNativeTool({
  name: 'native_session_start',
  title: 'Start a native session',
  description:
    'Starts a new isolated session of the real Claude Code on this computer and returns its first pending turn; the calling conversation is its only model. Use it for a new task or another directory. For a further prompt in a session that has ended its run use native_session_continue; to take over a session whose lease was lost, native_session_recover. Starts local processes and keeps state; changes no file itself. capability_profile decides what later turns may do and is fixed, as are directory and policy: read_only changes nothing; direct_write lets turns change real files inside working_directory at once, for when the user asked for that. Refused: relative or missing directories, unknown parameters, a reused idempotency_key with other input.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    prompt: prompt(
      'The task. It comes back word for word as the first message of the pending turn.',
    ),
    working_directory: z
      .string()
      .min(1)
      .max(4096)
      .describe(
        'Absolute path of an existing directory: where relative paths start and, with direct_write, the only place that can be changed. Reading is not limited to it.',
      ),
    idempotency_key: retryKey('start'),
    wait_seconds: waitSeconds('the first pending turn', WAIT_SECONDS),
    session_label: z
      .string()
      .max(200)
      .refine((label) => !label.includes('\0'), 'has a zero byte')
      .optional()
      .describe('Short name to recognise the session by.'),
    skill_contexts: z
      .array(z.strictObject({ skill_id: z.string(), content_sha256: z.string() }))
      .max(8)
      .optional()
      .describe('Instruction texts from the allow-list, at most 8. Not available in this version.'),
    subagent_policy: z
      .enum(['none', 'deepseek_explicit'])
      .optional()
      .describe(
        'none (default) creates no subagent. deepseek_explicit goes with worktree_write alone.',
      ),
    capability_profile: z
      .enum(['read_only', 'direct_write', 'worktree_write'])
      .optional()
      .describe(
        'read_only (default); direct_write for changing the real files of working_directory, Git or not; worktree_write for a kept copy of a clean Git repository, not available in this version.',
      ),
  }),
  call(input, service) {
    if (input.skill_contexts !== undefined && input.skill_contexts.length > 0) {
      throw new ReinsError(
        'feature_unavailable',
        'skill_contexts is not available in this version; put the instructions into prompt.',
      );
    }
    return service.start(
      {
        prompt: input.prompt,
        workingDirectory: input.working_directory,
        idempotencyKey: input.idempotency_key,
        label: input.session_label ?? null,
        profile: input.capability_profile ?? 'read_only',
        subagentPolicy: input.subagent_policy ?? 'none',
      },
      toWaitMs(input.wait_seconds, WAIT_SECONDS),
    );
  },
});
