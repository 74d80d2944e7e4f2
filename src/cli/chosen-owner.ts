import type { Config } from '../config/load.js';

/** The owner that was chosen by an option, a variable or a file; one that nobody chose narrows nothing. */
export function chosenOwner({ origins, owner }: Config): string | undefined {
  return origins['owner'] === 'default' ? undefined : owner;
}
