import * as z from 'zod';
import { sha256 } from '../base/sha256.ts';
import type { LedgerDatabase } from './database.ts';

/** Empty content has no row: the driver cannot read an empty blob, and there is nothing to keep. */
const EMPTY_SHA256 = sha256('');

/** Keeps `bytes` under their SHA-256, once however often they are stored. Returns the hash. */
export function storeBlob(database: LedgerDatabase, bytes: Uint8Array, at: string): string {
  const hash = sha256(bytes);
  if (hash === EMPTY_SHA256) return hash;
  database.run(
    'INSERT INTO blobs (sha256, bytes, created_at) VALUES (?,?,?) ON CONFLICT (sha256) DO NOTHING',
    hash,
    bytes,
    at,
  );
  return hash;
}

const blobRow = z.strictObject({
  bytes: z.union([
    z.instanceof(Uint8Array),
    z.instanceof(ArrayBuffer).transform((buffer) => new Uint8Array(buffer)),
  ]),
});

export function readBlob(database: LedgerDatabase, hash: string): Uint8Array | undefined {
  if (hash === EMPTY_SHA256) return new Uint8Array(0);
  return database.first(blobRow, 'SELECT bytes FROM blobs WHERE sha256=?', hash)?.bytes;
}
