import { realpathSync } from 'node:fs';
import { type ClientName, type Door, toClientConfig } from '../clients/client-config.ts';

/** Prints what a client has to be configured with: the text alone on stdout, so that it can be put into a file. */
export function printConfig(client: ClientName, door: Door): void {
  const bin = realpathSync(process.argv[1] ?? '');
  const { place, text } = toClientConfig(client, door, process.execPath, bin);
  process.stderr.write(`For ${place}:\n`);
  process.stdout.write(`${text}\n`);
}
