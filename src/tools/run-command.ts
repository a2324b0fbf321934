import * as z from 'zod';
import { ReinsError } from '../base/reins-error.ts';
import { toCommandEnvironment } from './command/command-environment.ts';
import type { CommandRuntime } from './command/command-runtime.ts';
import { describeRun, MAX_COMMAND_SECONDS, notStarted } from './command/describe-run.ts';
import { findAllHidden } from './command/find-all-hidden.ts';
import { refuseCommand } from './command/refuse-command.ts';
import { requireProgram, resolveDirectory } from './command/resolve-command.ts';
import { superviseRun } from './command/supervise-run.ts';
import { defineCommandTool, type ToolContext } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const DEFAULT_SECONDS = 120;
/** Linux's MAX_ARG_STRLEN; a longer argument cannot be passed. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const MAX_ARGUMENTS = 4_096;

export const runCommandTool = defineCommandTool({
  name: 'RunCommand',
  description:
    'Runs one program with exactly these arguments, no shell in between, and returns exit code, duration and output. It sees the computer read-only and without protected files, has a private /tmp, no network, no unix sockets and no other processes. What it writes in the session directory and the home directory goes to a temporary layer and is thrown away afterwards, so builds and test suites run; Edit and Write make lasting changes. Each call starts from the real files. stdin is empty.',
  input: z.strictObject({
    argv: z
      .array(wellFormedText.max(MAX_ARGUMENT_BYTES))
      .min(1)
      .max(MAX_ARGUMENTS)
      .describe('Program and arguments. Shell syntax needs a shell: ["sh", "-c", "..."].'),
    cwd: wellFormedText
      .optional()
      .describe(
        'Directory to run in; relative paths start at the working directory, which is the default.',
      ),
    timeout_seconds: z
      .int()
      .min(1)
      .max(MAX_COMMAND_SECONDS)
      .optional()
      .describe(
        `After this many seconds all its processes are ended. Default ${DEFAULT_SECONDS}, at most ${MAX_COMMAND_SECONDS}.`,
      ),
    env: z
      .record(z.string(), wellFormedText)
      .optional()
      .describe(
        'Further variables. Those that make programs load code or configuration are refused.',
      ),
  }),
  async execute(input, context, signal) {
    const runtime = requireRuntime(context);
    refuseCommand(input.argv);
    const cwd = await resolveDirectory(input.cwd ?? '.', context);
    const sources = {
      home: runtime.home,
      searchPath: runtime.searchPath,
      sessionDirectory: context.workingDirectory,
      toolLocations: runtime.toolLocations,
    };
    const env = toCommandEnvironment(sources, input.env ?? {});
    await requireProgram(input.argv[0] ?? '', cwd, env['PATH'] ?? '');
    const stage = runtime.nextStage();
    try {
      const [{ hidden, shown }, pipesMade] = await Promise.all([
        findAllHidden(cwd, runtime, context),
        stage.pipesMade,
      ]);
      const run = await (await runtime.confinement).confineCommand({
        argv: input.argv,
        cwd,
        env,
        home: runtime.home,
        sessionDirectory: context.workingDirectory,
        furtherDirectories: runtime.furtherDirectories,
        hidden,
        hiddenNames: context.protection.namePatterns,
        files: await runtime.generateFiles(),
        stage: stage.directory,
      });
      const timeoutMs = 1000 * (input.timeout_seconds ?? DEFAULT_SECONDS);
      const { result, cause, started } = await superviseRun(run, context, hidden, {
        timeoutMs,
        signal,
        ...(pipesMade ? { outputPipes: stage.outputPipes } : {}),
      });
      if (
        !started &&
        cause === undefined &&
        (result.ended === 'exit' || result.ended === 'not_started')
      ) {
        throw notStarted(result);
      }
      return describeRun(result, cause, run.writes, cwd, timeoutMs, shown);
    } finally {
      await stage.pipesMade;
      stage.discard();
    }
  },
});

function requireRuntime(context: ToolContext): CommandRuntime {
  if (context.commands !== null) return context.commands;
  throw new ReinsError('not_authorized', 'Commands run in a running session alone.');
}
