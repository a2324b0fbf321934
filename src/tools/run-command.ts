import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod';
import { ReinsError, type ToolErrorCode } from '../base/reins-error.ts';
import { MAX_PROCESSES } from '../confine/command-request.ts';
import type { ConfinedRun } from '../confine/confinement.ts';
import { toExitSignal } from '../process/exit-signal.ts';
import { type BoundedRun, type RunBounds, runBounded } from '../process/run-bounded.ts';
import { toCommandEnvironment, toSearchPath } from './command/command-environment.ts';
import type { CommandRuntime } from './command/command-runtime.ts';
import { findHardLinks, findSecrets } from './command/find-hidden.ts';
import { formatOutput } from './command/format-run.ts';
import { refuseCommand } from './command/refuse-command.ts';
import { resolvePath, toPathError } from './resolve-path.ts';
import { showPath } from './show-path.ts';
import { type CommandResult, defineCommandTool, type ToolContext } from './tool.ts';
import { wellFormedText } from './well-formed-text.ts';

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 900;
/** Linux's MAX_ARG_STRLEN; a longer argument cannot be passed. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const MAX_ARGUMENTS = 4_096;
/** How often a run is looked at, in milliseconds. */
const LOOK_MS = 100;
/** Hidden names that an answer lists. */
const MAX_LISTED = 10;

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
      .max(MAX_SECONDS)
      .optional()
      .describe(
        `After this many seconds all its processes are ended. Default ${DEFAULT_SECONDS}, at most ${MAX_SECONDS}.`,
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
      home: await realpath(runtime.home).catch(() => runtime.home),
      searchPath: runtime.searchPath,
      sessionDirectory: context.workingDirectory,
      toolLocations: runtime.toolLocations,
    };
    const env = toCommandEnvironment(sources, input.env ?? {});
    await requireProgram(input.argv[0] ?? '', cwd, toSearchPath(sources));
    const { hidden, shown } = await findHidden(cwd, runtime, context);
    const stage = await runtime.nextStage();
    try {
      const run = await (await runtime.confinement).confineCommand({
        argv: input.argv,
        cwd,
        env,
        home: sources.home,
        sessionDirectory: context.workingDirectory,
        furtherDirectories: runtime.furtherDirectories,
        hidden,
        hiddenNames: context.protection.namePatterns,
        files: await runtime.generateFiles(),
        stage: stage.directory,
      });
      const timeoutMs = 1000 * (input.timeout_seconds ?? DEFAULT_SECONDS);
      const { result, cause, started } = await supervise(run, context, hidden, {
        timeoutMs,
        signal,
        ...(stage.outputPipes === undefined ? {} : { outputPipes: stage.outputPipes }),
      });
      if (!started && cause === undefined && ENDED_BY_ITSELF.includes(result.ended)) {
        throw notStarted(result);
      }
      return toAnswer(result, cause, run, cwd, timeoutMs, shown);
    } finally {
      stage.discard();
    }
  },
});

function requireRuntime(context: ToolContext): CommandRuntime {
  if (context.commands !== null) return context.commands;
  throw new ReinsError('not_authorized', 'Commands run in a running session alone.');
}

async function resolveDirectory(named: string, context: ToolContext): Promise<string> {
  const path = await resolvePath(named, context);
  try {
    if ((await realpath(path)) !== path) {
      throw new ReinsError(
        'symbolic_link',
        `cwd ${path} leads through a symbolic link; name the directory itself, ${await realpath(path)}.`,
      );
    }
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    throw toPathError(error, path);
  }
  throw new ReinsError('not_a_directory', `cwd ${path} is not a directory; name one.`);
}

/** Throws `command_not_found`, so that a missing program is told apart from one that failed. */
async function requireProgram(name: string, cwd: string, searchPath: string): Promise<void> {
  const places = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : searchPath.split(delimiter).map((directory) => join(directory, name));
  for (const place of name === '' ? [] : places) {
    const executable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable && (await stat(place)).isFile()) return;
  }
  const where = name.includes('/')
    ? 'there is no such executable file'
    : `it is in none of ${searchPath}`;
  throw new ReinsError(
    'command_not_found',
    `argv[0] is "${showPath(name.slice(0, 200))}", and ${where}; give the path of an installed program, or of an executable of the session directory with "./" in front.`,
  );
}

