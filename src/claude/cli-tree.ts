import * as z from 'zod';
import contract from '../../contract/cli-tree.json' with { type: 'json' };

const parameterSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  required: z.boolean().default(false),
  default: z.json().optional(),
  conflicts: z.array(z.string()).default([]),
  schema: z.record(z.string(), z.json()),
});

const tokenSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('literal'), value: z.string() }),
  z.strictObject({
    kind: z.literal('option'),
    parameter: z.string(),
    flag: z.string(),
    style: z.literal('equals'),
  }),
  z.strictObject({ kind: z.literal('flag'), parameter: z.string(), flag: z.string() }),
  z.strictObject({ kind: z.literal('positional'), parameter: z.string() }),
]);

const commandSchema = z.strictObject({
  id: z.string(),
  path: z.array(z.string()),
  description: z.string(),
  executable: z.literal(true),
  help_argv: z.array(z.string()),
  parameters: z.array(parameterSchema),
  argv: z.array(tokenSchema),
  stdin: z.strictObject({ parameter: z.string(), encoding: z.literal('utf8') }).optional(),
  stdout: z.enum(['json', 'text']),
});

const treeSchema = z.strictObject({
  format_version: z.literal(1),
  source: z.string(),
  executable_version: z.string(),
  coverage: z.literal('partial'),
  omissions: z.array(z.string()).min(1),
  executable_checks: z.tuple([z.strictObject({ args: z.array(z.string()), stdout: z.string() })]),
  commands: z.tuple([commandSchema]),
});

export type CliTree = z.infer<typeof treeSchema>;
export type CliCommand = CliTree['commands'][0];
export type CliToken = CliCommand['argv'][number];

/** The contract with the version of Claude Code that Reins was measured with: what may be asked of it, and how. */
export const CLI_TREE: CliTree = treeSchema.parse(contract);

/** What tells the version that the contract is for: asked before each run, answered to the byte. */
export const [VERSION_CHECK] = CLI_TREE.executable_checks;

/** Print mode: one prompt, one result. */
export const [PRINT_COMMAND] = CLI_TREE.commands;
