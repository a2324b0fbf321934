import * as z from 'zod';
import type { JsonObject } from '../../base/canonical-json.ts';
import { WORK_KIND, WORK_URI } from '../../delegate/work-resource.ts';
import type { DelegateTool } from './tool.ts';

const NAMESPACE = 'io.github.computer-mcp';

/** D4, D6, D8: what a Computer MCP host reads of a tool. Other clients ignore it. */
export function toHostMetadata({ risk, continues }: DelegateTool): JsonObject {
  const continuation = {
    format_version: 1,
    selectors: [{ kind: WORK_KIND, handles: { id: '/run_id' } }],
  };
  return {
    [`${NAMESPACE}/risk`]: risk,
    [`${NAMESPACE}/work`]: { format_version: 1, uri: WORK_URI },
    ...(continues ? { [`${NAMESPACE}/continuation`]: continuation } : {}),
  };
}

const callMetadata = z.looseObject({
  [`${NAMESPACE}/work-invocation`]: z.guid().optional(),
  progressToken: z.union([z.string(), z.number()]).optional(),
});

export interface CallMetadata {
  /** Null for a client that is no such host. */
  readonly invocation: string | null;
  readonly progressToken: string | number | undefined;
}

/** What a call carries beside its arguments; undefined when an id is there that is not a UUID. */
export function parseCallMetadata(meta: unknown): CallMetadata | undefined {
  const parsed = callMetadata.safeParse(meta ?? {});
  if (!parsed.success) return undefined;
  const invocation = z.string().safeParse(parsed.data[`${NAMESPACE}/work-invocation`]);
  return {
    invocation: invocation.success ? invocation.data : null,
    progressToken: parsed.data.progressToken,
  };
}
