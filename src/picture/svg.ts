import { layout, type Laid, type PlacedEdge, type PlacedNode, type Point } from './layout.js';
import { outlineOf } from './outline.js';
import type { Picture } from './picture.js';
import { style } from './svg-style.js';
import { labelLines, labelWidth, lineHeight } from './text.js';

/** What stands over the picture. */
export type Titles = { readonly title: string; readonly description?: string };

/**
 * A picture as an SVG document that needs nothing else: it fits light and dark, can be read out, and
 * tells each state by a word as well as by its colour.
 */
export function svgOf(picture: Picture, titles: Titles): string {
  const laid = layout(picture);
  const [width, height] = [Math.ceil(laid.width), Math.ceil(laid.height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title id="title">${escaped(titles.title)}</title>`,
    `<desc id="desc">${escaped(titles.description ?? describe(picture))}</desc>`,
    `<style>${style}</style>`,
    arrowHead,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...laid.frames.map(
      ({ x, y, width: w, height: h, kind }) =>
        `<rect class="frame ${kind}" ${rect({ x, y, width: w, height: h })} rx="10"/>`,
    ),
    ...laid.edges.map(edge),
    ...laid.nodes.map(node),
    ...laid.edges.map(edgeLabel),
    '</svg>',
    '',
  ].join('\n');
}

const arrowHead =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>';

/** The picture in words, for those who do not see it. */
function describe({ nodes }: Picture): string {
  const named = nodes.filter(({ kind }) => kind !== 'meet' && kind !== 'begin' && kind !== 'end');
  return named.map(wordsOf).join('; ');
}

function wordsOf({ label, detail, state }: Picture['nodes'][number]): string {
  const more = [detail, state].filter((one) => one !== undefined);
  return more.length === 0 ? label : `${label} (${more.join(', ')})`;
}

function rect({ x, y, width, height }: Pick<PlacedNode, 'x' | 'y' | 'width' | 'height'>): string {
  return `x="${round(x - width / 2)}" y="${round(y - height / 2)}" width="${round(width)}" height="${round(height)}"`;
}

function node(placed: PlacedNode): string {
  const { kind, state, failure } = placed;
  const classes = ['node', kind, ...(state === undefined ? [] : [state])].join(' ');
  const words = [wordsOf(placed), failure].filter((one) => one !== undefined).join(': ');
  const title = kind === 'meet' ? '' : `<title>${escaped(words)}</title>`;
  return `<g class="${classes}" data-path="${escaped(placed.path)}">${title}${shape(placed)}${text(placed)}</g>`;
}

function shape(placed: PlacedNode): string {
  const outline = outlineOf(placed);
  switch (outline.kind) {
    case 'circle': {
      const around = (kind: string, radius: number): string =>
        `<circle class="${kind}" cx="${round(placed.x)}" cy="${round(placed.y)}" r="${radius}"/>`;
      const { radius, inner } = outline;
      return around('shape', radius) + (inner === undefined ? '' : around('inner', inner));
    }
    case 'polygon': {
      const points = outline.points.map((point) => point.map(round).join(',')).join(' ');
      return `<polygon class="shape" points="${points}"/>`;
    }
    case 'rect':
      return `<rect class="shape" ${rect(placed)} rx="${round(outline.round)}"/>`;
  }
}

function text(placed: PlacedNode): string {
  const { lines, x, y } = placed;
  const names = labelLines(placed);
  const first = y - ((lines.length - 1) * lineHeight) / 2 + 4;
  return lines
    .map((line, i) => {
      const small = i < names ? '' : ' class="small"';
      return `<text${small} x="${round(x)}" y="${round(first + i * lineHeight)}">${escaped(line)}</text>`;
    })
    .join('');
}

function edge({ kind, points }: PlacedEdge): string {
  return `<path class="edge ${kind}" d="${curve(points)}" marker-end="url(#arrow)"/>`;
}

/** A line through the points, with round corners. */
export function curve(points: readonly Point[]): string {
  const [start, ...rest] = points;
  if (start === undefined) return '';
  const at = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
  const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  const parts = rest.map((point, i) => {
    const next = rest[i + 1];
    return next === undefined ? `L ${at(point)}` : `Q ${at(point)} ${at(middle(point, next))}`;
  });
  return [`M ${at(start)}`, ...parts].join(' ');
}

function edgeLabel({ at, text: label, label: whole }: Laid['edges'][number]): string {
  if (at === undefined || label === undefined) return '';
  const { x, y } = at;
  const width = labelWidth(label);
  const title = whole === label || whole === undefined ? '' : `<title>${escaped(whole)}</title>`;
  return `<g class="label">${title}<rect ${rect({ x, y, width, height: 16 })} rx="4"/><text x="${round(x)}" y="${round(y + 4)}">${escaped(label)}</text></g>`;
}

function round(value: number | undefined): number {
  return Math.round((value ?? 0) * 10) / 10;
}

/** Text that may stand in XML; what XML cannot hold at all is left out. */
export function escaped(value: string): string {
  return value
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
