import type { EdgeKind, Picture, PictureFrame, PictureNode } from './picture.js';
import { runsText } from './text.js';

/** A picture as a Mermaid flowchart, as Markdown pages of many hosts show it. */
export function mermaidOf({ nodes, frames, edges }: Picture): string {
  const ids = new Map(nodes.map(({ id }, i) => [id, `n${i}`]));
  const inFrame = (frame: string | undefined, depth: number): readonly string[] => [
    ...nodes
      .filter((node) => node.frame === frame)
      .map((node) => indent(depth, nodeLine(node, ids.get(node.id) as string))),
    ...frames
      .filter((one) => one.frame === frame)
      .flatMap((one) => [
        indent(depth, `subgraph ${frameId(one, frames)} [" "]`),
        ...inFrame(one.id, depth + 1),
        indent(depth, 'end'),
      ]),
  ];
  const lines = edges.map(({ from, to, kind, label }) => {
    const text = label === undefined ? '' : `|"${escaped(label)}"|`;
    return indent(1, `${ids.get(from)} ${arrows[kind]}${text} ${ids.get(to)}`);
  });
  const states = new Set(nodes.flatMap(({ state }) => (state === undefined ? [] : [state])));
  const classes = [...states].map((state) => indent(1, `classDef ${state} ${colours[state]}`));
  return ['flowchart TD', ...inFrame(undefined, 1), ...lines, ...classes, ''].join('\n');
}

const arrows: Readonly<Record<EdgeKind, string>> = {
  then: '-->',
  error: '-.->',
  undo: '-.->',
  cancel: '-.->',
};

const colours: Readonly<Record<NonNullable<PictureNode['state']>, string>> = {
  pending: 'fill:#ffffff,stroke:#6b7280,color:#111827',
  active: 'fill:#dbeafe,stroke:#1d4ed8,color:#111827,stroke-width:3px',
  waiting: 'fill:#fef3c7,stroke:#92600a,color:#111827',
  retrying: 'fill:#ffedd5,stroke:#b45309,color:#111827',
  done: 'fill:#dcfce7,stroke:#15803d,color:#111827',
  recovered: 'fill:#ecfccb,stroke:#3f6212,color:#111827',
  failed: 'fill:#fee2e2,stroke:#b91c1c,color:#111827',
  skipped: 'fill:#f3f4f6,stroke:#6b7280,color:#4b5563',
  cancelled: 'fill:#f3e8ff,stroke:#7e22ce,color:#111827',
  undone: 'fill:#cffafe,stroke:#0e7490,color:#111827',
  unreached: 'fill:#f9fafb,stroke:#9ca3af,color:#6b7280',
};

function frameId(frame: PictureFrame, frames: readonly PictureFrame[]): string {
  return `f${frames.indexOf(frame)}`;
}

function nodeLine(node: PictureNode, id: string): string {
  const { kind, state, label, detail, runs, attempts } = node;
  const tries = attempts === undefined ? undefined : `${attempts} attempts`;
  const notes = [detail, runs === undefined ? tries : runsText(runs), state];
  const lines = [label, ...notes.filter((one) => one !== undefined)].map(escaped);
  const [open, close] = brackets(kind);
  const text =
    kind === 'meet' || kind === 'begin' || kind === 'end' ? label || ' ' : lines.join('<br/>');
  return `${id}${open}"${text}"${close}${state === undefined ? '' : `:::${state}`}`;
}

function brackets(kind: PictureNode['kind']): readonly [string, string] {
  switch (kind) {
    case 'begin':
      return ['((', '))'];
    case 'end':
      return ['(((', ')))'];
    case 'meet':
      return ['((', '))'];
    case 'choice':
      return ['{{', '}}'];
    case 'task':
      return ['[', ']'];
    case 'flow':
      return ['[[', ']]'];
    case 'wait':
    case 'approve':
    case 'delay':
    case 'decider':
    case 'finish':
    case 'handler':
    case 'undo':
      return ['(', ')'];
    default:
      return ['([', '])'];
  }
}

/** Mermaid reads `#…;` as a character: everything with a meaning of its own is written so. */
function escaped(text: string): string {
  return text
    .replace(/["#<>&`[\]{}|\\;]/g, (sign) => `#${sign.codePointAt(0)};`)
    .replace(/\s+/g, ' ');
}

function indent(depth: number, line: string): string {
  return '  '.repeat(depth) + line;
}