/** Everything that the command is not to see, and what of it lies where it works. */
async function findHidden(
  cwd: string,
  runtime: CommandRuntime,
  context: ToolContext,
): Promise<{ readonly hidden: readonly string[]; readonly shown: readonly string[] }> {
  const { protection, workingDirectory } = context;
  protection.refresh();
  const own = [workingDirectory, cwd].filter((path) => path !== '/');
  const directories = [...new Set(own)].filter(
    (path, _index, all) => !all.some((other) => path.startsWith(`${other}/`)),
  );
  const [home, ...near] = await Promise.all([
    runtime.findHomeSecrets(),
    ...directories.map((path) => findSecrets(path, protection)),
  ]);
  const links = await findHardLinks([...directories, runtime.home], protection);
  return {
    hidden: [...new Set([...protection.closedPlaces(), ...home, ...near.flat(), ...links])],
    shown: [
      ...near.flat(),
      ...links.filter((path) => own.some((root) => path.startsWith(`${root}/`))),
    ],
  };
}

const ENDED_BY_ITSELF: readonly string[] = ['exit', 'not_started'];

/** What the sandbox's own programs said names places that are nobody's business, so it goes to the log alone. */
function notStarted(result: BoundedRun): ReinsError {
  return new ReinsError(
    'confinement_unavailable',
    'The sandbox of the command could not be set up, so it was not run; "reins doctor" on the computer shows why.',
    { cause: new Error(result.stderr.head.toString('utf8').slice(0, 2_000)) },
  );
}

type Cause = 'command_too_many_processes' | 'protected_path' | undefined;

/** Runs it and looks at it meanwhile: at its processes, and whether a protected place has moved in the meantime. */
async function supervise(
  run: ConfinedRun,
  context: ToolContext,
  hidden: readonly string[],
  bounds: RunBounds & { readonly signal: AbortSignal },
): Promise<{ readonly result: BoundedRun; readonly cause: Cause; readonly started: boolean }> {
  const known = new Set(hidden);
  const own = new AbortController();
  let cause: Cause;
  const stop = (because: Cause): void => {
    cause ??= because;
    own.abort();
  };
  let look: NodeJS.Timeout | undefined;
  let program: Promise<number | undefined> = Promise.resolve(undefined);
  const result = await runBounded(run.command, {
    ...bounds,
    signal: AbortSignal.any([bounds.signal, own.signal]),
    onStart(child) {
      program = run.findProgram(child);
      void program.then((pid) => {
        if (pid === undefined || child.exitCode !== null) return;
        look = setInterval(() => {
          if ((run.countProcesses(pid) ?? 0) > MAX_PROCESSES) stop('command_too_many_processes');
          if (context.protection.closedPlaces().some((path) => !known.has(path))) {
            stop('protected_path');
          }
        }, LOOK_MS);
      });
    },
  });
  clearInterval(look);
  return { result, cause, started: (await program) !== undefined };
}

function toAnswer(
  result: BoundedRun,
  cause: Cause,
  run: ConfinedRun,
  cwd: string,
  timeoutMs: number,
  hidden: readonly string[],
): CommandResult {
  const failure = toFailure(result, cause);
  const signal = toExitSignal(result.exitCode);
  const how =
    failure === undefined
      ? `Exit code ${result.exitCode}${signal === undefined ? '' : ` (${signal})`}`
      : `${failure}: ${describeFailure(failure, timeoutMs)}`;
  const writes =
    run.writes === 'throw_away'
      ? 'What it wrote was thrown away.'
      : 'It could write to /tmp alone, since this computer allows no temporary layer over directories.';
  const listed = hidden.slice(0, MAX_LISTED).map(showPath).join(', ');
  const more = hidden.length > MAX_LISTED ? ` and ${hidden.length - MAX_LISTED} more` : '';
  const notes = hidden.length === 0 ? '' : ` Hidden from it as protected: ${listed}${more}.`;
  const output = formatOutput(result);
  const head = `${how} after ${(result.durationMs / 1000).toFixed(2)} s in ${showPath(cwd)}; stdout ${result.stdout.totalBytes} bytes, stderr ${result.stderr.totalBytes} bytes. ${writes}${notes}`;
  return {
    text: output.text === '' ? head : `${head}\n${output.text}`,
    truncated: output.truncated,
    failure,
  };
}

function toFailure(result: BoundedRun, cause: Cause): ToolErrorCode | undefined {
  switch (result.ended) {
    case 'timeout':
      return 'command_timed_out';
    case 'stopped':
      return cause ?? 'command_stopped';
    case 'not_started':
    case 'exit':
      return undefined;
  }
}

function describeFailure(failure: ToolErrorCode, timeoutMs: number): string {
  switch (failure) {
    case 'command_timed_out':
      return `all its processes were ended at the limit of ${timeoutMs / 1000} s (timeout_seconds takes up to ${MAX_SECONDS}),`;
    case 'command_too_many_processes':
      return `it had more than ${MAX_PROCESSES} processes and was ended`;
    case 'protected_path':
      return 'a protected place was moved on the computer while it ran, so it was ended; run it again';
    default:
      return 'it was ended because the session is stopping';
  }
}
