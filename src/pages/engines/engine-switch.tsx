import { useState } from 'preact/hooks';
import { send } from '../api.js';
import type { EngineAnswer } from '../answers.js';
import { AskDialog } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';

type Props = { readonly engine: EngineAnswer; readonly onSwitched: () => void };

/** Disables an engine, or enables it again. */
export function EngineSwitch({ engine: { id, host, state, in_hand: inHand }, onSwitched }: Props) {
  const [isAsking, setAsking] = useState(false);
  const turn = async (word: 'enable' | 'disable'): Promise<void> => {
    await send('POST', `engines/${encodeURIComponent(id)}/${word}`);
    say(word === 'enable' ? 'It takes work again.' : 'It takes nothing new.');
    onSwitched();
  };
  if (state === 'disabled') {
    return (
      <LevelButton
        level="operator"
        kind="primary"
        onClick={() => {
          turn('enable').catch((error: unknown) => say((error as Error).message, 'problem'));
        }}
      >
        Enable
      </LevelButton>
    );
  }
  if (state !== 'running') return null;
  return (
    <>
      <LevelButton level="operator" onClick={() => setAsking(true)}>
        Disable …
      </LevelButton>
      {isAsking && (
        <AskDialog
          title={`Disable the engine on ${host}?`}
          does="Disable it"
          onClose={() => setAsking(false)}
          act={() => turn('disable')}
        >
          <p>
            It takes no new work, also after a new start, until somebody enables it. What it has
            begun goes on{inHand > 0 ? `: ${inHand} now` : ''}. Other engines take over the rest.
          </p>
        </AskDialog>
      )}
    </>
  );
}
