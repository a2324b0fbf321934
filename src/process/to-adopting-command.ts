import { runCommand } from './run-command.ts';
import type { Command } from './spawn-owned.ts';
import { CHANNEL_FD } from './spawn-reporting.ts';

/** `prctl` by its number, since no program that every system has sets this by name. */
const PRCTL_NUMBER: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };
const PR_SET_CHILD_SUBREAPER = 36;
/** For what is left to be killed and reaped, in seconds. */
const REAP_SECONDS = 5;
const TRIAL_TIMEOUT_MS = 5_000;

/** What the adopter writes to the channel when the kernel has told it that it has no child left. */
export const REAPED_REPORT = '{"kind":"reaped"}';

/**
 * Starts a program and stays its parent. What the program's descendants leave behind when they end becomes a child of
 * this one instead of the system's, so that nothing of them can get out of its sight, and is reaped as it ends. When
 * the program is over, whatever is left is killed, until the kernel says that there is no child any more.
 */
const script = (prctl: number): string => `
  syscall(${prctl}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);
  my $program = fork();
  exit 127 if !defined $program;
  if ($program == 0) { exec { $ARGV[0] } @ARGV; exit 127; }
  $SIG{$_} = 'IGNORE' for qw(TERM INT HUP PIPE);
  open(my $channel, '>&=', ${CHANNEL_FD});
  for my $fd (0, 1, 2) { open(my $null, '+<', '/dev/null'); require POSIX; POSIX::dup2(fileno($null), $fd); }
  while ((my $pid = waitpid(-1, 0)) > 0) { last if $pid == $program; }
  my $end = time + ${REAP_SECONDS};
  while (time < $end) {
    my $pid = waitpid(-1, 1);
    next if $pid > 0;
    if ($pid < 0) { syswrite($channel, '${REAPED_REPORT}' . "\\n"); last; }
    for my $stat (glob '/proc/[0-9]*/stat') {
      open(my $file, '<', $stat) or next;
      my $line = <$file> // next;
      kill 'KILL', $1 if $line =~ /^(\\d+) \\(.*\\) \\S (\\d+)/s && $2 == $$;
    }
    select(undef, undef, undef, 0.002);
  }
`;

/**
 * The same command below a program that adopts and reaps, or null where there is none that can: Linux alone, by a perl
 * of the system that has been seen to run.
 */
export async function toAdoptingCommand(
  command: Command,
  perl: string | undefined,
): Promise<Command | null> {
  const prctl = PRCTL_NUMBER[process.arch];
  if (process.platform !== 'linux' || perl === undefined || prctl === undefined) return null;
  const trial = await runCommand(
    { file: perl, args: ['-MPOSIX', '-e', 'print "perl"'], cwd: '/', env: command.env },
    { timeoutMs: TRIAL_TIMEOUT_MS, maxBytes: 64 },
  );
  if (trial.stdout.toString('latin1') !== 'perl') return null;
  return { ...command, file: perl, args: ['-e', script(prctl), command.file, ...command.args] };
}
