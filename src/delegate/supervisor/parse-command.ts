import { parseJson } from '../../base/parse-json.ts';
import type { SupervisorCommand, SupervisorOrder } from './messages.ts';

/**
 * Reads a line of the adapter's. Total: anything that it could not have written gives undefined. Written out, because
 * loading a schema library would take as long as everything else that a supervisor does at its start.
 */
export function parseCommand(line: string): SupervisorCommand | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  switch (value['kind']) {
    case 'sweep': {
      const { adapterMarker } = value;
      return typeof adapterMarker === 'string' && adapterMarker !== ''
        ? { kind: 'sweep', adapterMarker }
        : undefined;
    }
    case 'order': {
      const order = parseOrder(value);
      return order === undefined ? undefined : { kind: 'order', ...order };
    }
    case 'end':
      return { kind: 'end' };
    case 'dismiss':
      return { kind: 'dismiss' };
    default:
      return undefined;
  }
}

function parseOrder(value: Record<string, unknown>): SupervisorOrder | undefined {
  const { candidates, question, args, cwd, env, stdin, marker, adopterPid } = value;
  if (!isStrings(candidates) || !isStrings(args) || typeof cwd !== 'string') return undefined;
  if (!isRecord(question) || !isStrings(question['args'])) return undefined;
  if (typeof question['answer'] !== 'string') return undefined;
  if (adopterPid !== null && typeof adopterPid !== 'number') return undefined;
  if (!isRecord(env) || !hasStringsOnly(env)) return undefined;
  if (stdin !== null && typeof stdin !== 'string') return undefined;
  if (typeof marker !== 'string' || marker === '') return undefined;
  const asked = { args: question['args'], answer: question['answer'] };
  return { candidates, question: asked, args, cwd, env, stdin, marker, adopterPid };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function hasStringsOnly(value: Record<string, unknown>): value is Record<string, string> {
  return Object.values(value).every((item) => typeof item === 'string');
}
