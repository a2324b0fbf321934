import * as z from 'zod';
import type { JsonObject } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { CapabilityProfile } from '../ledger/sessions.ts';
import { editTool } from './edit.ts';
import { findFilesTool } from './find-files.ts';
import { notebookEditTool } from './notebook-edit.ts';
import { readTool } from './read.ts';
import { runCommandTool } from './run-command.ts';
import { searchTextTool } from './search-text.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

const LOOKING: readonly Tool[] = [readTool, findFilesTool, searchTextTool];
const CHANGING: readonly Tool[] = [editTool, writeTool, notebookEditTool];

/** The tools that a session of this profile has, in the order in which they are shown. */
export function toolsFor(profile: CapabilityProfile): readonly Tool[] {
  return [...LOOKING, ...(profile === 'read_only' ? [] : CHANGING), runCommandTool];
}

/** What a client is told of a tool. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

const describedSchema = z.record(z.string(), z.json());

export function describeTool(tool: Tool): ToolDescription {
  const { $schema: _dialect, ...schema } = describedSchema.parse(
    z.toJSONSchema(tool.input, { io: 'input' }),
  );
  return { name: tool.name, description: tool.description, input_schema: schema };
}

/** Throws `tool_not_available` or `tool_call_invalid`, naming the call, the field and what it takes. */
export function checkToolCall(
  profile: CapabilityProfile,
  call: { readonly tool: string; readonly input: JsonObject },
  position: number,
): void {
  const tools = toolsFor(profile);
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool === undefined) {
    throw new ReinsError(
      'tool_not_available',
      `tool_calls[${position}].name is "${call.tool.slice(0, 100)}", which a ${profile} session does not have; it has ${tools.map(({ name }) => name).join(', ')}.`,
    );
  }
  const parsed = tool.input.safeParse(call.input);
  if (parsed.success) return;
  const issue = parsed.error.issues[0];
  const field = [`tool_calls[${position}].input`, ...(issue?.path ?? [])].join('.');
  throw new ReinsError(
    'tool_call_invalid',
    `${field} of ${tool.name} is refused (${issue?.message ?? 'invalid'}); correct it as the tool's input_schema says.`,
  );
}
