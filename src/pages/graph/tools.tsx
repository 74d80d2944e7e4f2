import type { PanZoom } from './pan-zoom.js';

type Props = {
  readonly zoom: PanZoom;
  /** Nodes of the picture: of a few none has to be looked for. */
  readonly count: number;
  readonly found: number;
  readonly wanted: string;
  readonly onWanted: (text: string) => void;
  readonly onNext: () => void;
};

const fewNodes = 12;

/** The size of the picture, and a search in it. */
export function GraphTools({ zoom, count, found, wanted, onWanted, onNext }: Props) {
  return (
    <div class="zoom" role="group" aria-label="Size of the picture">
      {count > fewNodes && (
        <label class="graph-find">
          <span class="unseen">Find a step in the graph</span>
          <input
            type="search"
            placeholder="Find a step"
            value={wanted}
            spellcheck={false}
            onInput={({ currentTarget }) => onWanted(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              onNext();
            }}
          />
          {wanted !== '' && (
            <small role="status" class="muted">
              {found === 0 ? 'none' : `${found.toLocaleString()}, Enter: next`}
            </small>
          )}
        </label>
      )}
      <button type="button" aria-label="Smaller" title="Smaller" onClick={() => zoom.by(1 / 1.25)}>
        −
      </button>
      <button type="button" aria-label="Larger" title="Larger" onClick={() => zoom.by(1.25)}>
        +
      </button>
      <button type="button" title="The whole picture" onClick={zoom.fit}>
        Whole
      </button>
    </div>
  );
}
