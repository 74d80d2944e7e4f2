import { syntaxTree } from '@codemirror/language';
import { RangeSetBuilder, type Extension } from '@codemirror/state';
import { Decoration, ViewPlugin, type DecorationSet, type EditorView } from '@codemirror/view';

/** Nodes of the grammar, and the class that their text has. */
const classes: Readonly<Record<string, string>> = {
  PropertyName: 'json-key',
  String: 'json-text',
  Number: 'json-number',
  True: 'json-word',
  False: 'json-word',
  Null: 'json-word',
};

/** Keys, texts, numbers and words as classes of the page, in what can be seen. */
export function colouring(): Extension {
  return ViewPlugin.define(
    (view) => {
      let tree = syntaxTree(view.state);
      const plugin = {
        decorations: decorations(view),
        update: (update: { readonly view: EditorView; readonly viewportChanged: boolean }) => {
          const now = syntaxTree(update.view.state);
          if (now === tree && !update.viewportChanged) return;
          tree = now;
          plugin.decorations = decorations(update.view);
        },
      };
      return plugin;
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

function decorations(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: ({ name, from: start, to: end }) => {
        const known = marks.get(name);
        if (known !== undefined) builder.add(start, end, known);
      },
    });
  }
  return builder.finish();
}

const marks: ReadonlyMap<string, Decoration> = new Map(
  Object.entries(classes).map(([name, className]) => [name, Decoration.mark({ class: className })]),
);
