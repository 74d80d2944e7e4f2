import type { Node, Structure, StructureKind } from '../model/tree.js';
import { isStructure } from '../model/tree.js';
import { batch } from './batch.js';
import { choice } from './choice.js';
import { graph } from './graph.js';
import type { Kind } from './kind.js';
import { loop } from './loop.js';
import { map } from './map.js';
import { parallel } from './parallel.js';
import { sequence } from './sequence.js';

/** All kinds of structures: to add one, add its file and a line here. */
const kinds = { sequence, parallel, batch, graph, choice, map, loop } satisfies {
  readonly [K in StructureKind]: Kind<Extract<Structure, { readonly structure: K }>>;
};

/** What the kind of a structure says about it. */
export function kindOf({ structure }: Structure): Kind {
  return kinds[structure] as unknown as Kind;
}

/** A structure whose nodes run beside each other. */
export function isConcurrent(node: Node): boolean {
  return isStructure(node) && kindOf(node).isConcurrent;
}
