import { useId, useMemo, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { layout, type Laid, type PlacedEdge, type PlacedNode } from '../../picture/layout.js';
import type { Picture } from '../../picture/picture.js';
import { outlineOf } from '../../picture/outline.js';
import { curve } from '../../picture/svg.js';
import { labelLines, labelWidth, lineHeight } from '../../picture/text.js';

type Props = {
  readonly picture: Picture;
  /** What it is a picture of, for those who do not see it. */
  readonly label: string;
  /** Path of the node that is chosen. */
  readonly selected?: string | undefined;
  /** Makes nodes something to press; `path` is that of the definition (`2.map.*.0`). */
  readonly onSelect?: (path: string) => void;
};

/** Pictures of more nodes are drawn on demand: they take long and say little. */
const mostNodes = 600;

/** A flow, or a job with its states, as a graph. */
export function FlowGraph(props: Props) {
  const [wanted, setWanted] = useState(false);
  const count = props.picture.nodes.length;
  if (count <= mostNodes || wanted) return <Drawn {...props} />;
  return (
    <p class="muted">
      The picture has {count} nodes.{' '}
      <button type="button" onClick={() => setWanted(true)}>
        Draw it
      </button>
    </p>
  );
}

function Drawn({ picture, label, selected, onSelect }: Props) {
  const laid = useMemo(() => layout(picture), [picture]);
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState<number>();
  const scale = zoom ?? 1;
  const [width, height] = [Math.ceil(laid.width), Math.ceil(laid.height)];
  return (
    <div class="graph">
      <Zoom laid={laid} box={box} scale={scale} onZoom={setZoom} />
      <div class="graph-box" ref={box} tabIndex={0} role="region" aria-label={label}>
        <svg
          class={zoom === undefined ? 'fits' : ''}
          viewBox={`0 0 ${width} ${height}`}
          width={width * scale}
          height={height * scale}
          role="group"
          aria-label={label}
        >
          <Arrow />
          {laid.frames.map((frame) => (
            <rect
              key={frame.id}
              class="frame"
              x={frame.x - frame.width / 2}
              y={frame.y - frame.height / 2}
              width={frame.width}
              height={frame.height}
              rx={10}
            />
          ))}
          {laid.edges.map((edge) => (
            <path
              key={`${edge.from} ${edge.to} ${edge.label ?? ''}`}
              class={`edge ${edge.kind}`}
              d={curve(edge.points)}
              marker-end="url(#graph-arrow)"
            />
          ))}
          {laid.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              isSelected={selected !== undefined && isStep(node) && node.path === selected}
              onSelect={onSelect}
            />
          ))}
          {laid.edges.map((edge) => (
            <EdgeLabel key={`${edge.from} ${edge.to} ${edge.label ?? ''}`} edge={edge} />
          ))}
        </svg>
      </div>
    </div>
  );
}

type ZoomProps = {
  readonly laid: Laid;
  readonly box: RefObject<HTMLDivElement>;
  readonly scale: number;
  readonly onZoom: (scale: number | undefined) => void;
};

function Zoom({ laid, box, scale, onZoom }: ZoomProps) {
  const to = (next: number): void => onZoom(Math.min(2, Math.max(0.2, next)));
  const whole = (): void => {
    const { clientWidth = 1, clientHeight = 1 } = box.current ?? {};
    to(Math.min((clientWidth - 8) / laid.width, (clientHeight - 8) / laid.height));
  };
  return (
    <div class="zoom" role="group" aria-label="Size of the picture">
      <button type="button" aria-label="Smaller" title="Smaller" onClick={() => to(scale / 1.25)}>
        −
      </button>
      <button type="button" aria-label="Larger" title="Larger" onClick={() => to(scale * 1.25)}>
        +
      </button>
      <button type="button" title="The whole picture" onClick={whole}>
        Whole
      </button>
    </div>
  );
}

function Arrow() {
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

/** Whether a node stands for something in the definition, and not for a point in the picture. */
function isStep({ kind }: PlacedNode): boolean {
  return kind !== 'begin' && kind !== 'end' && kind !== 'meet';
}

type NodeProps = {
  readonly node: PlacedNode;
  readonly isSelected: boolean;
  readonly onSelect?: ((path: string) => void) | undefined;
};

function Node({ node, isSelected, onSelect }: NodeProps) {
  const { path, kind, state = '', lines, failure } = node;
  // What can be read comes first, as it stands there: whoever speaks to his machine says that.
  const spoken = [lines.join(' '), state, failure].filter((one) => one !== undefined && one !== '');
  const classes = `node ${kind} ${state === '' ? '' : `is-${state}`} ${isSelected ? 'selected' : ''}`;
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
      tabIndex={0}
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
  const outline = outlineOf(node);
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

function EdgeLabel({ edge: { at, text, label } }: { readonly edge: PlacedEdge }) {
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
