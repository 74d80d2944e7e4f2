import type { NodeState } from '../structures/node-state.js';

/** Edge and ground of a node in each state, for light and for dark paper. */
type Colours = { readonly line: string; readonly fill: string };

const light: Readonly<Record<NodeState, Colours>> = {
  pending: { line: '#6b7280', fill: '#ffffff' },
  active: { line: '#1d4ed8', fill: '#dbeafe' },
  waiting: { line: '#92600a', fill: '#fef3c7' },
  retrying: { line: '#b45309', fill: '#ffedd5' },
  done: { line: '#15803d', fill: '#dcfce7' },
  recovered: { line: '#3f6212', fill: '#ecfccb' },
  failed: { line: '#b91c1c', fill: '#fee2e2' },
  skipped: { line: '#6b7280', fill: '#f3f4f6' },
  cancelled: { line: '#7e22ce', fill: '#f3e8ff' },
  undone: { line: '#0e7490', fill: '#cffafe' },
  unreached: { line: '#9ca3af', fill: '#f9fafb' },
};

const dark: Readonly<Record<NodeState, Colours>> = {
  pending: { line: '#9ca3af', fill: '#1f2430' },
  active: { line: '#93c5fd', fill: '#1e3a8a' },
  waiting: { line: '#fcd34d', fill: '#4a3a0a' },
  retrying: { line: '#fdba74', fill: '#5a2d0c' },
  done: { line: '#86efac', fill: '#14532d' },
  recovered: { line: '#bef264', fill: '#33420f' },
  failed: { line: '#fca5a5', fill: '#6b1a1a' },
  skipped: { line: '#9ca3af', fill: '#2b303b' },
  cancelled: { line: '#d8b4fe', fill: '#4c1d73' },
  undone: { line: '#67e8f9', fill: '#134552' },
  unreached: { line: '#6b7280', fill: '#191d26' },
};

/** The style of an SVG that stands alone; whoever shows it in a page sees it by the reader's wish. */
export const style = `
svg{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
text{text-anchor:middle}
.small{font-size:11px}
.shape{stroke-width:1.5}
.edge{fill:none;stroke-width:1.4}
.edge.error,.edge.undo,.edge.cancel{stroke-dasharray:5 4}
.label text{font-size:11px}
.frame{stroke-width:1;stroke-dasharray:2 3}
.handler .shape,.undo .shape{stroke-dasharray:5 4}
.active .shape{stroke-width:3}
.skipped text,.unreached text{opacity:.75}
${paper({ paper: '#ffffff', ink: '#111827', soft: '#4b5563', frame: '#f6f7f9', line: '#9ca3af' })}
${rules(light)}
@media (prefers-color-scheme:dark){
${paper({ paper: '#12151c', ink: '#f3f4f6', soft: '#c3c8d2', frame: '#181c25', line: '#7c8494' })}
${rules(dark)}
}`;

type Paper = Readonly<Record<'paper' | 'ink' | 'soft' | 'frame' | 'line', string>>;

function paper({ paper: ground, ink, soft, frame, line }: Paper): string {
  return `.paper{fill:${ground}}text{fill:${ink}}.small,.label text{fill:${soft}}.label rect{fill:${ground}}.frame{fill:${frame};stroke:${line}}.edge{stroke:${line}}.tip{fill:${line}}.shape{fill:${ground};stroke:${line}}.inner,.begin .shape,.meet .shape{fill:${line}}`;
}

function rules(colours: Readonly<Record<NodeState, Colours>>): string {
  return Object.entries(colours)
    .map(([state, { line, fill }]) => `.${state} .shape{stroke:${line};fill:${fill}}`)
    .join('\n');
}
