import { getNodeValue, type Node } from 'jsonc-parser';
import { isEncrypted } from '../../model/encrypted.js';
import { spanOf } from './read-json.js';

/** A value that is not shown as it is: its place, and why. */
export type SecretSpan = {
  readonly from: number;
  readonly to: number;
  /** `encrypted`: its cipher stands there; `hidden`: only the server has it. */
  readonly kind: 'encrypted' | 'hidden';
};

/** What the API shows in place of a secret in clear, and takes back as "leave it as it is". */
const hidden = '[secret]';

/** Where encrypted and hidden values stand in a document. */
export function secretPlaces(node: Node | undefined): readonly SecretSpan[] {
  if (node === undefined) return [];
  const isWhole = node.type === 'string' || (node.type === 'object' && node.children?.length === 1);
  if (isWhole && isEncrypted(getNodeValue(node))) return [{ ...spanOf(node), kind: 'encrypted' }];
  if (node.type === 'string') {
    const text = String(node.value);
    const isHidden = text === hidden || text.includes(`://${hidden}@`);
    return isHidden ? [{ ...spanOf(node), kind: 'hidden' }] : [];
  }
  const parts = node.type === 'property' ? node.children?.slice(1) : node.children;
  return (parts ?? []).flatMap(secretPlaces);
}
