import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  encodeAdapterInvocation,
  toStdinCommand,
  toStreamCommand,
} from '../../../src/claude/adapter-command.ts';
import { CLI_TREE, PRINT_COMMAND } from '../../../src/claude/cli-tree.ts';
import { SUPPORTED_CLAUDE_VERSIONS } from '../../../src/claude/contract.ts';
import { encodeInvocation, MAX_ARGUMENT_BYTES } from '../../../src/claude/encode-invocation.ts';
import { inheritedEnvironment } from '../../../src/claude/inherited-environment.ts';

describe('D1 the contract', () => {
  test('is for a version that is asserted before each run', () => {
    expect(SUPPORTED_CLAUDE_VERSIONS).toContain(CLI_TREE.executable_version);
    expect(CLI_TREE.executable_checks).toEqual([
      { args: ['--version'], stdout: `${CLI_TREE.executable_version} (Claude Code)\n` },
    ]);
  });

  test('maps each parameter once, puts all flags before "--" and the prompt behind it', () => {
    const mapped = PRINT_COMMAND.argv.flatMap((token) =>
      token.kind === 'literal' ? [] : [token.parameter],
    );
    const names = PRINT_COMMAND.parameters.map(({ name }) => name);
    expect([...mapped].sort()).toEqual([...names].sort());
    expect(PRINT_COMMAND.argv.slice(-2)).toEqual([
      { kind: 'literal', value: '--' },
      { kind: 'positional', parameter: 'prompt' },
    ]);
  });

  test('D9 names each exclusion from both sides', () => {
    for (const { name, conflicts } of PRINT_COMMAND.parameters) {
      for (const other of conflicts) {
        const back = PRINT_COMMAND.parameters.find((each) => each.name === other);
        expect(back?.conflicts, `${name} and ${other}`).toContain(name);
      }
    }
  });

  test('D10 offers no mode that grants everything, and wants one to be named', () => {
    const mode = PRINT_COMMAND.parameters.find(({ name }) => name === 'permission_mode');
    expect(mode?.schema['enum']).toEqual(['dontAsk', 'plan', 'acceptEdits']);
    expect(mode?.required).toBe(true);
    expect(() => encodeInvocation(PRINT_COMMAND, { prompt: 'x' })).toThrow(/^permission_mode is/);
  });
});

describe('D1 arguments', () => {
  const minimal = { prompt: 'x', permission_mode: 'dontAsk' };

  test('of the contract ask for one JSON result, those of the adapter for the stream', () => {
    expect(encodeInvocation(PRINT_COMMAND, minimal)).toEqual({
      argv: ['-p', '--output-format=json', '--permission-mode=dontAsk', '--', 'x'],
      stdin: null,
    });
    expect(encodeAdapterInvocation(PRINT_COMMAND, minimal)).toEqual({
      argv: [
        ...['-p', '--output-format=stream-json', '--verbose', '--include-partial-messages'],
        ...['--permission-mode=dontAsk', '--', 'x'],
      ],
      stdin: null,
    });
  });

  test('have any text as one argument of its own, whatever is in it', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((each) => !each.includes('\0'));
    fc.assert(
      fc.property(text, text, text, (prompt, model, append) => {
        const { argv } = encodeInvocation(PRINT_COMMAND, {
          ...minimal,
          prompt,
          model,
          append_system_prompt: append,
        });
        expect(argv.slice(-2)).toEqual(['--', prompt]);
        expect(argv.slice(0, -2)).toEqual([
          ...['-p', '--output-format=json', '--permission-mode=dontAsk', `--model=${model}`],
          `--append-system-prompt=${append}`,
        ]);
      }),
    );
  });

  test('F8 a prompt beyond what an argument can have goes through stdin, byte for byte', () => {
    const longest = 'x'.repeat(MAX_ARGUMENT_BYTES);
    expect(
      encodeAdapterInvocation(PRINT_COMMAND, { ...minimal, prompt: longest }).stdin,
    ).toBeNull();
    const longer = `${'ä'.repeat(MAX_ARGUMENT_BYTES / 2)}  `;
    const { argv, stdin } = encodeAdapterInvocation(PRINT_COMMAND, { ...minimal, prompt: longer });
    expect(stdin === longer).toBe(true);
    expect(argv.at(-1)).toBe('--permission-mode=dontAsk');
    expect(() => encodeInvocation(PRINT_COMMAND, { ...minimal, prompt: longer })).toThrow(/131071/);
  });

  test('a zero byte and half a surrogate pair are refused on either way', () => {
    const stream = toStreamCommand(PRINT_COMMAND);
    for (const command of [PRINT_COMMAND, stream, toStdinCommand(stream)]) {
      for (const prompt of ['a\0b', '\udc00']) {
        expect(() => encodeInvocation(command, { ...minimal, prompt })).toThrow(/^prompt has/);
      }
    }
  });

  test('D9 what excludes each other is refused in each combination, and nothing else is', () => {
    const choices = {
      resume_session_id: ['r'],
      continue_previous: [true, false],
      session_id: ['s'],
      no_session_persistence: [true, false],
    } as const;
    const names = Object.keys(choices) as (keyof typeof choices)[];
    const all = names.reduce<Record<string, string | boolean>[]>(
      (sets, name) =>
        sets.flatMap((set) => [set, ...choices[name].map((value) => ({ ...set, [name]: value }))]),
      [{}],
    );
    expect(all).toHaveLength(2 * 3 * 2 * 3);
    for (const set of all) {
      const on = (name: string): boolean => set[name] !== undefined && set[name] !== false;
      const chosen = ['resume_session_id', 'continue_previous', 'session_id'].filter(on);
      const wrong =
        chosen.length > 1 ||
        (on('no_session_persistence') && (on('resume_session_id') || on('continue_previous')));
      const encode = () => encodeInvocation(PRINT_COMMAND, { ...minimal, ...set });
      if (wrong) expect(encode, JSON.stringify(set)).toThrow(/exclude each other/);
      else expect(encode, JSON.stringify(set)).not.toThrow();
    }
  });
});

test('D11 D16 of the environment, the user’s settings stay and what surrounds the adapter goes', () => {
  const kept = {
    HOME: '/h',
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CONFIG_DIR: '/c',
    CLAUDE_CODE_OAUTH_TOKEN: 't',
    CLAUDE_CODE_USE_VERTEX: '1',
    CLAUDE_CODE_SKIP_VERTEX_AUTH: '1',
  };
  const gone = {
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: 's',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_NEW_THING: 'x',
    COMPUTER_MCP: '1',
    COMPUTER_MCP_TOKEN: 'x',
    REINS_RUN_MARKER: 'm',
  };
  expect(inheritedEnvironment({ ...kept, ...gone, UNSET: undefined })).toEqual(kept);
});
