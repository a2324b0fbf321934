import { cancelTool } from './cancel.ts';
import { eventsTool } from './events.ts';
import { listTool } from './list.ts';
import { releaseTool } from './release.ts';
import { resultTool } from './result.ts';
import { runTool } from './run.ts';
import { startTool } from './start.ts';
import type { DelegateTool } from './tool.ts';

/** D3: exactly these, in the order of a run's life. */
export const DELEGATE_TOOLS: readonly DelegateTool[] = [
  runTool,
  startTool,
  listTool,
  resultTool,
  eventsTool,
  cancelTool,
  releaseTool,
];
