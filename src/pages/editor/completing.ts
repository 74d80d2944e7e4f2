import {
  autocompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { completionAt, type NamesByKind, type Option } from './completion.js';
import type { JsonSchema } from '../../model/scalars.js';

/** What is proposed; it may be known only later, and change. */
export type Proposals = { readonly schema: JsonSchema | undefined; readonly names: NamesByKind };

/** Proposes keys, values and names while somebody writes, and on Ctrl-Space. */
export function completing(proposals: () => Proposals): Extension {
  const source = (context: CompletionContext): CompletionResult | null => {
    const { schema, names } = proposals();
    if (schema === undefined) return null;
    const text = context.state.doc.toString();
    const found = completionAt(text, context.pos, { schema, names });
    if (found === undefined || !isWanted(context)) return null;
    const { options } = found;
    // What is written is compared without its quotes; they are replaced with it.
    const from = found.from + (text[found.from] === '"' ? 1 : 0);
    const inner = text.slice(found.from + 1, found.to).endsWith('"') ? found.to - 1 : found.to;
    const to = Math.max(from, context.pos, inner);
    return { from, to, options: options.map(toCompletion), validFor: /^[\w$.-]*$/ };
  };
  return autocompletion({ override: [source], icons: false, closeOnBlur: true });
}

/** Behind a comma or a value nothing is proposed before it is asked for. */
function isWanted(context: CompletionContext): boolean {
  return context.explicit || context.matchBefore(/["\w$.-]+$|[{[:]\s*$/) !== null;
}

const kindOf: Readonly<Record<Option['kind'], string>> = {
  key: 'property',
  value: 'constant',
  name: 'variable',
  structure: 'class',
};

function toCompletion(option: Option, index: number): Completion {
  const { label, kind, detail, info } = option;
  return {
    label,
    type: kindOf[kind],
    ...(detail === undefined ? {} : { detail }),
    ...(info === undefined ? {} : { info }),
    // The order is that of the schema; what is needed stands first.
    boost: Math.max(-99, 99 - index),
    apply: (view, _completion, from, to) => write(view, option, { from, to }),
  };
}

type Range = { readonly from: number; readonly to: number };

function write(view: EditorView, { insert, caret, kind }: Option, { from, to }: Range): void {
  const { doc } = view.state;
  const start = doc.sliceString(from - 1, from) === '"' ? from - 1 : from;
  const end = doc.sliceString(to, to + 1) === '"' ? to + 1 : to;
  view.dispatch({
    changes: { from: start, to: end, insert },
    selection: { anchor: start + caret },
    scrollIntoView: true,
    userEvent: 'input.complete',
  });
  if (kind === 'key' || kind === 'structure') startCompletion(view);
}
