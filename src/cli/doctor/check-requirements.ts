import { rgPath } from '@vscode/ripgrep';
import { ReinsError } from '../../base/reins-error.ts';
import { assertClaude } from '../../claude/assert-version.ts';
import { SUPPORTED_CLAUDE_VERSIONS } from '../../claude/contract.ts';
import { findSystemProgram } from '../../confine/find-system-program.ts';
import { runCommand } from '../../process/run-command.ts';
import { toDeepseekSettings } from '../deepseek-environment.ts';
import type { Environment } from '../environment.ts';
import type { Check } from './check.ts';

const TIMEOUT_MS = 10_000;

/** What has to be installed. Each is asked for its version, so that what is there and broken counts as missing. */
export async function* checkRequirements(environment: Environment): AsyncGenerator<Check> {
  yield ok('node', 'Node', `${process.versions.node}, on ${process.platform} ${process.arch}`);
  yield ok('state', 'State directory', environment.stateDirectory);
  yield await checkClaude(environment);
  yield await checkProgram('ripgrep', 'ripgrep', rgPath, 'Type "npm ci" where Reins is installed.');
  if (process.platform === 'linux') {
    yield await checkProgram(
      'bubblewrap',
      'bubblewrap',
      findSystemProgram('bwrap'),
      'Type "sudo apt-get install -y bubblewrap", or your distribution\'s equivalent.',
    );
    yield await checkProgram(
      'util-linux',
      'unshare',
      findSystemProgram('unshare'),
      'Install util-linux; without it commands cannot write anything, not even for themselves.',
    );
  }
  if (process.platform === 'linux') {
    yield await checkProgram(
      'perl',
      'perl',
      findSystemProgram('perl'),
      'Install perl; only "reins delegate" uses it, so that no process of a run can get out of its sight.',
    );
  }
  yield await checkProgram(
    'git',
    'Git',
    findSystemProgram('git'),
    'Install Git; only capability_profile worktree_write needs it.',
  );
  yield checkDeepseek(environment);
}

/** Whether subagents could be started. The endpoint is not asked, since that would be somebody's money. */
function checkDeepseek({ deepseek }: Environment): Check {
  const title = 'DeepSeek key';
  try {
    const settings = toDeepseekSettings(deepseek);
    if (settings === null) {
      return ok(
        'deepseek',
        title,
        `none, so sessions have no subagents; it would be in REINS_DEEPSEEK_API_KEY or ${deepseek.keyFile} (mode 0600)`,
      );
    }
    const from = deepseek.key === null ? deepseek.keyFile : 'REINS_DEEPSEEK_API_KEY';
    return ok('deepseek', title, `from ${from}, for ${new URL(settings.base_url).host}, not tried`);
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    return {
      id: 'deepseek',
      group: 'requirement',
      title,
      status: 'missing',
      detail: deepseek.keyFile,
      remedy: error.message,
    };
  }
}

async function checkClaude(environment: Environment): Promise<Check> {
  try {
    const file = await assertClaude(environment.claude);
    return ok('claude', 'Claude Code', `${SUPPORTED_CLAUDE_VERSIONS.join(' or ')}, ${file}`);
  } catch (error) {
    if (!(error instanceof ReinsError)) throw error;
    return {
      id: 'claude',
      group: 'requirement',
      title: 'Claude Code',
      status: 'missing',
      detail: error.code,
      remedy: error.message,
    };
  }
}

async function checkProgram(
  id: string,
  title: string,
  file: string | undefined,
  remedy: string,
): Promise<Check> {
  const version = file === undefined ? undefined : await readVersion(file);
  return version === undefined
    ? { id, group: 'requirement', title, status: 'missing', detail: 'not found', remedy }
    : ok(id, title, `${version}, ${file}`);
}

async function readVersion(file: string): Promise<string | undefined> {
  const { exitCode, stdout } = await runCommand(
    { file, args: ['--version'], cwd: '/', env: { PATH: '/usr/bin:/bin' } },
    { timeoutMs: TIMEOUT_MS, maxBytes: 64 * 1024 },
  );
  return exitCode === 0 ? /\d+(\.\d+)+/.exec(stdout.toString('utf8'))?.[0] : undefined;
}

function ok(id: string, title: string, detail: string): Check {
  return { id, group: 'requirement', title, status: 'ok', detail };
}
