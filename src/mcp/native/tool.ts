import type * as z from 'zod';
import type { SessionService } from '../../session/session-service.ts';
import type { SessionState } from '../../session/session-state.ts';
import type { ToolAnnotations } from '../tool-annotations.ts';

/** One of the six tools: what a client reads of it, what it accepts and what it does. */
export interface NativeTool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: z.ZodType<Input>;
  call(input: Input, service: SessionService): Promise<SessionState>;
}

/** A tool behind one face, its input already tied to its schema. */
export function defineNativeTool<Input>(tool: NativeTool<Input>): NativeTool {
  return { ...tool, call: (input, service) => tool.call(tool.input.parse(input), service) };
}
