// What the measurements that run inside this process take from the sources; bundled by load-product.mjs.

export { openConfinement } from '../../src/confine/open-confinement.ts';
export { createPathProtection } from '../../src/confine/path-protection.ts';
export { findLastSeenContent } from '../../src/ledger/actions.ts';
export { openLedger } from '../../src/ledger/open-ledger.ts';
export { acceptReply } from '../../src/session/accept-reply.ts';
export { createSession } from '../../src/session/create-session.ts';
export { presentTurn } from '../../src/session/present-turn.ts';
export { startQueuedRun } from '../../src/session/start-queued-run.ts';
export { createCommandRuntime } from '../../src/tools/command/command-runtime.ts';
export { createExecutor } from '../../src/tools/executor.ts';
export { WALK_FLAGS } from '../../src/tools/ripgrep.ts';
export { toolsFor } from '../../src/tools/tool-set.ts';
