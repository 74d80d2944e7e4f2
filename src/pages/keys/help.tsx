import { useMemo } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Dialog } from '../parts/dialog.js';
import { activeKeys, helpIsOpen, useKeys } from './keys.js';

const names: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
};

/** The keys that work on every page, and the help about all that work now. */
export function KeyHelp() {
  const [, navigate] = useLocation();
  const actions = useMemo(
    () => [
      {
        keys: ['?'],
        does: 'Show the keys',
        act: () => {
          helpIsOpen.value = true;
        },
      },
      { keys: ['1'], does: 'Overview', act: () => navigate('/') },
      { keys: ['2'], does: 'Jobs', act: () => navigate('/jobs') },
      { keys: ['3'], does: 'Flows', act: () => navigate('/flows') },
      { keys: ['4'], does: 'Tasks', act: () => navigate('/tasks') },
      { keys: ['5'], does: 'Schedules', act: () => navigate('/schedules') },
      { keys: ['6'], does: 'Engines', act: () => navigate('/engines') },
    ],
    [navigate],
  );
  useKeys(actions);
  if (!helpIsOpen.value) return null;
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        helpIsOpen.value = false;
      }}
    >
      <dl class="keys">
        {activeKeys().map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{names[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
