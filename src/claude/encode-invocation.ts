import { ReinsError } from '../base/reins-error.ts';
import type { CliCommand, CliToken } from './cli-tree.ts';

export type InvocationArguments = Readonly<Record<string, string | number | boolean>>;

export interface Invocation {
  readonly argv: readonly string[];
  /** What is written to stdin before it is closed; null closes it at once. */
  readonly stdin: string | null;
}

/** Linux takes no single argument longer than this with its final zero byte; macOS takes more. Bytes. */
export const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

/**
 * Exact arguments for a command of the contract. Pure, and the only place that makes them: for the JSON command of the
 * contract and for what the adapter derives from it (`toStreamCommand`, `toStdinCommand`). The values have been checked
 * against the parameters' schemas. Throws `invalid_parameter` for what a schema cannot say: parameters that exclude each
 * other, a missing one, a zero byte, half of a surrogate pair, or more bytes than an argument can have.
 */
export function encodeInvocation(command: CliCommand, args: InvocationArguments): Invocation {
  requireConsistent(command, args);
  const argv = command.argv.flatMap((token) => encodeToken(token, args));
  if (command.stdin === undefined) return { argv, stdin: null };
  return {
    argv,
    stdin: requireText(command.stdin.parameter, String(args[command.stdin.parameter])),
  };
}

function encodeToken(token: CliToken, args: InvocationArguments): string[] {
  if (token.kind === 'literal') return [token.value];
  const value = args[token.parameter];
  if (value === undefined) return [];
  switch (token.kind) {
    case 'option':
      return [requireArgument(token.parameter, `${token.flag}=${value}`)];
    case 'flag':
      return value === true ? [token.flag] : [];
    case 'positional':
      return [requireArgument(token.parameter, String(value))];
  }
}

function requireConsistent(command: CliCommand, args: InvocationArguments): void {
  for (const { name, required, conflicts } of command.parameters) {
    const value = args[name];
    if (value === undefined) {
      if (required) throw refusal(`${name} is required and missing; add it`);
      continue;
    }
    // A flag that is switched off is as good as left out.
    const other = conflicts.find((each) => args[each] !== undefined && args[each] !== false);
    if (value !== false && other !== undefined) {
      throw refusal(`${name} and ${other} exclude each other; leave one of them out`);
    }
  }
}

function requireArgument(name: string, argument: string): string {
  requireText(name, argument);
  if (Buffer.byteLength(argument) > MAX_ARGUMENT_BYTES) {
    throw refusal(
      `${name} is longer than the ${MAX_ARGUMENT_BYTES} bytes that an argument can have; put the material into a file and name the file`,
    );
  }
  return argument;
}

function requireText(name: string, text: string): string {
  if (text.includes('\0'))
    throw refusal(`${name} has a zero byte, which no argument can; remove it`);
  if (!text.isWellFormed())
    throw refusal(`${name} has half of a surrogate pair; send whole characters`);
  return text;
}

function refusal(sentence: string): ReinsError {
  return new ReinsError('invalid_parameter', `${sentence}.`);
}
