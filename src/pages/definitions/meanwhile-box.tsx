import { useState } from 'preact/hooks';
import { ChangeList, ShortValue } from './change-list.js';
import { differences, mergeEdits } from '../../model/three-way.js';
import { editedContent, type StoredDefinition } from './stored.js';

type Props = {
  /** The edition that somebody began with. */
  readonly base: unknown;
  readonly mine: unknown;
  /** undefined: it was removed. */
  readonly theirs: StoredDefinition | undefined;
  /** Both changes, to look at before they are stored. */
  readonly onMerge: (value: unknown) => void;
  readonly onOverwrite: () => void;
  /** What was changed here is given up. */
  readonly onTheirs: () => void;
};

/** What somebody else has changed meanwhile, and what can be done about it. */
export function MeanwhileBox({ base, mine, theirs, onMerge, onOverwrite, onTheirs }: Props) {
  const [chosen, setChosen] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({});
  if (theirs === undefined) return <Removed onOverwrite={onOverwrite} onTheirs={onTheirs} />;
  const now = editedContent(theirs);
  const changes = differences(base, now);
  const merged = mergeEdits(base, mine, now, (path) => chosen[path] ?? 'mine');
  return (
    <section class="box warning meanwhile" aria-labelledby="meanwhile-title">
      <h2 id="meanwhile-title" role="alert">
        Somebody else has stored it meanwhile
      </h2>
      {changes.length === 0 ? (
        <p>Nothing was stored. The other edition has a new revision, and the same content.</p>
      ) : (
        <>
          <p>Nothing was stored. This was changed there:</p>
          <ChangeList changes={changes} />
        </>
      )}
      {merged.conflicts.map(({ path, mine: own, theirs: other }) => (
        <fieldset key={path} class="form-group">
          <legend>
            Both of you changed <code>{path}</code>
          </legend>
          {(['mine', 'theirs'] as const).map((whose) => (
            <label key={whose} class="flag">
              <input
                type="radio"
                name={`conflict ${path}`}
                checked={(chosen[path] ?? 'mine') === whose}
                onChange={() => setChosen({ ...chosen, [path]: whose })}
              />
              {whose === 'mine' ? 'Mine' : 'Theirs'}:{' '}
              <ShortValue value={whose === 'mine' ? own : other} gone="removed" />
            </label>
          ))}
        </fieldset>
      ))}
      <div class="buttons">
        <button type="button" class="primary" onClick={() => onMerge(merged.value)}>
          Put both together
        </button>
        <button type="button" onClick={onOverwrite}>
          Store mine over it
        </button>
        <button type="button" onClick={onTheirs}>
          Take theirs
        </button>
      </div>
    </section>
  );
}

function Removed({ onOverwrite, onTheirs }: Pick<Props, 'onOverwrite' | 'onTheirs'>) {
  return (
    <section class="box warning" role="alert">
      <p>
        <strong>Somebody else has removed it meanwhile.</strong> Nothing was stored.
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={onOverwrite}>
          Store mine as a new one
        </button>
        <button type="button" onClick={onTheirs}>
          Leave it removed
        </button>
      </div>
    </section>
  );
}
