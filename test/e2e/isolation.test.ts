import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConnectedGateway, connectStdio } from '../support/gateway.ts';
import { ScriptedSession } from '../support/scripted-client.ts';
import { createTestHome, processesOf, type TestHome } from '../support/test-home.ts';

let home: TestHome;
let gateway: ConnectedGateway;

beforeEach(async () => {
  // What a user's shell may carry, and what must never reach a session's Claude Code.
  home = createTestHome({
    ANTHROPIC_API_KEY: 'sk-users-own-key',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    CLAUDECODE: '1',
    CLAUDE_CODE_SESSION_ID: 'parent',
    NODE_OPTIONS: '--no-warnings',
    SECRET_OF_THE_USER: 'canary',
  });
  gateway = await connectStdio(home);
});

afterEach(async () => {
  await gateway.close();
  await home.dispose();
});

const read = (pid: number, file: string): string[] =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);

function findClaudes(): number[] {
  return processesOf(home.root).filter((pid) => read(pid, 'cmdline')[0] === '/reins/claude-code');
}

/** Where on the computer the places are that the process has mounted below /reins. */
function readPlaces(pid: number): Record<string, string> {
  return Object.fromEntries(
    readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter((fields) => fields[4]?.startsWith('/reins/'))
      .map((fields) => [fields[4] ?? '', `/${(fields[3] ?? '').split('/').slice(1).join('/')}`]),
  );
}

test.runIf(process.platform === 'linux')(
  'N40 N41 N13 each session has its own home, configuration, runtime directory and process group, and nothing of the user',
  async () => {
    const sessions = [
      await ScriptedSession.start(gateway.client, { working_directory: home.project }),
      await ScriptedSession.start(gateway.client, { working_directory: home.project }),
    ];
    const claudes = findClaudes();
    expect(claudes).toHaveLength(2);
    const places = new Set<string>();
    for (const pid of claudes) {
      const env = Object.fromEntries(read(pid, 'environ').map((entry) => entry.split(/=(.*)/s)));
      const mounted = readPlaces(pid);
      const own = join(
        home.state,
        'sessions',
        sessions.find(({ id }) => mounted['/reins/home']?.includes(id))?.id ?? '?',
      );
      expect(mounted[env['HOME'] ?? '']).toBe(join(own, 'home'));
      expect(mounted[env['CLAUDE_CONFIG_DIR'] ?? '']).toBe(join(own, 'claude'));
      expect(mounted[env['TMPDIR'] ?? '']).toBe(join(own, 'runtime'));
      expect(env['ANTHROPIC_BASE_URL']).toBe('http://127.0.0.1:1');
      expect(mounted[env['ANTHROPIC_UNIX_SOCKET'] ?? '']).toMatch(/\/run\/runner_\S+\.api$/);
      expect(JSON.stringify(env)).not.toMatch(
        /sk-users-own-key|canary|parent|NODE_OPTIONS|"CLAUDECODE"/,
      );
      for (const path of [own, join(own, 'home'), join(own, 'claude'), join(own, 'runtime')]) {
        expect(statSync(path).mode & 0o777).toBe(0o700);
        places.add(path);
      }
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const processGroup = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      expect(processGroup).toBe(pid);

      const args = read(pid, 'cmdline');
      for (const flag of ['--bare', '--strict-mcp-config', '--disable-slash-commands']) {
        expect(args).toContain(flag);
      }
      const raw = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      expect(raw).toContain('\0--setting-sources\0\0');
      expect(raw).toContain('\0--tools\0\0');
      expect(args[args.indexOf('--allowedTools') + 1]).toBe(
        'mcp__executor__Read,mcp__executor__FindFiles,mcp__executor__SearchText,mcp__executor__RunCommand',
      );
      expect(args.join(' ')).not.toContain(env['ANTHROPIC_API_KEY']);
    }
    expect(places.size).toBe(8);
    for (const session of sessions) await session.stop();
  },
);

test.runIf(process.platform === 'linux')(
  'B4 one Claude Code process serves one prompt after another',
  async () => {
    const session = await ScriptedSession.start(gateway.client, {
      working_directory: home.project,
    });
    const before = findClaudes();
    await session.reply({ text: 'first' });
    await session.continue('second');
    await session.reply({ text: 'second' });
    expect(findClaudes()).toEqual(before);
    await session.stop();
    expect(findClaudes()).toEqual([]);
  },
);

test('N46 no token, key or place of the gateway is in an argument list or in the ledger', async () => {
  const session = await ScriptedSession.start(gateway.client, { working_directory: home.project });
  const secrets = [readFileSync(join(home.state, 'secret.key'), 'utf8'), session.recoveryToken];
  const ledger = ['state.db', 'state.db-wal']
    .map((name) => readFileSync(join(home.state, name), 'latin1'))
    .join('');
  const log = readFileSync(join(home.state, 'sessions', session.id, 'runner.log'), 'utf8');
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(20);
    expect(ledger).not.toContain(secret);
    expect(log).not.toContain(secret);
    if (process.platform !== 'linux') continue;
    for (const pid of processesOf(home.root))
      expect(read(pid, 'cmdline').join(' ')).not.toContain(secret);
  }
  await session.stop();
});
