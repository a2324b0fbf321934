import type { Tool } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import type { JsonObject } from '../../base/canonical-json.ts';
import type { DelegatedRun } from '../../delegate/delegated-run.ts';
import type { RunRegistry } from '../../delegate/run-registry.ts';
import type { ToolAnnotations } from '../tool-annotations.ts';

/** D4: the least that a host has to ask for before it lets a call through. */
export type Risk = 'full-shell' | 'read-only' | 'destructive';

export interface DelegateContext {
  readonly registry: RunRegistry;
  /** Where runs work that name no directory. */
  readonly directory: string;
  /** D7: who the host says has made this call; null for a client that does not say. */
  readonly invocation: string | null;
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Tells the client how a run gets on, as long as it is waited for, if the client has asked to be told. */
  watch(run: DelegatedRun): { stop(): void };
}

export interface ToolAnswer {
  readonly result: JsonObject;
  readonly isError: boolean;
  /** One line for clients that show a text. */
  readonly line: string;
}

/** One of the seven tools: what a client reads of it, what it accepts and what it does. */
export interface DelegateTool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly risk: Risk;
  /** D8: whether the call is about a run that exists, named by `run_id`. */
  readonly continues: boolean;
  readonly inputSchema: Tool['inputSchema'];
  readonly outputSchema: Tool['outputSchema'];
  readonly input: z.ZodType<Input>;
  call(input: Input, context: DelegateContext): Promise<ToolAnswer> | ToolAnswer;
}

/** A tool behind one face, its input already tied to its schema. */
export function defineDelegateTool<Input>(tool: DelegateTool<Input>): DelegateTool {
  return { ...tool, call: (input, context) => tool.call(tool.input.parse(input), context) };
}
