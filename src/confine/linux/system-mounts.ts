import { lstatSync, readlinkSync } from 'node:fs';
import { type Mount, readOnly } from './bubblewrap.ts';

/** What of the root directory holds programs and libraries. */
const SYSTEM_PARTS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** What any program needs to start, each part as it is here, with the kernel's files and devices. Nothing of a user's. */
export function systemMounts(): Mount[] {
  const roots = SYSTEM_PARTS.flatMap((name): Mount[] => {
    const target = `/${name}`;
    const stat = lstatSync(target, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isSymbolicLink()
      ? [{ kind: 'link', source: readlinkSync(target), target }]
      : [readOnly(target)];
  });
  const whole = ['/usr', '/nix/store', '/etc/localtime', '/etc/ld.so.cache'].filter(
    (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
  return [
    ...whole.map(readOnly),
    ...roots,
    { kind: 'proc', target: '/proc' },
    { kind: 'devices', target: '/dev' },
  ];
}
