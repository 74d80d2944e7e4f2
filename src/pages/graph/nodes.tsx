import { useId } from 'preact/hooks';
import type { PlacedEdge, PlacedFrame, PlacedNode } from '../../picture/layout.js';
import { outlineOf as shapeOf } from '../../picture/outline.js';
import { isStep } from './find-nodes.js';
import { labelLines, labelWidth, lineHeight } from '../../picture/text.js';

/* What a graph is made of. */

/** In SVG only the lower-case name is the attribute that lets keys reach an element. */
const focusable = { tabindex: 0 };

/** The tip of an edge. */
export function Arrow() {
  return (
    <defs>
      <marker
        id="graph-arrow"
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerWidth="7"
        markerHeight="7"
        orient="auto-start-reverse"
      >
        <path class="tip" d="M0 0 L8 4 L0 8 z" />
      </marker>
    </defs>
  );
}

type NodeProps = {
  readonly node: PlacedNode;
  readonly isSelected: boolean;
  /** Somebody looks for its name. */
  readonly isFound: boolean;
  readonly onSelect?: ((path: string) => void) | undefined;
};

/** A node, which can be pressed where somebody listens. */
export function NodeButton({ node, isSelected, isFound, onSelect }: NodeProps) {
  const { path, kind, state = '', lines, failure } = node;
  // What can be read comes first, as it stands there: whoever speaks to his machine says that.
  const spoken = [lines.join(' '), state, failure].filter((one) => one !== undefined && one !== '');
  const classes = `node ${kind} ${state === '' ? '' : `is-${state}`} ${isSelected ? 'selected' : ''} ${isFound ? 'found' : ''}`;
  const inside = (
    <>
      {isStep(node) && <title>{spoken.join(', ')}</title>}
      <Shape node={node} />
      <Lines node={node} />
    </>
  );
  if (onSelect === undefined || !isStep(node)) return <g class={classes}>{inside}</g>;
  return (
    <g
      class={`${classes} pressable`}
      role="button"
      {...focusable}
      aria-label={spoken.join(', ')}
      aria-pressed={isSelected}
      data-path={path}
      onClick={() => onSelect(path)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onSelect(path);
      }}
    >
      {inside}
    </g>
  );
}

function Shape({ node }: { readonly node: PlacedNode }) {
  const { x, y, width, height } = node;
  const outline = shapeOf(node);
  switch (outline.kind) {
    case 'circle': {
      const { radius, inner } = outline;
      return (
        <>
          <circle class="shape" cx={x} cy={y} r={radius} />
          {inner !== undefined && <circle class="inner" cx={x} cy={y} r={inner} />}
        </>
      );
    }
    case 'polygon':
      return <polygon class="shape" points={outline.points.map(String).join(' ')} />;
    case 'rect': {
      const box = { x: x - width / 2, y: y - height / 2, width, height };
      return <rect class="shape" {...box} rx={outline.round} />;
    }
  }
}

function Lines({ node }: { readonly node: PlacedNode }) {
  const { lines, x, y } = node;
  const names = labelLines(node);
  const first = y - ((lines.length - 1) * lineHeight) / 2 + 4;
  return (
    <>
      {lines.map((line, i) => (
        <text key={i} class={i < names ? '' : 'small'} x={x} y={first + i * lineHeight}>
          {`${line} `}
        </text>
      ))}
    </>
  );
}

/** The label of an edge. */
export function EdgeLabel({ edge: { at, text, label } }: { readonly edge: PlacedEdge }) {
  const id = useId();
  if (at === undefined || text === undefined) return null;
  const width = labelWidth(text);
  return (
    <g class="label" id={id}>
      {label !== text && <title>{label}</title>}
      <rect x={at.x - width / 2} y={at.y - 8} width={width} height={16} rx={4} />
      <text x={at.x} y={at.y + 4}>
        {text}
      </text>
    </g>
  );
}

type FoldProps = {
  /** Of the upper right corner. */
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly isFolded: boolean;
  readonly onFold: () => void;
};

/** Folds a structure, or unfolds it. */
export function FoldButton({ x, y, name, isFolded, onFold }: FoldProps) {
  const does = `${isFolded ? 'Unfold' : 'Fold'} ${name}`;
  return (
    <g
      class="fold pressable"
      role="button"
      {...focusable}
      aria-label={does}
      aria-expanded={!isFolded}
      onClick={onFold}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onFold();
      }}
    >
      <title>{does}</title>
      <circle cx={x} cy={y} r={10} class="shape" />
      <text x={x} y={y + 4}>
        {isFolded ? '+' : '−'}
      </text>
    </g>
  );
}

/** A frame around a structure. */
export function Frame({ frame: { x, y, width, height, kind } }: { readonly frame: PlacedFrame }) {
  const box = { x: x - width / 2, y: y - height / 2, width, height };
  return <rect class={`frame ${kind}`} {...box} rx={10} />;
}
