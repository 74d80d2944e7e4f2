import type { Status } from '../../model/status.js';

/** The status of a job: a word, in its colour. */
export function StatusWord({ status }: { readonly status: Status }) {
  return <span class={`status ${status}`}>{status}</span>;
}

/** What the state of an attempt is called, and the colour that goes with it. */
export const attemptWords: Readonly<
  Record<string, { readonly word: string; readonly tone: Status }>
> = {
  $$ready: { word: 'claimed', tone: 'running' },
  $$active: { word: 'running', tone: 'running' },
  $$waiting: { word: 'waiting', tone: 'waiting' },
  $$complete: { word: 'succeeded', tone: 'succeeded' },
  $$error: { word: 'failed', tone: 'failed' },
  $$timeout: { word: 'timed out', tone: 'failed' },
  $$cancelled: { word: 'cancelled', tone: 'cancelled' },
  $$skipped: { word: 'skipped', tone: 'cancelled' },
};

/** The state of an attempt. */
export function StepWord({ state }: { readonly state: string }) {
  const { word, tone } = attemptWords[state] ?? { word: state, tone: 'queued' };
  return <span class={`status ${tone}`}>{word}</span>;
}
