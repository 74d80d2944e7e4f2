import { readSteps, type StepReading } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { neverDue } from '../model/scalars.js';
import type { Picture, PictureFrame, PictureNode } from '../picture/picture.js';
import type { NodeState } from '../structures/node-state.js';
import { lengthOf, momentFrom } from '../words.js';
import { padded, widthOf } from './fit.js';
import type { Io, Style } from './io.js';
import { pictureOfBegun } from './job-picture.js';
import { plain } from './safe.js';

const signs: Readonly<Record<NodeState, string>> = {
  pending: '·',
  active: '▶',
  waiting: '◷',
  retrying: '↻',
  done: '✔',
  recovered: '✔',
  failed: '✘',
  skipped: '⤼',
  cancelled: '✘',
  undone: '↶',
  unreached: ' ',
};
const styles: Readonly<Record<NodeState, Style>> = {
  pending: 'dim',
  active: 'cyan',
  waiting: 'yellow',
  retrying: 'yellow',
  done: 'green',
  recovered: 'green',
  failed: 'red',
  skipped: 'dim',
  cancelled: 'yellow',
  undone: 'yellow',
  unreached: 'dim',
};

type Row = { readonly node: PictureNode; readonly depth: number };

/**
 * The steps of a job as one line each, in the order of the flow, with states, attempts and times.
 * What is repeated is there once and counts its runs. `first` is the line of what is under way.
 */
export function stepLines(
  job: StoredDocument,
  now: number,
  io: Pick<Io, 'style'>,
): { readonly lines: readonly string[]; readonly first: number } {
  const picture = pictureOfBegun(job);
  if (picture === undefined) return { lines: [], first: 0 };
  const rows = rowsOf(picture);
  const steps = new Map(readSteps(job).map((step) => [step.path, step]));
  const names = rows.map(({ node, depth }) => '  '.repeat(depth) + plain(node.label));
  const width = Math.min(40, Math.max(4, ...names.map(widthOf)));
  const lines = rows.map(({ node }, i) => {
    const { state = 'pending' } = node;
    const facts = factsOf(node, steps.get(node.path), now);
    const word = io.style(styles[state], `${signs[state]} ${padded(names[i] ?? '', width)}`);
    return `${word}  ${padded(state, 9)}  ${facts.join('  ')}`.trimEnd();
  });
  const under = rows.findIndex(({ node }) => ['active', 'waiting'].includes(node.state ?? ''));
  return { lines, first: Math.max(0, under) };
}

/** Handlers and undoing are shown when it came to that; points where ways meet never. */
function rowsOf({ nodes, frames }: Picture): readonly Row[] {
  const byId = new Map(frames.map((frame) => [frame.id, frame]));
  const depthOf = (frame: string | undefined): number => {
    const around: PictureFrame | undefined = frame === undefined ? undefined : byId.get(frame);
    return around === undefined ? 0 : 1 + depthOf(around.frame);
  };
  return nodes
    .filter(({ kind, state, path }) => {
      if (kind === 'begin' || kind === 'end' || kind === 'meet') return false;
      const isBeside = kind === 'handler' || kind === 'undo' || /^(cancel|error)(\.|$)/.test(path);
      return !isBeside || (state !== 'pending' && state !== 'unreached');
    })
    .map((node) => {
      const isHead = byId.get(node.frame ?? '')?.path === node.path;
      return { node, depth: depthOf(node.frame) - (isHead ? 1 : 0) };
    });
}

function factsOf(node: PictureNode, step: StepReading | undefined, now: number): readonly string[] {
  const { runs, attempts, failure, state } = node;
  if (runs !== undefined) {
    const bad = runs.failed === 0 ? '' : `, ${runs.failed} failed`;
    const open = runs.open === 0 ? '' : `, ${runs.open} under way`;
    return [`${runs.done} of ${runs.total} done${bad}${open}`];
  }
  const time = step === undefined ? '' : tookOf(step, now);
  const tries = attempts === undefined ? '' : `attempt ${attempts}`;
  const isBad = ['failed', 'retrying', 'recovered', 'cancelled'].includes(state ?? '');
  const why = isBad && failure !== undefined ? plain(failure) : '';
  const used = step?.cachedFrom === undefined ? '' : `cached, from job ${plain(step.cachedFrom)}`;
  return [time, tries, used, step === undefined ? '' : waitsFor(step, state, now), why].filter(
    Boolean,
  );
}

function tookOf({ start, accepted, end, state }: StepReading, now: number): string {
  const from = start ?? accepted;
  if (from === undefined || state === '$$waiting') return '';
  return lengthOf((end ?? now) - from);
}

function waitsFor(step: StepReading, state: NodeState | undefined, now: number): string {
  const { due, signal, event, child, until } = step;
  if (state === 'retrying') {
    return due === undefined ? '' : `again ${momentFrom(now, due)}`;
  }
  if (state !== 'waiting') return '';
  if (signal !== undefined) return `for signal ${plain(signal)}`;
  if (event !== undefined) return `for event ${plain(event)}`;
  if (child !== undefined) return `for job ${plain(child)}`;
  return until === undefined || until >= neverDue ? '' : `until ${momentFrom(now, until)}`;
}
