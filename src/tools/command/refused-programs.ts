/** Programs that are not started, by what they are for, with what to do instead. Compared with the name alone. */
export interface RefusedPrograms {
  readonly names: readonly string[];
  readonly reason: string;
  readonly instead: string;
}

/**
 * Not a boundary: the sandbox is. These are the calls whose effect somebody would expect and not get, so they are
 * answered with a sentence instead of a confusing failure.
 */
export const REFUSED_PROGRAMS: readonly RefusedPrograms[] = [
  {
    names: ['sudo', 'su', 'doas', 'pkexec', 'run0', 'runuser', 'sudoedit', 'gosu', 'setpriv'],
    reason: 'commands get no other rights than the user has',
    instead: 'run it without, or ask the person at the computer',
  },
  {
    names: ['rm', 'rmdir', 'unlink', 'shred', 'srm', 'wipe', 'trash', 'trash-put'],
    reason: 'no command deletes anything',
    instead: 'empty a file with Write, or ask the person at the computer to delete it',
  },
  {
    names: ['mv', 'rename', 'prename'],
    reason: 'no command moves anything',
    instead:
      'create the new file with Write and ask the person at the computer to delete the old one',
  },
  {
    names: [
      ...['shutdown', 'reboot', 'halt', 'poweroff', 'init', 'telinit', 'systemctl', 'service'],
      ...['launchctl', 'loginctl', 'crontab', 'at', 'batch', 'systemd-run', 'osascript', 'open'],
      ...['xdg-open', 'mount', 'umount', 'mkfs', 'fdisk', 'insmod', 'modprobe', 'sysctl'],
      ...['iptables', 'nft', 'useradd', 'usermod', 'passwd', 'chpasswd', 'visudo', 'defaults'],
    ],
    reason: 'commands do not control the system',
    instead: 'ask the person at the computer',
  },
  {
    names: [
      ...[
        'claude',
        'codex',
        'gemini',
        'opencode',
        'cursor-agent',
        'aider',
        'goose',
        'amp',
        'crush',
      ],
      ...[
        'copilot',
        'qwen',
        'llm',
        'ollama',
        'sgpt',
        'mods',
        'fabric',
        'continue',
        'cody',
        'droid',
      ],
    ],
    reason: 'the calling conversation is the only model of a session',
    instead: 'do the work in this session itself',
  },
];

/** Options of otherwise welcome programs that make them run or delete something that argv does not show as such. */
export const REFUSED_OPTIONS: readonly {
  readonly programs: readonly string[];
  /** Matches the option itself, or with a value behind `=`. */
  readonly options: readonly string[];
  readonly instead: string;
}[] = [
  {
    programs: ['find', 'gfind', 'bfs'],
    options: [
      '-delete',
      '-exec',
      '-execdir',
      '-ok',
      '-okdir',
      '-fprint',
      '-fprint0',
      '-fprintf',
      '-fls',
    ],
    instead: 'print the names with find and act on each in a call of its own',
  },
  {
    programs: ['rg', 'ripgrep'],
    options: ['--pre', '--hostname-bin'],
    instead: 'search the files as they are',
  },
  {
    programs: ['fd', 'fdfind'],
    options: ['-x', '--exec', '-X', '--exec-batch'],
    instead: 'print the names with fd and act on each in a call of its own',
  },
];

/** Programs that start the program named by their own arguments. */
export const WRAPPERS: readonly string[] = [
  ...['env', 'nice', 'ionice', 'nohup', 'timeout', 'gtimeout', 'stdbuf', 'setsid', 'time', 'chrt'],
  ...['xargs', 'busybox', 'toybox', 'unshare', 'nsenter', 'strace', 'ltrace', 'prlimit', 'taskset'],
  ...['command', 'exec', 'parallel', 'watch', 'script', 'flock', 'caffeinate'],
];
