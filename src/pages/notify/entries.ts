import type { AnyDocument } from '../answers.js';

/** Whom one entry of a list tells of what, in words. */
export type EntryWords = { readonly on: string; readonly to: string };

/** The entries of a notify list as far as they can be read; of a webhook the server alone: the rest is often a secret. */
export function toldBy({ notify }: AnyDocument): readonly EntryWords[] {
  if (!Array.isArray(notify)) return [];
  return notify.map((written: unknown) => {
    const entry = (typeof written === 'object' && written !== null ? written : {}) as AnyDocument;
    const { on = ['ended'], url, task, flow } = entry;
    return { on: Array.isArray(on) ? on.join(', ') : '?', to: receiver(url, task, flow) };
  });
}

function receiver(url: unknown, task: unknown, flow: unknown): string {
  if (typeof task === 'string') return `task ${task}`;
  if (typeof flow === 'string') return `flow ${flow}`;
  if (url === undefined) return '?';
  return `url ${typeof url === 'string' && URL.canParse(url) ? new URL(url).host : '[secret]'}`;
}
