import type { PictureNode } from './picture.js';
import type { Runs } from '../structures/node-state.js';

/** The lines of a node and the room they take, in pixels. */
export type NodeText = {
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
};

/** Sizes of letters of 13 and 11 pixels in fonts that differ little: a bit more than most need. */
const letterWidth = 7.4;
const smallLetterWidth = 6.2;
export const lineHeight = 18;
const longestLine = 34;

/** The text of a node: its name, and below it what it does and how often it ran. */
export function nodeText(node: PictureNode): NodeText {
  if (node.kind === 'meet') return { lines: [], width: 10, height: 10 };
  if (node.kind === 'begin' || node.kind === 'end') return { lines: [], width: 26, height: 26 };
  const label = wrapped(node.label, longestLine);
  const notes = [node.detail, progressOf(node)].filter((one) => one !== undefined);
  const small = notes.flatMap((note) => wrapped(note, longestLine + 8));
  const lines = [...label, ...small];
  const widest = Math.max(
    ...label.map((line) => line.length * letterWidth),
    ...small.map((line) => line.length * smallLetterWidth),
  );
  const extra = node.kind === 'choice' ? 44 : 28;
  return {
    lines,
    width: Math.max(84, Math.ceil(widest) + extra),
    height: lines.length * lineHeight + 18,
  };
}

/** The label of an edge, as far as there is room for it. */
export function shortLabel(label: string): string {
  return label.length > 36 ? `${label.slice(0, 35)}…` : label;
}

/** The width of the label of an edge, with some room around it. */
export function labelWidth(label: string): number {
  return Math.ceil(shortLabel(label).length * smallLetterWidth) + 10;
}

/** How many of the lines of a node are its name. */
export function labelLines({ label }: Pick<PictureNode, 'label'>): number {
  return wrapped(label, longestLine).length;
}

/** How far it is: runs, attempts, and a state that its place does not tell. */
function progressOf({ runs, attempts, state }: PictureNode): string | undefined {
  if (runs !== undefined) return runsText(runs);
  const usual = state === undefined || ['pending', 'unreached', 'done'].includes(state);
  const words = [
    ...(usual ? [] : [state]),
    ...(attempts === undefined ? [] : [`${attempts} attempts`]),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

/** `3 of 5 done, 1 failed`: how far the items of a map or the rounds of a loop are. */
export function runsText({ total, done, failed, open }: Runs): string {
  const bad = failed === 0 ? '' : `, ${failed} failed`;
  const busy = open === 0 ? '' : `, ${open} under way`;
  return `${done} of ${total} done${bad}${busy}`;
}

/** Breaks a text into at most two lines, at spaces, dots and dashes where there are some. */
function wrapped(text: string, most: number): readonly string[] {
  if (text.length <= most) return [text];
  const at = Math.max(
    ...[' ', '-', '_', '.', ':', '/'].map((mark) => text.lastIndexOf(mark, most - 1)),
  );
  const split = at > most / 3 ? at + 1 : most;
  const rest = text.slice(split).trimStart();
  return [
    text.slice(0, split).trimEnd(),
    rest.length <= most ? rest : `${rest.slice(0, most - 1)}…`,
  ];
}
