import { randomBytes, randomUUID } from 'node:crypto';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type SessionId = Branded<'SessionId'>;
export type RunId = Branded<'RunId'>;
export type TurnId = Branded<'TurnId'>;
export type ActionId = Branded<'ActionId'>;
export type LeaseId = Branded<'LeaseId'>;
export type RunnerId = Branded<'RunnerId'>;
export type SubsessionId = Branded<'SubsessionId'>;
/** The id of a `tool_use` block. Minted here, never by a model, so that one id can only ever name one action. */
export type ToolUseId = Branded<'ToolUseId'>;
/** Claude Code wants a UUID for its own session. */
export type ClaudeSessionId = Branded<'ClaudeSessionId'>;

/** 120 random bits: neither guessable nor likely to repeat within any state directory's life. */
function mint<Id extends string>(prefix: string): Id {
  return `${prefix}_${randomBytes(15).toString('base64url')}` as Id;
}

export const mintSessionId = (): SessionId => mint('ns');
export const mintRunId = (): RunId => mint('run');
export const mintTurnId = (): TurnId => mint('turn');
export const mintActionId = (): ActionId => mint('act');
export const mintLeaseId = (): LeaseId => mint('lease');
export const mintRunnerId = (): RunnerId => mint('runner');
export const mintSubsessionId = (): SubsessionId => mint('sub');
export const mintToolUseId = (): ToolUseId => mint('toolu_reins');
export const mintClaudeSessionId = (): ClaudeSessionId => randomUUID() as ClaudeSessionId;

const idPattern = (prefix: string): RegExp => new RegExp(`^${prefix}_[A-Za-z0-9_-]{20}$`);

function isMinted<Id extends string>(prefix: string): (value: unknown) => value is Id {
  const pattern = idPattern(prefix);
  return (value): value is Id => typeof value === 'string' && pattern.test(value);
}

/** Shape checks for ids that come back from outside. An id of the right shape can still be unknown. */
export const isSessionId = isMinted<SessionId>('ns');
export const isRunId = isMinted<RunId>('run');
export const isTurnId = isMinted<TurnId>('turn');
export const isActionId = isMinted<ActionId>('act');
export const isLeaseId = isMinted<LeaseId>('lease');
export const isRunnerId = isMinted<RunnerId>('runner');
export const isSubsessionId = isMinted<SubsessionId>('sub');
export const isToolUseId = isMinted<ToolUseId>('toolu_reins');
export const isClaudeSessionId = (value: unknown): value is ClaudeSessionId =>
  typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
