import { type Architecture, SYSCALLS } from './syscall-numbers.ts';

export interface SeccompOptions {
  /** Claude Code reaches its session by a unix socket; commands get none. */
  readonly unixSockets: boolean;
}

// From <linux/bpf_common.h>, <linux/seccomp.h>, <linux/audit.h> and <asm-generic/errno.h>.
const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const JUMP = 0x05;
const AND = 0x54;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const ERRNO = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets within `struct seccomp_data`. Arguments are 64 bits wide, little-endian on both architectures. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** Numbers from here on are the x32 calls of an x86-64 kernel. */
const X32_BIT = 0x4000_0000;

const AF_UNIX = 1;
/** The kind of a socket without its flags. */
const SOCKET_KIND = 0xf;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const AF_INET = 2;
const AF_INET6 = 10;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACE = 0x7e02_0000;

/** Put bytes into a terminal's input, or change its line discipline. The kernel looks at the low 32 bits alone. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCSETD = 0x5423;

/** What `personality` may be asked for: what it is (all bits), the plain one, and no address randomisation. */
const PERSONALITIES = [0xffff_ffff, 0, 0x0004_0000];

/** Calls that nothing in a session needs, by what they would open up. */
const DENIED = [
  // Namespaces and mounts.
  'unshare',
  'setns',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  // Other processes.
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'pidfd_getfd',
  'kcmp',
  // A way around this filter: requests of io_uring are not system calls.
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  // Kernel interfaces with a history.
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'add_key',
  'request_key',
  'keyctl',
  'open_by_handle_at',
  'name_to_handle_at',
  'fanotify_init',
  'syslog',
  'quotactl',
  'quotactl_fd',
  'acct',
  'swapon',
  'swapoff',
  'reboot',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'settimeofday',
  'clock_settime',
  'sethostname',
  'setdomainname',
  'vhangup',
] as const;

/** One instruction; `yes` and `no` say how many of the next ones are left out. */
interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly yes?: number;
  readonly no?: number;
}

const load = (offset: number): Instruction => ({ code: LOAD_WORD, value: offset });
const give = (value: number): Instruction => ({ code: RETURN, value });
const refuse = give(ERRNO | EPERM);

/**
 * The program for `bwrap --seccomp`: an array of 8-byte instructions. Everything is allowed but what is named here,
 * and system calls of another architecture end the process, since their numbers mean other calls.
 */
export function buildSeccompFilter(architecture: Architecture, options: SeccompOptions): Buffer {
  const { audit, numbers } = SYSCALLS[architecture];
  const denied = DENIED.map((name) => numbers[name]);
  const instructions: Instruction[] = [
    load(ARCHITECTURE),
    { code: JUMP_EQUAL, value: audit, yes: 1 },
    give(KILL_PROCESS),
    load(NUMBER),
    ...(architecture === 'x64'
      ? [{ code: JUMP_GREATER_EQUAL, value: X32_BIT, no: 1 }, give(KILL_PROCESS)]
      : []),
    ...denied.map(
      (value, index): Instruction => ({
        code: JUMP_EQUAL,
        value,
        yes: denied.length - index + 2,
      }),
    ),
    // Reached by falling through: the number is none of those above.
    { code: JUMP_EQUAL, value: numbers.clone3, yes: 1 },
    { code: JUMP, value: 2 },
    give(ERRNO | ENOSYS),
    refuse,
    ...whenCalled(numbers.clone, 0, [
      { code: JUMP_ANY_BIT, value: NEW_NAMESPACE, no: 1 },
      refuse,
      give(ALLOW),
    ]),
    ...whenCalled(
      numbers.socket,
      0,
      allowOnly([AF_INET, AF_INET6, ...(options.unixSockets ? [AF_UNIX] : [])]),
    ),
    // A datagram socket of a pair can be connected to any other by name; these two kinds cannot.
    ...whenCalled(numbers.socketpair, 0, [
      { code: JUMP_EQUAL, value: AF_UNIX, yes: 1 },
      refuse,
      load(argument(1)),
      { code: AND, value: SOCKET_KIND },
      ...allowOnly([SOCK_STREAM, SOCK_SEQPACKET]),
    ]),
    ...whenCalled(numbers.personality, 0, allowOnly(PERSONALITIES)),
    ...whenCalled(numbers.ioctl, 1, allowAllBut([TIOCSTI, TIOCLINUX, TIOCSETD])),
    give(ALLOW),
  ];
  return encode(instructions);
}

/** Runs `body`, which has to end in a return, on the low half of an argument when the call has this number. */
function whenCalled(number: number, index: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_EQUAL, value: number, no: body.length + 1 }, load(argument(index)), ...body];
}

function allowOnly(values: readonly number[]): Instruction[] {
  return decide(values, give(ALLOW), refuse);
}

function allowAllBut(values: readonly number[]): Instruction[] {
  return decide(values, refuse, give(ALLOW));
}

/** What to give for a value that is listed, and for any other. */
function decide(values: readonly number[], listed: Instruction, other: Instruction): Instruction[] {
  return [
    ...values.map(
      (value, index): Instruction => ({
        code: JUMP_EQUAL,
        value,
        yes: values.length - index,
      }),
    ),
    other,
    listed,
  ];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  instructions.forEach(({ code, value, yes = 0, no = 0 }, index) => {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(yes, 8 * index + 2);
    bytes.writeUInt8(no, 8 * index + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4);
  });
  return bytes;
}
