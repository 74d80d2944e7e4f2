import { send } from '../api.js';
import type { EngineAnswer } from '../answers.js';
import { Switch } from '../parts/switch.js';
import { say } from '../parts/toasts.js';

type Props = { readonly engine: EngineAnswer; readonly onSwitched: () => void };

/** Disables an engine, or enables it again. */
export function EngineSwitch({ engine: { id, host, state, in_hand: inHand }, onSwitched }: Props) {
  if (state !== 'running' && state !== 'disabled') return null;
  const turn = async (isOn: boolean): Promise<void> => {
    await send('POST', `engines/${encodeURIComponent(id)}/${isOn ? 'enable' : 'disable'}`);
    say(isOn ? 'It takes work again.' : 'It takes nothing new.');
    onSwitched();
  };
  return (
    <Switch
      isOn={state === 'running'}
      words={{ on: 'Enable', off: 'Disable' }}
      question={`Disable the engine on ${host}?`}
      turn={turn}
    >
      It takes no new work, also after a new start, until somebody enables it. What it has begun
      goes on{inHand > 0 ? `: ${inHand} now` : ''}. Other engines take over the rest.
    </Switch>
  );
}
