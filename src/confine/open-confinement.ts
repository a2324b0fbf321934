import { ReinsError } from '../base/reins-error.ts';
import type { Confinement } from './confinement.ts';
import { createDarwinConfinement } from './darwin/darwin-confinement.ts';
import { createLinuxConfinement } from './linux/linux-confinement.ts';

/** The confinement of this computer, after trying that it works. Throws `confinement_unavailable` with the remedy. */
export async function openConfinement(platform: NodeJS.Platform): Promise<Confinement> {
  if (platform === 'linux') return createLinuxConfinement();
  if (platform === 'darwin') return createDarwinConfinement();
  throw new ReinsError(
    'confinement_unavailable',
    `Nothing is run without confinement, and there is none for ${platform}; use Linux or macOS.`,
  );
}
