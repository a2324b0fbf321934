import { createEventWindow, type EventWindow } from './event-window.ts';
import { createFrameReader, type Frame } from './frame-reader.ts';
import { NO_RESULT, type ResultEvidence, weighFrame } from './result-evidence.ts';

export interface LastEvent {
  readonly type: string;
  readonly at: Date;
}

/** What Claude Code prints in one run, and what is known from it at any moment. */
export interface RunStream {
  readonly events: EventWindow;
  write(chunk: Buffer): void;
  end(): void;
  evidence(): ResultEvidence;
  /** The native session id that the latest event named. */
  sessionId(): string | null;
  lastEvent(): LastEvent | null;
  /** Lines that were no JSON objects. */
  skippedLines(): number;
}

export function createRunStream(now: () => Date): RunStream {
  const events = createEventWindow();
  let evidence = NO_RESULT;
  let sessionId: string | null = null;
  let lastEvent: LastEvent | null = null;
  let skippedLines = 0;

  const takeFrame = (frame: Frame): void => {
    evidence = weighFrame(evidence, frame);
    switch (frame.kind) {
      case 'event': {
        events.append(frame.text);
        const { type, session_id: session } = frame.event;
        lastEvent = { type: typeof type === 'string' ? type : 'unknown', at: now() };
        if (typeof session === 'string' && session !== '') sessionId = session;
        return;
      }
      case 'unfit':
        events.omit();
        lastEvent = { type: frame.type ?? 'a line that is too long or unusable', at: now() };
        return;
      case 'noise':
      case 'truncated':
        skippedLines += 1;
    }
  };

  const frames = createFrameReader(takeFrame);
  return {
    events,
    write: frames.write,
    end: frames.end,
    evidence: () => evidence,
    sessionId: () => sessionId,
    lastEvent: () => lastEvent,
    skippedLines: () => skippedLines,
  };
}
