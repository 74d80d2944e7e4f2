import { type Extension, type Range, StateField, type EditorState } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';
import { parseTree } from 'jsonc-parser';
import { secretPlaces, type SecretSpan } from './secret-places.js';

/** Shows encrypted and hidden values as what they are, in place of their long text. */
export function secretsShown(): Extension {
  const field = StateField.define<DecorationSet>({
    create: decorations,
    update: (known, transaction) =>
      transaction.docChanged ? decorations(transaction.state) : known,
    provide: (own) => [
      EditorView.decorations.from(own),
      // Such a value is one thing: it is left or removed as a whole.
      EditorView.atomicRanges.of((view) => view.state.field(own)),
    ],
  });
  return field;
}

function decorations(state: EditorState): DecorationSet {
  const places = secretPlaces(parseTree(state.doc.toString()));
  const ranges: readonly Range<Decoration>[] = places.map(({ from, to, kind }) =>
    Decoration.replace({ widget: new SecretWidget(kind) }).range(from, to),
  );
  return Decoration.set([...ranges], true);
}

const words: Readonly<
  Record<SecretSpan['kind'], { readonly text: string; readonly title: string }>
> = {
  encrypted: {
    text: 'encrypted',
    title: 'Encrypted with the key of the project; it stays as it is when you save.',
  },
  hidden: {
    text: 'secret, not shown',
    title: 'The server does not show this secret; it stays as it is when you save.',
  },
};

class SecretWidget extends WidgetType {
  constructor(readonly kind: SecretSpan['kind']) {
    super();
  }

  override eq(other: SecretWidget): boolean {
    return other.kind === this.kind;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = 'cm-secret';
    element.textContent = words[this.kind].text;
    element.title = words[this.kind].title;
    return element;
  }
}
