import type { JsonObject } from '../../../../src/base/canonical-json.ts';
import { ReinsError } from '../../../../src/base/reins-error.ts';
import type { Receipt } from '../../../../src/ledger/actions.ts';
import { toolsFor } from '../../../../src/tools/tool-set.ts';
import type { ToolSession } from './tool-session.ts';

/** Calls a tool that looks without the ledger, for tests that make hundreds of calls. Nothing limits the text. */
export async function look(
  session: ToolSession,
  name: string,
  input: JsonObject,
): Promise<Receipt> {
  const tool = toolsFor('read_only').find((each) => each.name === name);
  if (tool?.kind !== 'observe') throw new Error(`${name} is no tool that looks`);
  try {
    const { text, truncated } = await tool.execute(input, session.context);
    return { text, is_error: false, truncated, code: null };
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    return { text: error.message, is_error: true, truncated: false, code: error.code };
  }
}
