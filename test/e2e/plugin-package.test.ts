import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { unzipSync } from 'fflate';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { CLIENTS } from '../../src/cli/clients/client-config.ts';
import { installFake } from '../support/fake-claude.ts';
import { REINS_BIN } from '../support/gateway.ts';
import { runReins } from '../support/run-reins.ts';
import { createTestHome, type TestHome } from '../support/test-home.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const receiptSchema = z.object({ path: z.string(), sha256: z.string(), version: z.string() });

function makePackage(
  out: string,
  env: Record<string, string>,
): Promise<z.infer<typeof receiptSchema>> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(ROOT, 'scripts', 'package-plugin.mjs'), '--out', out],
      { env: { PATH: '/usr/bin:/bin', ...env }, cwd: '/' },
      (error, stdout) => (error ? reject(error) : resolve(receiptSchema.parse(JSON.parse(stdout)))),
    );
  });
}

let home: TestHome;
let files: Record<string, Uint8Array>;

beforeAll(async () => {
  home = createTestHome();
  const { path } = await makePackage(join(home.root, 'out'), {});
  files = unzipSync(readFileSync(path));
  for (const [name, bytes] of Object.entries(files)) {
    const file = join(home.root, 'unpacked', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    if (name.startsWith('bin/')) chmodSync(file, 0o755);
  }
});

afterAll(async () => {
  await home.dispose();
});

const text = (name: string): string => Buffer.from(files[name] ?? []).toString('utf8');

describe('D17 the plugin package', () => {
  test('has the same bytes for the same source, whatever the time zone, language and place', async () => {
    const [one, two] = [
      await makePackage(join(home.root, 'one'), { TZ: 'Asia/Tokyo', LANG: 'C' }),
      await makePackage(join(home.root, 'two', 'deeper'), {
        TZ: 'America/Lima',
        LC_ALL: 'C.UTF-8',
      }),
    ];
    expect(two.sha256).toBe(one.sha256);
    const digest = createHash('sha256').update(readFileSync(one.path)).digest('hex');
    expect(one.sha256).toBe(digest);
  });

  test('holds what its manifest names and nothing of the machine that made it', () => {
    const manifest = z
      .strictObject({
        id: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
        name: z.string().min(1),
        version: z.string(),
        description: z.string(),
        dependencies: z.array(
          z.strictObject({
            id: z.string(),
            commands: z.array(z.string()).min(1),
            instructions: z.string().min(1),
            documentation: z.url({ protocol: /^https$/ }),
          }),
        ),
        cli: z.array(
          z.strictObject({
            id: z.string(),
            executable: z.strictObject({ dependency: z.string() }),
            description: z.string(),
            tree: z.strictObject({ kind: z.literal('file'), path: z.string() }),
          }),
        ),
        mcp: z.array(
          z.strictObject({
            id: z.string(),
            transport: z.literal('stdio'),
            executable: z.strictObject({ path: z.string() }),
            capabilities: z.array(z.enum(['tools', 'resources'])),
          }),
        ),
        skills: z.array(
          z.strictObject({ id: z.string(), path: z.string(), description: z.string() }),
        ),
      })
      .parse(parseToml(text('computer-mcp-plugin.toml')));
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    expect(manifest.version).toBe(version);
    expect(Object.keys(files)).toEqual([...Object.keys(files)].sort());
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining([
        manifest.mcp[0]?.executable.path,
        manifest.cli[0]?.tree.path,
        `${manifest.skills[0]?.path}/SKILL.md`,
        'INSTALL.md',
        'LICENSE',
      ]),
    );
    expect(text('cli-tree.json')).toBe(
      readFileSync(join(ROOT, 'contract', 'cli-tree.json'), 'utf8'),
    );
    for (const name of Object.keys(files)) expect(text(name), name).not.toContain(ROOT);
  });

  test('its skill names every tool, and no tool that there is not', () => {
    const named = new Set(text('skills/claude-delegate/SKILL.md').match(/claude\.run(\.[a-z]+)?/g));
    expect([...named].sort()).toEqual([
      'claude.run',
      'claude.run.cancel',
      'claude.run.events',
      'claude.run.list',
      'claude.run.release',
      'claude.run.result',
      'claude.run.start',
    ]);
  });

  test('works where it is unpacked, without this project', async () => {
    const transport = new StdioClientTransport({
      command: join(home.root, 'unpacked', 'bin', 'reins-delegate'),
      env: {
        ...home.env,
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        CLAUDE_BIN: installFake(home, 'well-behaved'),
      },
      cwd: home.project,
      stderr: 'ignore',
    });
    const client = new Client({ name: 'reins-test', version: '1' });
    await client.connect(transport);
    const answer = await client.callTool({ name: 'claude.run', arguments: { prompt: 'x' } });
    expect(answer.structuredContent).toMatchObject({
      result: { state: 'completed', cleanup_confirmed: true },
    });
    await client.close();
  });
});

describe('D17 client configuration', () => {
  const server = z.object({
    command: z.literal(process.execPath),
    args: z.tuple([z.string(), z.string()]),
  });

  test.each(CLIENTS)('for %s starts the built program', async (client) => {
    for (const door of ['stdio', 'delegate']) {
      const { exitCode, stdout, stderr } = await runReins(home, door, '--config', client);
      expect(exitCode).toBe(0);
      expect(stderr).toMatch(/^For .*:\n$/);
      const parsed: unknown = client === 'codex' ? parseToml(stdout) : JSON.parse(stdout);
      const name = door === 'delegate' ? 'reins-delegate' : 'reins';
      const key = { codex: 'mcp_servers', vscode: 'servers' }[String(client)] ?? 'mcpServers';
      const servers = z.looseObject({ [key]: z.looseObject({ [name]: server }) }).parse(parsed);
      const { args } = server.parse(Reflect.get(Object(servers[key]), name));
      expect(args).toEqual([REINS_BIN, door]);
    }
  });

  test('for a client that there is not is refused with those that there are', async () => {
    const { exitCode, stderr } = await runReins(home, 'delegate', '--config', 'notepad');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('codex, claude-desktop, cursor, vscode, gemini');
  });
});

test('D17 the registry entry is for this package, this version and this command', () => {
  const entry = z
    .looseObject({
      $schema: z.literal(
        'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
      ),
      name: z.string().regex(/^[a-z0-9.-]+\/[a-z0-9-]+$/),
      description: z.string().min(1).max(100),
      version: z.string(),
      packages: z.array(
        z.looseObject({
          registryType: z.literal('npm'),
          identifier: z.string(),
          version: z.string(),
          transport: z.strictObject({ type: z.literal('stdio') }),
          packageArguments: z.tuple([
            z.looseObject({ type: z.literal('positional'), value: z.string() }),
          ]),
        }),
      ),
    })
    .parse(JSON.parse(readFileSync(join(ROOT, 'server.json'), 'utf8')));
  const own = z
    .object({ name: z.string(), version: z.string(), mcpName: z.string() })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  expect(entry.name).toBe(own.mcpName);
  expect(entry.version).toBe(own.version);
  for (const each of entry.packages) {
    expect([each.identifier, each.version]).toEqual([own.name, own.version]);
  }
  expect(entry.packages.map(({ packageArguments: [argument] }) => argument.value)).toEqual([
    'stdio',
    'delegate',
  ]);
});
