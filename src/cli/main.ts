import { Command, InvalidArgumentError, Option } from 'commander';
import { armFailpoint } from '../base/failpoint.ts';
import { ReinsError } from '../base/reins-error.ts';
import { CLIENTS, type ClientName, type Door } from './clients/client-config.ts';
import { readEnvironment } from './environment.ts';
import { VERSION } from './version.ts';

interface StdioOptions {
  readonly content: 'short' | 'full';
  readonly config?: ClientName;
  readonly json?: true;
}

const environment = () => {
  const settings = readEnvironment(process.env, process.platform);
  armFailpoint(settings.failpoint ?? undefined);
  return settings;
};

const contentOption = () =>
  new Option(
    '--content <mode>',
    'what to put beside the structured result: one line, or the whole state as text',
  )
    .choices(['short', 'full'] as const)
    .default('short' as const);

const configOption = () =>
  new Option('--config <client>', 'print what to put into a client, and do nothing else').choices(
    CLIENTS,
  );

// Whoever reads what is printed may stop reading: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const program = new Command('reins')
  .description('Let any MCP client take the reins of a real, local Claude Code.')
  .version(VERSION)
  .showHelpAfterError('Type "reins --help" for what there is.');

program
  .command('stdio')
  .description('serve one MCP client over stdin and stdout')
  .addOption(contentOption())
  .addOption(configOption())
  .option('--json', 'with --config, print JSON')
  .action(async (options: StdioOptions) => {
    if (options.config !== undefined) return print(options.config, 'stdio', options.json);
    const { runStdio } = await import('./commands/stdio.ts');
    await runStdio(environment(), options.content);
  });

program
  .command('serve')
  .description('serve MCP clients over Streamable HTTP on this computer')
  .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', parsePort, 8722)
  .addOption(contentOption())
  .option('--json', 'print address and token as JSON')
  .action(async (options: { port: number; content: 'short' | 'full'; json?: true }) => {
    const { runServe } = await import('./commands/serve.ts');
    await runServe(environment(), options);
  });

program
  .command('delegate')
  .description("hand tasks to the user's own Claude Code, for one MCP client over stdin and stdout")
  .addOption(contentOption())
  .addOption(configOption())
  .option('--json', 'with --config, print JSON')
  .action(async (options: StdioOptions) => {
    if (options.config !== undefined) return print(options.config, 'delegate', options.json);
    const { runDelegate } = await import('./commands/delegate.ts');
    await runDelegate(process.env, options.content);
  });

program
  .command('sessions')
  .description('list the sessions of this state directory, newest first')
  .option('--json', 'print JSON')
  .option('--limit <number>', 'how many', parseCount, 50)
  .action(async (options: { json?: true; limit: number }) => {
    const { runSessions } = await import('./commands/sessions.ts');
    await runSessions(environment(), options);
  });

program
  .command('show')
  .description('show the timeline of a session with the changes that it made')
  .argument('<session>', 'session id, or an unambiguous start of it')
  .option('--json', 'print JSON')
  .option('--resume-text', 'print what to paste into a chat to take the session over')
  .action(async (session: string, options: { json?: true; resumeText?: true }) => {
    const { runShow } = await import('./commands/show.ts');
    await runShow(environment(), session, options);
  });

program
  .command('undo')
  .description('restore the files that a session changed, all or by action, newest first')
  .argument('<session>', 'session id, or an unambiguous start of it')
  .argument('[action...]', 'ids of the actions to undo; all changes without any')
  .option('--dry-run', 'show what would change and change nothing')
  .option('--json', 'print JSON')
  .action(async (session: string, actions: string[], options: { dryRun?: true; json?: true }) => {
    const { runUndo } = await import('./commands/undo.ts');
    await runUndo(environment(), session, actions, options);
  });

program
  .command('resolve')
  .description('say what became of an action that a crash left in doubt')
  .argument('<session>', 'session id, or an unambiguous start of it')
  .argument('<action>', 'id of the action')
  .requiredOption('--as <verdict>', 'applied or not-applied')
  .option('--json', 'print JSON')
  .action(async (session: string, action: string, options: { as?: string; json?: true }) => {
    const { runResolve } = await import('./commands/resolve.ts');
    runResolve(environment(), session, action, options);
  });

const ledger = program.command('ledger').description('check and export the timelines');

ledger
  .command('verify')
  .description('find any altered, missing or reordered record')
  .argument('[session]', 'session id, or an unambiguous start of it; all sessions without')
  .option('--file <export>', 'check an exported timeline instead of the database')
  .option('--json', 'print JSON')
  .action(async (session: string | undefined, options: { file?: string; json?: true }) => {
    const { runLedgerVerify } = await import('./commands/ledger.ts');
    runLedgerVerify(environment(), session, options);
  });

ledger
  .command('export')
  .description('write a timeline as JSON Lines that verify without the database')
  .argument('<session>', 'session id, or an unambiguous start of it')
  .action(async (session: string) => {
    const { runLedgerExport } = await import('./commands/ledger.ts');
    runLedgerExport(environment(), session);
  });

const worktrees = program
  .command('worktrees')
  .description('list the worktrees that sessions have kept')
  .option('--json', 'print JSON')
  .action(async (options: { json?: true }) => {
    const { runWorktrees } = await import('./commands/worktrees.ts');
    runWorktrees(environment(), options);
  });

worktrees
  .command('remove')
  .description('remove the worktree of a session that has ended')
  .argument('<session>', 'session id, or an unambiguous start of it')
  .option('--discard-changes', 'also when there are changes in it')
  .option('--json', 'print JSON')
  .action(async (session: string, _options: object, command: Command) => {
    const { runRemoveWorktree } = await import('./commands/worktrees.ts');
    await runRemoveWorktree(environment(), session, command.optsWithGlobals());
  });

program
  .command('skills')
  .description('list the skills that sessions could have, and the entries that allow them')
  .option('--directory <path>', "whose project's skills to list", '.')
  .option('--json', 'print JSON')
  .action(async (options: { directory: string; json?: true }) => {
    const { runSkills } = await import('./commands/skills.ts');
    runSkills(environment(), options);
  });

program
  .command('doctor')
  .description('show what is installed, and try what is promised on this computer')
  .option('--json', 'print JSON')
  .action(async (options: { json?: true }) => {
    const { runDoctor } = await import('./commands/doctor.ts');
    await runDoctor(environment(), options);
  });

program
  .command('prune')
  .description('remove ended sessions by age and size; says what would go, unless --yes is given')
  .option('--older-than <days>', 'untouched for this many days', parseCount, 30)
  .option('--max-megabytes <number>', 'and the oldest, until the rest fits', parseCount)
  .option('--yes', 'remove them')
  .option('--json', 'print JSON')
  .action(
    async (options: { olderThan: number; maxMegabytes?: number; yes?: true; json?: true }) => {
      const { runPrune } = await import('./commands/prune.ts');
      runPrune(environment(), options);
    },
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof ReinsError)) throw error;
  process.stderr.write(`reins: ${error.code}: ${error.message}\n`);
  process.exitCode = 1;
}

async function print(client: ClientName, door: Door, json: true | undefined): Promise<void> {
  const { printConfig } = await import('./commands/print-config.ts');
  printConfig(client, door, json === true);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('It has to be a whole number from 0 to 65535.');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 10_000) return count;
  throw new InvalidArgumentError('It has to be a whole number from 1 to 10000.');
}
