import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { AskDialog } from './ask.js';
import { LevelButton } from './level-button.js';
import { say } from './toasts.js';

type Props = {
  readonly isOn: boolean;
  /** The word of each way, as on its button. */
  readonly words: { readonly on: string; readonly off: string };
  /** Asked before it is turned off; `children` say what that does. */
  readonly question: string;
  readonly turn: (isOn: boolean) => Promise<void>;
  readonly children: ComponentChildren;
};

/** A button that turns something off once that is confirmed, or on again. */
export function Switch({ isOn, words, question, turn, children }: Props) {
  const [isAsking, setAsking] = useState(false);
  const turnOn = () => {
    turn(true).catch((error: unknown) => say((error as Error).message, 'problem'));
  };
  if (!isOn) {
    return (
      <LevelButton level="operator" kind="primary" onClick={turnOn}>
        {words.on}
      </LevelButton>
    );
  }
  return (
    <>
      <LevelButton level="operator" onClick={() => setAsking(true)}>
        {words.off} …
      </LevelButton>
      {isAsking && (
        <AskDialog
          title={question}
          does={`${words.off} it`}
          onClose={() => setAsking(false)}
          act={() => turn(false)}
        >
          <p>{children}</p>
        </AskDialog>
      )}
    </>
  );
}
