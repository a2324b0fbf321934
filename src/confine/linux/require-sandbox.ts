import { readFileSync } from 'node:fs';
import { runBounded } from '../../process/run-bounded.ts';
import { findSystemProgram } from '../find-system-program.ts';
import { unavailable } from '../unavailable.ts';
import { type Sandbox, toBubblewrapCommand } from './bubblewrap.ts';
import type { LinuxTools } from './linux-tools.ts';
import { systemMounts } from './system-mounts.ts';

/** Setting up a sandbox takes milliseconds; one that takes this long is not coming. */
const TRIAL_MS = 10_000;

/** Throws `confinement_unavailable`, saying which setting of this computer is in the way, when no sandbox starts. */
export async function requireSandbox(tools: LinuxTools): Promise<void> {
  const sandbox: Sandbox = {
    mounts: systemMounts(),
    seccomp: { unixSockets: false },
    cwd: '/',
    env: {},
    argv: [findSystemProgram('true') ?? 'true'],
    firstProcess: false,
  };
  const result = await runBounded(toBubblewrapCommand(tools, sandbox), { timeoutMs: TRIAL_MS });
  if (result.ended === 'exit' && result.exitCode === 0) return;
  const said = result.stderr.head.toString('utf8').trim().slice(0, 300);
  throw unavailable(`bubblewrap cannot make a sandbox here (${said || result.ended}); ${remedy()}`);
}

function remedy(): string {
  if (readSetting('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return 'AppArmor forbids user namespaces: type "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", or give /usr/bin/bwrap an AppArmor profile that allows userns';
  }
  if (readSetting('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return 'user namespaces are switched off: type "sudo sysctl -w kernel.unprivileged_userns_clone=1"';
  }
  if (readSetting('/proc/sys/user/max_user_namespaces') === '0') {
    return 'user namespaces are switched off: type "sudo sysctl -w user.max_user_namespaces=15000"';
  }
  return 'in a container, start it with user namespaces allowed (for Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined)';
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return undefined;
  }
}
