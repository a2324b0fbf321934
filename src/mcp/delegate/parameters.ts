import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { JsonObject } from '../../base/canonical-json.ts';
import { PRINT_COMMAND } from '../../claude/cli-tree.ts';
import {
  DEFAULT_PERMISSION_MODE,
  DEFAULT_TIMEOUT_SECONDS,
  MAX_PROMPT_BYTES,
  MAX_TIMEOUT_SECONDS,
} from '../../delegate/prepare-run.ts';

/** What the adapter changes in the contract's parameters: a mode by default, and longer prompts through stdin. */
const CHANGED: { readonly [name: string]: JsonObject } = {
  prompt: { maxLength: MAX_PROMPT_BYTES },
  permission_mode: { default: DEFAULT_PERMISSION_MODE },
};

const CONTRACT_PARAMETERS = Object.fromEntries(
  PRINT_COMMAND.parameters.map(({ name, description, schema, conflicts }) => {
    const excluded = conflicts.length === 0 ? '' : ` Excludes ${conflicts.join(', ')}.`;
    return [name, { ...schema, ...CHANGED[name], description: `${description}${excluded}` }];
  }),
);

/** The arguments of claude.run and claude.run.start: those of the contract, and two that are the adapter's own. */
export const RUN_INPUT_SCHEMA = {
  type: 'object' as const,
  properties: {
    ...CONTRACT_PARAMETERS,
    timeout_seconds: {
      type: 'number' as const,
      minimum: 1,
      maximum: MAX_TIMEOUT_SECONDS,
      default: DEFAULT_TIMEOUT_SECONDS,
      description: 'Ends the run after this time.',
    },
    working_directory: {
      type: 'string' as const,
      maxLength: 4096,
      description:
        "Absolute path of the directory to work in. Left out: the adapter's own. It is where Claude Code starts, not a boundary.",
    },
  },
  required: ['prompt'],
  additionalProperties: false,
} satisfies Tool['inputSchema'];

const runArguments = z
  .looseObject({
    prompt: z.string(),
    timeout_seconds: z.number().optional(),
    working_directory: z.string().optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean()]));

/** Checked against the very schema that clients are shown. */
export const runInput = z.fromJSONSchema(RUN_INPUT_SCHEMA).pipe(runArguments);

/** Ids are short. */
export const runId = z.string().max(200).describe('From claude.run.start or claude.run.');
