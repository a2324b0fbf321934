import * as z from 'zod';
import type { JsonObject } from '../base/canonical-json.ts';
import { ReinsError } from '../base/reins-error.ts';
import type { CapabilityProfile, SubagentPolicy } from '../ledger/sessions.ts';
import { editTool } from './edit.ts';
import { findFilesTool } from './find-files.ts';
import { notebookEditTool } from './notebook-edit.ts';
import { readTool } from './read.ts';
import { requireInput } from './require-input.ts';
import { runCommandTool } from './run-command.ts';
import { searchTextTool } from './search-text.ts';
import { subagentGetTool } from './subagent/get.ts';
import { subagentStartTool } from './subagent/start.ts';
import { subagentStopTool } from './subagent/stop.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

const LOOKING: readonly Tool[] = [readTool, findFilesTool, searchTextTool];
const CHANGING: readonly Tool[] = [editTool, writeTool, notebookEditTool];

const CONTROLLING: readonly Tool[] = [subagentStartTool, subagentGetTool, subagentStopTool];

/** The tools that a session has, or a subagent of one, which has no subagents; in the order in which they are shown. */
export function toolsFor(
  profile: CapabilityProfile,
  policy: SubagentPolicy = 'none',
): readonly Tool[] {
  return [
    ...LOOKING,
    ...(profile === 'read_only' ? [] : CHANGING),
    runCommandTool,
    ...(policy === 'none' ? [] : CONTROLLING),
  ];
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
  policy: SubagentPolicy = 'none',
): void {
  const tools = toolsFor(profile, policy);
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool === undefined) {
    throw new ReinsError(
      'tool_not_available',
      `tool_calls[${position}].name is "${call.tool.slice(0, 100)}", which a ${profile} session does not have; it has ${tools.map(({ name }) => name).join(', ')}.`,
    );
  }
  requireInput(tool, call.input, `tool_calls[${position}].input`);
}
