import type { RefObject } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { ApiProblem, get } from '../api.js';
import type { JobList, StoredJob } from '../answers.js';
import type { ListFilter } from './filter.js';
import { completionsOf, readSearch } from './find-language.js';

type FindProps = {
  readonly box: RefObject<HTMLInputElement>;
  readonly onFilter: (filter: ListFilter) => void;
  readonly flows: readonly string[];
};

/**
 * Opens a job by its id. `field:value` words filter; NAME=VALUE is a search key; anything else is the
 * beginning of ids, or an external id where there is one.
 */
export function FindBox({ box, onFilter, flows }: FindProps) {
  const [text, setText] = useState('');
  const { busy, problem, find, forget } = useFind(onFilter);
  const completions = useMemo(() => completionsOf(text, flows), [text, flows]);
  const id = useId();
  return (
    <div class="find-box">
      <label class="field find">
        <span>Find a job</span>
        <input
          ref={box}
          type="search"
          placeholder="id, NAME=VALUE, or status:failed flow:…"
          title={findHelp}
          list="find-completions"
          aria-keyshortcuts="/"
          aria-busy={busy}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : id}
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            forget();
          }}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Enter') void find(text);
            if (key === 'Escape') currentTarget.blur();
          }}
        />
        <datalist id="find-completions">
          {completions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </label>
      {problem !== undefined && (
        <p id={id} class="find-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Finds what was written, or says in a sentence why that cannot be. */
function useFind(onFilter: FindProps['onFilter']) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const find = async (text: string): Promise<void> => {
    if (text.trim() === '') return;
    const { filter, rest, problem: wrong } = readSearch(text);
    setProblem(wrong);
    if (wrong !== undefined) return;
    const given = filter ?? { status: [] };
    if (rest.includes('=')) return onFilter({ ...given, key: rest });
    if (filter !== undefined) return onFilter(rest === '' ? given : { ...given, id_prefix: rest });
    setBusy(true);
    try {
      const found = await foundBy(rest);
      if (found === 'job') navigate(`/jobs/${encodeURIComponent(rest)}`);
      else onFilter({ status: [], [found]: rest });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, find, forget: () => setProblem(undefined) };
}

const findHelp =
  'An id or its beginning, an external id, NAME=VALUE, or words such as status:failed,running flow:etl text:"no amount" id:import- tag:nightly owner:acme';

/** What a text that is no filter means. */
async function foundBy(text: string): Promise<'job' | 'external_id' | 'id_prefix' | 'text'> {
  if (/\s/.test(text)) return 'text';
  try {
    await get<StoredJob>(`jobs/${encodeURIComponent(text)}`);
    return 'job';
  } catch (error) {
    // Refused: it is no id of a job that may be seen. Anything else went wrong.
    const isRefused = error instanceof ApiProblem && error.status >= 400 && error.status < 500;
    if (!isRefused) throw error;
  }
  const query = { external_id: text, limit: 1 };
  const { jobs } = await get<JobList>('jobs', { query });
  return jobs.length > 0 ? 'external_id' : 'id_prefix';
}
