import { useMemo } from 'preact/hooks';
import type { Summary } from '../answers.js';
import { Menu } from '../parts/menu.js';
import { NameForm } from '../parts/name-form.js';
import { say } from '../parts/toasts.js';
import {
  chosenWords,
  keyColumn,
  keyOfColumn,
  optional,
  toggled,
  type ColumnChoice,
} from './columns.js';

type Props = {
  readonly choice: ColumnChoice;
  readonly onChoice: (choice: ColumnChoice) => void;
  /** The jobs of the list, whose search keys are offered. */
  readonly jobs: readonly Summary[];
};

/** Chooses the columns of the list of jobs. */
export function ColumnMenu({ choice, onChoice, jobs }: Props) {
  const words = chosenWords(choice);
  const names = useMemo(() => keyNames(jobs), [jobs]);
  const keys = [...new Set([...names.map(keyColumn), ...words.filter(isKey)])].toSorted();
  const box = (word: string, title: string) => (
    <label key={word} class="check">
      <input
        type="checkbox"
        checked={words.includes(word)}
        onChange={() => onChoice(toggled(choice, word))}
      />
      {title}
    </label>
  );
  return (
    <Menu title="Columns" wideOnly>
      <fieldset>
        <legend>Columns beside status and job</legend>
        <div class="checks">{optional.map(({ word, title }) => box(word, title))}</div>
      </fieldset>
      <fieldset>
        <legend>Search keys</legend>
        <div class="checks">{keys.map((word) => box(word, keyOfColumn(word) ?? word))}</div>
        <NameForm
          label="Name of a search key"
          does={() => 'Add'}
          onName={(name) => {
            // It would end the column's word in the address.
            const hasComma = name.includes(',');
            if (hasComma) say('A name with a comma cannot be a column.', 'problem');
            else if (!words.includes(keyColumn(name))) onChoice(toggled(choice, keyColumn(name)));
            return !hasComma;
          }}
        />
      </fieldset>
      {choice !== undefined && (
        <button type="button" class="quiet" onClick={() => onChoice(undefined)}>
          Usual columns
        </button>
      )}
    </Menu>
  );
}

const isKey = (word: string): boolean => keyOfColumn(word) !== undefined;

/** So many jobs of the list are looked at for the names of their search keys. */
const looked = 200;

function keyNames(jobs: readonly Summary[]): readonly string[] {
  const names = jobs.slice(0, looked).flatMap(({ keys = {} }) => Object.keys(keys));
  return [...new Set(names)].filter((name) => !name.includes(','));
}
