import type { CliCommand } from './cli-tree.ts';
import {
  encodeInvocation,
  type Invocation,
  type InvocationArguments,
  MAX_ARGUMENT_BYTES,
} from './encode-invocation.ts';

/** In place of one JSON result: each event as it comes, pieces of messages included. */
const STREAM_OUTPUT = ['--output-format=stream-json', '--verbose', '--include-partial-messages'];

/** The same command with its events as a stream. */
export function toStreamCommand(command: CliCommand): CliCommand {
  return {
    ...command,
    argv: command.argv.flatMap((token) =>
      token.kind === 'literal' && token.value.startsWith('--output-format=')
        ? STREAM_OUTPUT.map((value) => ({ kind: 'literal' as const, value }))
        : [token],
    ),
    stdout: 'text',
  };
}

/** The same command with its prompt on stdin, which Claude Code reads exactly as it would the argument. */
export function toStdinCommand(command: CliCommand): CliCommand {
  return {
    ...command,
    argv: command.argv.filter(
      (token) => token.kind !== 'positional' && !(token.kind === 'literal' && token.value === '--'),
    ),
    stdin: { parameter: 'prompt', encoding: 'utf8' },
  };
}

/** What the adapter runs for these arguments: a prompt that is too long for an argument goes through stdin. */
export function encodeAdapterInvocation(
  command: CliCommand,
  args: InvocationArguments,
): Invocation {
  const stream = toStreamCommand(command);
  const tooLong = Buffer.byteLength(String(args['prompt'])) > MAX_ARGUMENT_BYTES;
  return encodeInvocation(tooLong ? toStdinCommand(stream) : stream, args);
}
