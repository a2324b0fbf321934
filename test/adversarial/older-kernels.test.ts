import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boundsProcesses } from '../../src/confine/linux/keeper.ts';
import type { LinuxFeatures } from '../../src/confine/linux/linux-confinement.ts';
import { PROTECTED_PATHS } from '../../src/confine/protected-path-table.ts';
import { killAll } from '../support/test-home.ts';
import { findProcesses } from './support/find-processes.ts';
import { buildProbe, CANARY, createLab, type Lab, readProbe } from './support/lab.ts';

const KERNELS: readonly [string, LinuxFeatures][] = [
  ['without overlays', { overlays: false, boundsProcesses: false }],
  ['without a limit on processes', { overlays: true, boundsProcesses: false }],
];

describe.each(KERNELS)('B9 N22 on a kernel %s', (_name, features) => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await createLab({ features });
  });
  afterEach(() => lab.dispose());

  function put(path: string, text = CANARY): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  test('T12 nothing that is written stays, and the answer says which way it went', async () => {
    const script = `echo x >new; echo x >>a.txt; echo x >"$HOME/new"; echo x >"${lab.outside}/new"; echo x >/tmp/new && cat /tmp/new`;
    const { text } = await lab.run(['sh', '-c', script]);
    expect(text).toContain('Exit code 0');
    expect(text).toContain(
      features.overlays ? 'What it wrote was thrown away' : 'It could write to /tmp alone',
    );
    expect(readFileSync(join(lab.project, 'a.txt'), 'utf8')).toBe('ordinary\n');
    for (const path of [
      join(lab.project, 'new'),
      join(lab.home, 'new'),
      join(lab.outside, 'new'),
    ]) {
      expect(existsSync(path)).toBe(false);
    }
  });

  test('N12 T14 every protected place is hidden, links at both ends, and the rest of the project is there', async () => {
    const places = PROTECTED_PATHS.filter(
      ({ pattern, platform }) => pattern.startsWith('~/') && platform !== 'darwin',
    );
    const paths = places.map(({ pattern }) => put(join(lab.home, pattern.slice(2), 'inside')));
    const named = ['.env', 'deep/er/.env', 'deep/key.pem'].map((name) =>
      put(join(lab.project, name)),
    );
    const target = put(join(lab.home, 'dotfiles/x/key'));
    rmSync(join(lab.home, '.gnupg'), { recursive: true });
    symlinkSync(dirname(target), join(lab.home, '.gnupg'));
    put(join(lab.project, 'deep/er/ordinary.txt'), 'here');
    const all = [...paths, ...named, target, put(join(lab.state, 'secret.key'))];
    expect(await lab.bare(['cat', ...all])).toContain(CANARY);
    const script = `cat "$@"; grep -r ${CANARY} "$HOME" "${lab.root}"; cat deep/er/ordinary.txt a.txt`;
    const { text } = await lab.run(['sh', '-c', script, 'x', ...all]);
    expect(text.replaceAll(`grep -r ${CANARY}`, '')).not.toContain(CANARY);
    expect(text).toMatch(/here\n?ordinary/);
  });

  test('T13 renaming on the host uncovers nothing', async () => {
    const paths = ['project/.env', '.netrc', '.config/gh/hosts.yml'].map((name) =>
      put(join(lab.home, name), 'old'),
    );
    const running = lab.run(['sh', '-c', 'sleep 0.6; cat "$@"', 'x', ...paths]);
    await new Promise((resolve) => setTimeout(resolve, 250));
    for (const path of paths) renameSync(put(`${path}.new`), path);
    expect((await running).text).not.toContain(CANARY);
  });

  test('T18 T30 the kernel is as closed, and nothing survives', async () => {
    const { text } = await lab.run([
      buildProbe(),
      'userns',
      'io_uring',
      'netlink',
      `kill:${process.pid}`,
      'unix:/x',
    ]);
    expect(readProbe(text)).toEqual({
      userns: 'EPERM',
      io_uring: 'EPERM',
      netlink: 'EPERM',
      kill: 'ESRCH',
      unix: 'EPERM',
    });
    const mark = `37.${process.pid}${Math.floor(Math.random() * 1e6)}`;
    const result = await lab.run(
      ['sh', '-c', `setsid sleep ${mark} & nohup sleep ${mark} & sleep ${mark}`],
      { timeout_seconds: 1 },
    );
    expect(result.failure).toBe('command_timed_out');
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  test('T30 too many processes end the command', async () => {
    const script =
      'i=0; while [ $i -lt 3000 ]; do sleep 38 & i=$((i+1)); done 2>/dev/null; sleep 5; echo all of them';
    const result = await lab.run(['bash', '-c', script], { timeout_seconds: 30 });
    expect(result.text).not.toMatch(/^all of them$/m);
    expect(findProcesses('38')).toEqual([]);
  });

  test('nothing is left in the stage', async () => {
    await lab.run(['true']);
    const stage = join(lab.state, 'commands');
    expect(readdirSync(stage).filter((name) => name !== 'whiteout')).toEqual([]);
  });
});

const KEPT: readonly LinuxFeatures[] = [
  { overlays: true, boundsProcesses: boundsProcesses() },
  ...KERNELS.map(([, features]) => features),
];

test.each(KEPT)(
  'N22 T30 a command ends with the process that started it, at any moment: %j',
  async (features) => {
    const lab = await createLab();
    const source = (name: string): string =>
      JSON.stringify(join(import.meta.dirname, '../../src', name));
    const script = join(lab.root, 'start.mjs');
    await build({
      stdin: {
        contents: `
        import { createLinuxConfinement } from ${source('confine/linux/linux-confinement.ts')};
        import { runBounded } from ${source('process/run-bounded.ts')};
        const [mark, delay] = process.argv.slice(2);
        const confinement = await createLinuxConfinement(${JSON.stringify(features)});
        const run = await confinement.confineCommand({
          argv: ['sh', '-c', 'trap "" TERM HUP INT; setsid sleep ' + mark + ' & sleep ' + mark],
          cwd: '/', env: {}, home: ${JSON.stringify(lab.home)}, sessionDirectory: ${JSON.stringify(lab.project)},
          furtherDirectories: [], hidden: [], hiddenNames: [], files: [],
          stage: ${JSON.stringify(join(lab.state, 'commands'))} + '/' + mark,
        });
        void runBounded(run.command, { timeoutMs: 60000 });
        setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(delay));`,
        resolveDir: import.meta.dirname,
        loader: 'ts',
      },
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['zod'],
      logLevel: 'error',
    });
    // From the very start of the set-up to well after it.
    for (const delayMs of [1, 4, 8, 12, 16, 20, 25, 30, 40, 60, 150, 400]) {
      const mark = `39.${process.pid}${Math.floor(Math.random() * 1e6)}`;
      const child = spawn(process.execPath, [script, mark, String(delayMs)], {
        env: { PATH: '/usr/bin:/bin' },
        stdio: 'ignore',
      });
      await new Promise((resolve) => child.once('exit', resolve));
      try {
        await expect
          .poll(() => naming(mark), { timeout: 1_500, message: `${delayMs} ms` })
          .toEqual([]);
      } finally {
        killAll(naming(mark));
      }
    }
    lab.dispose();
  },
);

/** Processes with the text in any of their arguments: keepers too. */
function naming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}
