import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED_DIRECTORY } from '../../confine/command-request.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import { readGitConfig } from '../../process/read-git-config.ts';

const MAX_BYTES = 64 * 1024;

/** Settings of npm that name no secret, run nothing, and change how a project builds. */
const NPM_KEYS =
  /^(registry|@[\w.-]+:registry|save-exact|save-prefix|engine-strict|legacy-peer-deps|strict-peer-deps|package-lock|prefer-offline|loglevel)$/;

/**
 * What commands get in place of the user's own configuration files, which can hold secrets, helpers and aliases: who
 * the user is for Git, and where npm gets packages from.
 */
export async function generateFiles(
  home: string,
): Promise<{ readonly path: string; readonly text: string }[]> {
  return [
    { path: join(GENERATED_DIRECTORY, 'gitconfig'), text: await generateGitConfig(home) },
    {
      path: join(GENERATED_DIRECTORY, 'npmrc'),
      text: generateNpmrc(readText(join(home, '.npmrc'))),
    },
  ];
}

async function generateGitConfig(home: string): Promise<string> {
  const user = {
    ...(await readIdentity(join(home, '.config/git/config'))),
    ...(await readIdentity(join(home, '.gitconfig'))),
  };
  const lines = [
    '[user]',
    ...Object.entries(user).map(([key, value]) => `\t${key} = ${quote(value)}`),
  ];
  return [
    ...(lines.length > 1 ? lines : []),
    '[commit]\n\tgpgsign = false',
    '[tag]\n\tgpgsign = false',
    '[core]\n\tfsmonitor = false',
    // Files of other users look like nobody's in the sandbox, which nobody could write to anyway.
    '[safe]\n\tdirectory = *',
    '',
  ].join('\n');
}

async function readIdentity(file: string): Promise<Record<string, string>> {
  const git = findSystemProgram('git');
  const answer = await readGitConfig(git, file, ['-z', '--get-regexp', '^user\\.(name|email)$']);
  return Object.fromEntries(
    answer
      .split('\0')
      .map((entry) => /^user\.(name|email)\n(.*)$/s.exec(entry))
      .flatMap((match) => (match?.[1] === undefined ? [] : [[match[1], match[2] ?? '']])),
  );
}

function quote(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

/** The settings of an .npmrc that may be passed on. Whatever could hold a secret is left out, in addresses as well. */
export function generateNpmrc(text: string): string {
  return text
    .split('\n')
    .map((line) => /^\s*([^=\s;#]+)\s*=\s*(.*?)\s*$/.exec(line))
    .flatMap((match) => {
      const [key, value] = [match?.[1] ?? '', match?.[2] ?? ''];
      return NPM_KEYS.test(key) ? [`${key}=${withoutCredentials(value)}\n`] : [];
    })
    .join('');
}

function withoutCredentials(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined) return value.includes('${') || value.includes('@') ? '' : value;
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, MAX_BYTES);
  } catch {
    return '';
  }
}
