import { foldsAround } from '../../picture/fold.js';
import type { Picture, PictureNode } from '../../picture/picture.js';

/** Whether a node stands for something in the definition, and not for a point in the picture. */
export function isStep({ kind }: Pick<PictureNode, 'kind'>): boolean {
  return kind !== 'begin' && kind !== 'end' && kind !== 'meet';
}

/** Returns the nodes whose words contain a text, also those in folded structures. */
export function nodesLike({ nodes }: Picture, wanted: string): readonly PictureNode[] {
  const text = wanted.trim().toLowerCase();
  if (text === '') return [];
  return nodes.filter(
    (node) => isStep(node) && `${node.label} ${node.detail ?? ''}`.toLowerCase().includes(text),
  );
}

/** Returns the id of the node that is seen for a node: itself, or the head that it is folded into. */
export function seenFor({ id, path }: PictureNode, folded: ReadonlySet<string>): string {
  return foldsAround(path, folded)[0] ?? id;
}
