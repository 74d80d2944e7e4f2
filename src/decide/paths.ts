/** A path is that of a node, or of something in it or of a handler of it. */
export function isWithin(path: string, node: string): boolean {
  return node === '' || path === node || path.startsWith(`${node}.`);
}

/** The path of what takes a step back, or of something that handles its failure. */
export function isUndoing(path: string): boolean {
  return /\.undo(\.|$)/.test(path);
}

/** The path of what a flow does when it has failed or was cancelled. */
export function isOfEnd(path: string): boolean {
  return isWithin(path, 'error') || isWithin(path, 'cancel') || isUndoing(path);
}

/** The paths of the items of maps and the rounds of loops that a path is in, outermost first. */
export function repeatsAround(path: string): readonly string[] {
  const found = path.matchAll(/(?<=^|\.)(?:map|loop)\.\d+(?=\.|$)/g);
  return [...found].map(({ index, 0: segments }) => path.slice(0, index + segments.length));
}

/** The paths of the batches that a path is in a job of, outermost first. */
export function batchesAround(path: string): readonly string[] {
  return [...path.matchAll(/(?:^|\.)batch\.\d+(?=\.|$)/g)].map(({ index }) => path.slice(0, index));
}

/** What a decider began, or how it goes on, not the decisions themselves. */
export function isOfDecider(path: string): boolean {
  return /\.(?:(?:activity|timer|child)\.[^.]+|news\.\d+|continue)$/.test(path);
}

/** The path of the decider that made a decision; any other path is left as it is. */
export function decisionMaker(path: string): string {
  return path.replace(/\.decision\.\d+$/, '');
}

/** The path of the map that a slice is of; any other path is left as it is. */
export function slicedMap(path: string): string {
  return path.replace(/(?:^|\.)slice\.\d+$/, '');
}
