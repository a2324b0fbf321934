import { constants } from 'node:os';

/** The signal behind an exit code above 128, as shells and sandboxes report a program that was ended by one. */
export function toExitSignal(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
}
