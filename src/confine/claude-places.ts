/** The places that a session's Claude Code uses: on the computer, or as it sees them from inside. */
export interface ClaudePlaces {
  readonly executable: string;
  readonly home: string;
  readonly configDirectory: string;
  readonly runtimeDirectory: string;
  /** Unix socket of the session's Messages API. */
  readonly modelSocket: string;
  /** Named pipe of what Claude Code asks of the executor. */
  readonly executorRequests: string;
  /** Named pipe of what the executor answers. */
  readonly executorAnswers: string;
}
