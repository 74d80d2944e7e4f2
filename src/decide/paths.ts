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
