import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSessionId, type SessionId } from '../../base/ids.ts';
import type { LedgerDatabase } from '../../ledger/database.ts';
import { listEvents } from '../../ledger/events.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { findSession } from '../../ledger/sessions.ts';
import { describeTerminal } from '../terminal.ts';
import { describeEvents } from '../timeline/describe-event.ts';
import { formatEntry } from '../timeline/format-entry.ts';
import { connectDemoClient, type DemoClient } from './demo-client.ts';
import { createDemoProject, DEMO_PROMPT, DEMO_STEPS } from './demo-script.ts';

/** Prints what has happened since the last look, and says what the scripted client thinks of it. */
class LiveTimeline {
  readonly #database: LedgerDatabase;
  readonly #session: SessionId;
  #seen = 0;

  constructor(database: LedgerDatabase, session: SessionId) {
    this.#database = database;
    this.#session = session;
  }

  print(): void {
    const session = findSession(this.#database, this.#session);
    if (session === undefined) return;
    const events = listEvents(this.#database, this.#session);
    const terminal = describeTerminal(process.stdout, process.env);
    for (const entry of describeEvents(this.#database, session, events.slice(this.#seen))) {
      process.stdout.write(`${formatEntry(entry, terminal)}\n`);
    }
    this.#seen = events.length;
  }
}

const root = realpathSync(mkdtempSync(join(tmpdir(), 'reins-demo-')));
let client: DemoClient | undefined;

async function run(): Promise<void> {
  const project = join(root, 'project');
  const state = join(root, 'state');
  createDemoProject(project);
  say(`A throw-away project is in ${project}.`);
  say('Starting a gateway, and through it the real Claude Code. No account, no key, no network.\n');
  client = await connectDemoClient({ HOME: root, PATH: '/usr/bin:/bin', REINS_STATE_DIR: state });
  const started = await client.start(project, DEMO_PROMPT);
  if (!isSessionId(started)) throw new Error('the gateway returned no session');
  const timeline = new LiveTimeline(openLedger(join(state, 'state.db')), started);
  timeline.print();
  for (const step of DEMO_STEPS) {
    await client.reply(step);
    timeline.print();
  }
  await client.stop();
  timeline.print();
  say('\nThat was one MCP client being the model of a real Claude Code. With your own client:');
  say('  npm start                 serve it, and print what to paste into a client');
  say('  node bin/reins.js --help  everything else');
}

async function cleanUp(): Promise<void> {
  await client?.close();
  rmSync(root, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.once('SIGINT', () => {
  void cleanUp().finally(() => process.exit(130));
});
try {
  await run();
} catch (error) {
  process.stderr.write(
    `The demo failed: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
} finally {
  await cleanUp();
}
