import { continueTool } from './continue.ts';
import { recoverTool } from './recover.ts';
import { replyAndWaitTool } from './reply-and-wait.ts';
import { startTool } from './start.ts';
import { statusTool } from './status.ts';
import { stopTool } from './stop.ts';
import type { NativeTool } from './tool.ts';

/** Exactly these, in the order of a session's life. */
export const NATIVE_TOOLS: readonly NativeTool[] = [
  startTool,
  replyAndWaitTool,
  continueTool,
  statusTool,
  recoverTool,
  stopTool,
];
