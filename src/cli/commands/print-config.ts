import { realpathSync } from 'node:fs';
import { type ClientName, type Door, toClientConfig } from '../clients/client-config.ts';
import { toJsonText } from '../to-json-text.ts';

/** Prints what a client has to be configured with: the text alone on stdout, so that it can be put into a file. */
export function printConfig(client: ClientName, door: Door, json: boolean): void {
  const bin = realpathSync(process.argv[1] ?? '');
  const config = toClientConfig(client, door, process.execPath, bin);
  if (json) {
    process.stdout.write(toJsonText({ client, ...config }));
    return;
  }
  process.stderr.write(`For ${config.place}:\n`);
  process.stdout.write(`${config.text}\n`);
}
