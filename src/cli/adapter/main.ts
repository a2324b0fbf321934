import { runDelegate } from '../commands/delegate.ts';

/** `reins delegate` by itself, without the rest of the command line: what the plugin package starts. */
await runDelegate(process.env, 'short');
