import type { Picture, PictureEdge, PictureFrame, PictureNode } from './picture.js';

/** Whether the structure in a frame can be folded: it has a head, and is not the whole flow. */
export function isFoldable({ id, path }: Pick<PictureFrame, 'id' | 'path'>): boolean {
  return path !== '' && id === `${path}#frame`;
}

/** Returns the paths of the folded structures around a path, outermost first. */
export function foldsAround(path: string, folded: ReadonlySet<string>): readonly string[] {
  const around = [...folded].filter((one) => path.startsWith(`${one}.`));
  return around.toSorted((a, b) => a.length - b.length);
}

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
  const frames = picture.frames.filter(
    ({ path }) => foldsAround(path, paths).length === 0 && !paths.has(path),
  );
  const left = new Set(frames.map(({ id }) => id));
  const nodes = picture.nodes
    .filter(({ id }) => at(id) === id)
    .map((node) => (paths.has(node.id) ? outOf(node, picture, left) : node));
  return { nodes, frames, edges };
}

/** The outermost folded structure that a node is in; undefined: none, or it is the head itself. */
function headFor({ id, path }: PictureNode, paths: ReadonlySet<string>): string | undefined {
  const [outer] = foldsAround(path, paths);
  if (outer !== undefined) return outer;
  return paths.has(path) && id !== path ? path : undefined;
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
