import { problem } from '../../errors.js';
import { ownerOf } from '../../model/task.js';
import type { StoredDocument } from '../../model/document.js';
import type { Principal } from './principal.js';

/** Whether somebody may see and change what belongs to an owner. */
export function hasOwner({ owners }: Principal, owner: string): boolean {
  return owners === 'all' || owners.includes(owner);
}

/** Whether somebody may see and change a document. */
export function mayHave(principal: Principal, doc: StoredDocument): boolean {
  return hasOwner(principal, ownerOf(doc));
}

/** @throws TwsError `owner_refused` */
export function assertOwner(principal: Principal, owner: string): void {
  if (!hasOwner(principal, owner)) {
    throw problem('owner_refused', { who: principalName(principal), owner });
  }
}

/** @throws TwsError `owners_needed`: for what concerns all owners; `what` follows "may not" */
export function assertAllOwners(principal: Principal, what: string): void {
  if (principal.owners !== 'all')
    throw problem('owners_needed', { who: principalName(principal), what });
}

/**
 * The owners that a list is about: the one that was asked for, else all that somebody may see;
 * undefined for everybody's. @throws TwsError `owner_refused`
 */
export function ownersFor(
  principal: Principal,
  asked: string | undefined,
): readonly string[] | undefined {
  if (asked !== undefined) {
    assertOwner(principal, asked);
    return [asked];
  }
  return principal.owners === 'all' ? undefined : principal.owners;
}

/** A person or program in a sentence. */
export function principalName({ kind, name }: Principal): string {
  switch (kind) {
    case 'local':
      return 'Somebody on this machine';
    case 'user':
      return `User "${name}"`;
    case 'token':
      return `Token "${name}"`;
  }
}
