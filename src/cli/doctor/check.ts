/** One thing that the doctor looked at. */
export interface Check {
  readonly id: string;
  readonly group: 'requirement' | 'commands' | 'claude' | 'delegate';
  readonly title: string;
  /** `missing` keeps a part of Reins from working; `failed` is a promise that does not hold here. */
  readonly status: 'ok' | 'missing' | 'failed';
  readonly detail: string;
  readonly remedy?: string;
}
