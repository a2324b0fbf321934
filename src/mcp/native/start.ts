import * as z from 'zod';
import { MAX_SKILLS } from '../../skills/allow-list.ts';
import { prompt, retryKey, toWaitMs, waitSeconds } from './parameters.ts';
import { defineNativeTool } from './tool.ts';

const WAIT_SECONDS = 30;

export const startTool = defineNativeTool({
  name: 'native_session_start',
  description:
    'Starts a new session of the real Claude Code on this computer and returns its first pending turn; the calling conversation is its only model. For a new task or another directory. A further prompt after a run goes through native_session_continue; a session whose lease was lost through native_session_recover. Starts local processes, changes no file. All is fixed here: read_only changes nothing, direct_write lets turns change real files inside working_directory, for when the user asked for that; worktree_write changes a kept copy of a clean Git repository.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input: z.strictObject({
    prompt: prompt('The task, word for word as the pending turn will show it.'),
    working_directory: z
      .string()
      .max(4096)
      .describe(
        'Absolute path of an existing directory: where relative paths start and the only place that direct_write can change.',
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
      .array(
        z.strictObject({
          skill_id: z.string().describe('personal:NAME or project:NAME.'),
          content_sha256: z.string().describe('Of its SKILL.md.'),
        }),
      )
      .max(MAX_SKILLS)
      .optional()
      .describe('Allow-listed skills, 256 KiB together, shown in full turns.'),
    subagent_policy: z
      .enum(['none', 'deepseek_explicit'])
      .optional()
      .describe('Default none; deepseek_explicit, for worktree_write, adds a DeepSeek subagent.'),
    capability_profile: z
      .enum(['read_only', 'direct_write', 'worktree_write'])
      .optional()
      .describe(
        'Default read_only. direct_write needs no Git; worktree_write takes the clean top level of a repository.',
      ),
  }),
  call(input, service) {
    return service.start(
      {
        prompt: input.prompt,
        workingDirectory: input.working_directory,
        idempotencyKey: input.idempotency_key,
        label: input.session_label ?? null,
        profile: input.capability_profile ?? 'read_only',
        subagentPolicy: input.subagent_policy ?? 'none',
        skills: (input.skill_contexts ?? []).map((skill) => ({
          ...skill,
          content_sha256: skill.content_sha256.toLowerCase(),
        })),
      },
      toWaitMs(input.wait_seconds, WAIT_SECONDS),
    );
  },
});
