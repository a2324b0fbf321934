import { createConnection, type Socket } from 'node:net';
import { ReinsError, type RequestErrorCode } from '../base/reins-error.ts';
import { readFrames, writeFrame } from './frames.ts';
import {
  type helloSchema,
  responseSchema,
  type Welcome,
  WIRE_VERSION,
  type WireRequest,
  welcomeSchema,
} from './protocol.ts';

/** How long a runner may take to accept a connection and answer the greeting, in milliseconds. */
const HANDSHAKE_TIMEOUT_MS = 3_000;
/** How much later than it was asked to a runner may end a wait, in milliseconds. N9 leaves no more. */
const LATE_MS = 1_000;
/** How long any other answer may take, in milliseconds. */
const ANSWER_TIMEOUT_MS = 15_000;

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never;
export type RunnerCall = WithoutId<WireRequest>;

/** A gateway's connection to one runner whose identity has been proved. */
export interface RunnerConnection {
  /** Throws the coded error that the runner answered, or `runner_unreachable` when it went away. */
  call(request: RunnerCall): Promise<{ readonly replay: boolean }>;
  readonly welcome: Welcome;
  readonly open: boolean;
  close(): void;
}

export interface RunnerAddress {
  readonly socketPath: string;
  readonly hello: Omit<typeof helloSchema._zod.output, 'wire_version'>;
}

/** Connects and greets. Undefined when nothing answers at that address or what answers is of another version. */
export async function connectRunner(address: RunnerAddress): Promise<RunnerConnection | undefined> {
  const socket = await openSocket(address.socketPath);
  if (socket === undefined) return undefined;
  return new Promise((resolve) => {
    const giveUp = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, HANDSHAKE_TIMEOUT_MS);
    socket.once('close', giveUp);
    let connection: EstablishedConnection | undefined;
    readFrames(socket, (value) => {
      if (connection !== undefined) {
        connection.receive(value);
        return;
      }
      const welcome = welcomeSchema.safeParse(value);
      if (!welcome.success) {
        giveUp();
        return;
      }
      clearTimeout(timer);
      socket.off('close', giveUp);
      connection = new EstablishedConnection(socket, welcome.data);
      resolve(connection);
    });
    writeFrame(socket, { wire_version: WIRE_VERSION, ...address.hello });
  });
}

function openSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(undefined));
  });
}

interface Waiting {
  readonly resolve: (outcome: { readonly replay: boolean }) => void;
  readonly reject: (error: ReinsError) => void;
  readonly timer: NodeJS.Timeout;
}

class EstablishedConnection implements RunnerConnection {
  readonly welcome: Welcome;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;

  constructor(socket: Socket, welcome: Welcome) {
    this.#socket = socket;
    this.welcome = welcome;
    socket.unref();
    socket.once('close', () => {
      for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(unreachableRunner());
    });
  }

  get open(): boolean {
    return !this.#socket.destroyed;
  }

  call(request: RunnerCall): Promise<{ readonly replay: boolean }> {
    if (!this.open) return Promise.reject(unreachableRunner());
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.#settle(id)?.reject(unreachableRunner()),
        request.method === 'wait' ? request.timeout_ms + LATE_MS : ANSWER_TIMEOUT_MS,
      );
      this.#waiting.set(id, { resolve, reject, timer });
      writeFrame(this.#socket, { id, ...request });
    });
  }

  receive(value: unknown): void {
    const response = responseSchema.safeParse(value);
    if (!response.success) {
      this.#socket.destroy();
      return;
    }
    const waiting = this.#settle(response.data.id);
    if ('ok' in response.data) {
      waiting?.resolve(response.data.ok);
    } else {
      const { code, message } = response.data.error;
      waiting?.reject(new ReinsError(toRequestCode(code), message));
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

const FORWARDED_CODES: ReadonlySet<string> = new Set<RequestErrorCode>([
  'invalid_parameter',
  'reply_too_large',
  'reply_empty',
  'reply_not_allowed',
  'tool_call_invalid',
  'tool_not_available',
  'session_unknown',
  'session_busy',
  'session_not_running',
  'lease_stale',
  'lease_expired',
  'turn_unknown',
  'turn_finished',
  'idempotency_conflict',
  'recovery_required',
  'state_corrupt',
  'storage_failed',
]);

function isForwarded(code: string): code is RequestErrorCode {
  return FORWARDED_CODES.has(code);
}

function toRequestCode(code: string): RequestErrorCode {
  return isForwarded(code) ? code : 'internal';
}

function unreachableRunner(): ReinsError {
  return new ReinsError(
    'runner_unreachable',
    'The process that runs this session did not answer; repeat the call with the same key, which does nothing twice, or call native_session_recover.',
  );
}
