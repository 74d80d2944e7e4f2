import type { Picture, PictureEdge, PictureNode } from './picture.js';

/**
 * Returns the picture with these structures folded: of each its head alone is left, and what led to
 * something in it, or from it, leads to the head.
 */
export function foldedPicture(picture: Picture, paths: ReadonlySet<string>): Picture {
  if (paths.size === 0) return picture;
  const headOf = new Map(picture.nodes.map((node) => [node.id, headFor(node, paths)]));
  const at = (id: string): string => headOf.get(id) ?? id;
  const seen = new Set<string>();
  const edges = picture.edges.flatMap((edge): readonly PictureEdge[] => {
    const [from, to] = [at(edge.from), at(edge.to)];
    if (from === edge.from && to === edge.to) return [edge];
    const key = `${from} ${to} ${edge.kind}`;
    if (from === to || seen.has(key)) return [];
    seen.add(key);
    return [{ from, to, kind: edge.kind }];
  });
  const frames = picture.frames.filter(({ path }) => !isInside(path, paths) && !paths.has(path));
  const left = new Set(frames.map(({ id }) => id));
  const nodes = picture.nodes
    .filter(({ id }) => at(id) === id)
    .map((node) => (paths.has(node.id) ? outOf(node, picture, left) : node));
  return { nodes, frames, edges };
}

/** The outermost folded structure that a node is in; undefined: none, or it is the head itself. */
function headFor({ id, path }: PictureNode, paths: ReadonlySet<string>): string | undefined {
  const around = [...paths].filter((one) => path.startsWith(`${one}.`));
  const outer = around.toSorted((a, b) => a.length - b.length)[0];
  if (outer !== undefined) return outer;
  return paths.has(path) && id !== path ? path : undefined;
}

function isInside(path: string, paths: ReadonlySet<string>): boolean {
  return [...paths].some((one) => path.startsWith(`${one}.`));
}

/** The head of a folded structure is in the frame around it. */
function outOf(node: PictureNode, { frames }: Picture, left: ReadonlySet<string>): PictureNode {
  const { frame: own, ...head } = node;
  let frame = own;
  while (frame !== undefined && !left.has(frame)) {
    const inner = frame;
    frame = frames.find(({ id }) => id === inner)?.frame;
  }
  return frame === undefined ? head : { ...head, frame };
}
