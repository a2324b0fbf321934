import { describe, expect, test } from 'vitest';
import { buildSeccompFilter } from '../../../src/confine/linux/seccomp-filter.ts';
import { type Architecture, SYSCALLS } from '../../../src/confine/linux/syscall-numbers.ts';

interface Call {
  readonly arch?: number;
  readonly number: number;
  readonly args?: readonly bigint[];
}

/** Runs a filter as the kernel does, for the instructions that filters here are made of. */
function judge(filter: Buffer, call: Call & { readonly arch: number }): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.arch >>> 0, 4);
  (call.args ?? []).forEach((value, index) => {
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const [yes, no] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const value = filter.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean): number => (condition ? yes : no);
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else if (code === 0x05) at += value;
    else if (code === 0x54) accumulator &= value;
    else if (code === 0x06) return verdict(value);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the filter has no end');
}

function verdict(value: number): string {
  if (value === 0x7fff_0000) return 'allow';
  if (value === 0x8000_0000) return 'kill';
  return value >>> 16 === 5 ? `errno ${value & 0xffff}` : `unknown ${value}`;
}

const DENIED = [
  ...['unshare', 'setns', 'mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount'],
  ...['open_tree_attr', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'ptrace'],
  ...['process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'kcmp', 'io_uring_setup', 'bpf'],
  ...['io_uring_enter', 'io_uring_register', 'perf_event_open', 'userfaultfd', 'add_key'],
  ...['request_key', 'keyctl', 'open_by_handle_at', 'name_to_handle_at', 'fanotify_init', 'acct'],
  ...['syslog', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff', 'reboot', 'kexec_load'],
  ...['kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'settimeofday'],
  ...['clock_settime', 'sethostname', 'setdomainname', 'vhangup'],
] as const;

/** What a call has to come to, independently of how the filter is written. Read, write, exit and the like by number. */
function expectations(
  architecture: Architecture,
  unixSockets: boolean,
): (Call & { readonly want: string; readonly what: string })[] {
  const { numbers } = SYSCALLS[architecture];
  const foreign = { x64: 0x4000_0003, arm64: 0x4000_0028 }[architecture];
  const ordinary = { x64: [0, 1, 2, 9, 57, 59, 60, 231, 257], arm64: [63, 64, 56, 222, 221, 93] };
  const call = (what: string, want: string, number: number, ...args: bigint[]) => ({
    what,
    want,
    number,
    args,
  });
  const NEW = [0x2_0000n, 0x200_0000n, 0x400_0000n, 0x800_0000n, 0x1000_0000n, 0x2000_0000n];
  return [
    ...DENIED.map((name) => call(name, 'errno 1', numbers[name])),
    ...ordinary[architecture].map((number) => call(`ordinary ${number}`, 'allow', number)),
    { ...call('a foreign architecture', 'kill', 1), arch: foreign },
    ...(architecture === 'x64' ? [call('x32', 'kill', 0x4000_0000 + 1)] : []),
    ...(architecture === 'x64' ? [call('x32 socket', 'kill', 0x4000_0000 + 41)] : []),
    call('clone3', 'errno 38', numbers.clone3),
    call('clone for a thread', 'allow', numbers.clone, 0x3d_0f00n),
    call('clone for a fork', 'allow', numbers.clone, 17n),
    ...[...NEW, 0x4000_0000n].map((flag) =>
      call(`clone with ${flag.toString(16)}`, 'errno 1', numbers.clone, flag | 17n),
    ),
    call('socket inet', 'allow', numbers.socket, 2n),
    call('socket inet6', 'allow', numbers.socket, 10n),
    call('socket unix', unixSockets ? 'allow' : 'errno 1', numbers.socket, 1n),
    call(
      'socket unix, high bits',
      unixSockets ? 'allow' : 'errno 1',
      numbers.socket,
      0xff_0000_0001n,
    ),
    ...[16n, 17n, 40n, 38n, 31n, 15n, 44n].map((family) =>
      call(`socket family ${family}`, 'errno 1', numbers.socket, family),
    ),
    call('socketpair stream', 'allow', numbers.socketpair, 1n, 1n),
    call('socketpair stream, flags', 'allow', numbers.socketpair, 1n, 0x8_0801n),
    call('socketpair seqpacket', 'allow', numbers.socketpair, 1n, 5n),
    call('socketpair datagram', 'errno 1', numbers.socketpair, 1n, 2n),
    call('socketpair raw', 'errno 1', numbers.socketpair, 1n, 0x8_0003n),
    call('socketpair inet', 'errno 1', numbers.socketpair, 2n, 1n),
    call('personality, asked', 'allow', numbers.personality, 0xffff_ffffn),
    call('personality, plain', 'allow', numbers.personality, 0n),
    call('personality, no randomisation', 'allow', numbers.personality, 0x4_0000n),
    call('personality, 32 bits', 'errno 1', numbers.personality, 8n),
    call('ioctl TCGETS', 'allow', numbers.ioctl, 0n, 0x5401n),
    ...[0x5412n, 0x541cn, 0x5423n].flatMap((request) => [
      call(`ioctl ${request.toString(16)}`, 'errno 1', numbers.ioctl, 0n, request),
      call(
        `ioctl ${request.toString(16)}, high bits`,
        'errno 1',
        numbers.ioctl,
        0n,
        request | (7n << 32n),
      ),
    ]),
  ];
}

function findWrong(filter: Buffer, architecture: Architecture, unixSockets: boolean): string[] {
  return expectations(architecture, unixSockets)
    .filter((each) => {
      const arch = each.arch ?? SYSCALLS[architecture].audit;
      try {
        return judge(filter, { ...each, arch }) !== each.want;
      } catch {
        return true;
      }
    })
    .map(({ what }) => what);
}

describe.each(['x64', 'arm64'] as const)(
  'N22 T18 T19 T20 T21 T22 T23 the filter for %s',
  (architecture) => {
    test.each([true, false])('judges every call as promised (unix sockets: %s)', (unixSockets) => {
      const filter = buildSeccompFilter(architecture, { unixSockets });
      expect(findWrong(filter, architecture, unixSockets)).toEqual([]);
    });

    test('has no instruction that could be left out, and no comparison that could be another', () => {
      const filter = buildSeccompFilter(architecture, { unixSockets: false });
      const idle: string[] = [];
      for (let at = 0; at * 8 < filter.length; at += 1) {
        const code = filter.readUInt16LE(at * 8);
        const changed = Buffer.from(filter);
        if (code === 0x15 || code === 0x35 || code === 0x45) {
          changed.writeUInt32LE(code === 0x35 ? 0xffff_ffff : 0x3fff_fff0, at * 8 + 4);
        } else if (code === 0x06) {
          const allows = filter.readUInt32LE(at * 8 + 4) === 0x7fff_0000;
          changed.writeUInt32LE(allows ? 0x8000_0000 : 0x7fff_0000, at * 8 + 4);
        } else if (code === 0x20) changed.writeUInt32LE(56, at * 8 + 4);
        else changed.writeUInt32LE(0, at * 8 + 4);
        if (findWrong(changed, architecture, false).length === 0) idle.push(`${at}: ${code}`);
      }
      expect(idle).toEqual([]);
    });

    test('fits the kernel: at most 4,096 instructions, every jump inside, a return at the end', () => {
      const filter = buildSeccompFilter(architecture, { unixSockets: false });
      const count = filter.length / 8;
      expect(count).toBeLessThan(4_096);
      for (let at = 0; at < count; at += 1) {
        const isJump = [0x15, 0x35, 0x45].includes(filter.readUInt16LE(at * 8));
        const furthest = Math.max(filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3));
        if (isJump) expect(at + 1 + furthest).toBeLessThan(count);
      }
      expect(filter.readUInt16LE((count - 1) * 8)).toBe(0x06);
    });
  },
);
