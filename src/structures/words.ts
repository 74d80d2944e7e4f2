import type { OnFail } from '../model/tree.js';

/** What a failure does to the others, where that is not what is usual. */
export function failWords(onFail: OnFail | undefined): readonly string[] {
  switch (onFail) {
    case 'cancel_rest':
      return ['a failure cancels the rest'];
    case 'ignore':
      return ['failures are ignored'];
    case 'wait':
    case undefined:
      return [];
  }
}
