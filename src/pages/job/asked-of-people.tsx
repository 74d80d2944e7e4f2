import { timerWords, wayWords } from '../../reading/form-words.js';
import type { FormAnswerFacts, FormFacts, FormTimerFacts } from '../../reading/form-facts.js';
import { Fact } from '../parts/fact.js';
import { JsonView } from '../parts/json.js';
import { Ago, exact } from '../parts/time.js';
import { now } from '../live/clock.js';
import { withCode } from '../parts/with-code.js';

/** What a step asks or asked of people: whom, until when, what is told meanwhile, and who answered. */
export function AskedOfPeople({ form }: { readonly form: FormFacts }) {
  const { title, people, since, due, until, timers, answered, state } = form;
  const isOpen = state === '$$waiting';
  const links = form.links.filter(({ until: end }) => isOpen && end > now.value);
  return (
    <section class="asked-of-people" aria-label="Asked of people">
      {answered !== undefined && <Answered answered={answered} />}
      <dl class="facts">
        {title !== undefined && title !== '' && <Fact name="Asks" value={title} />}
        <Fact name="Of" value={people} />
        {since !== undefined && <Fact name="Since" value={<Ago at={since} />} />}
        {due !== undefined && <Fact name="Due" value={<Ago at={due} />} />}
        {isOpen && until !== undefined && <Fact name="At most until" value={<Ago at={until} />} />}
      </dl>
      {(timers.length > 0 || links.length > 0) && (
        <ul class="timers">
          {timers.map((timer) => (
            <Timer key={`${timer.event} ${timer.at}`} timer={timer} isOpen={isOpen} />
          ))}
          {links.map(({ for: user, until: end }) => (
            <li key={`${user} ${end}`}>
              The link of {user} works until {exact(end)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Left out: what an answered step does not come to any more, and when it is due, which stands above. */
function Timer({ timer, isOpen }: { readonly timer: FormTimerFacts; readonly isOpen: boolean }) {
  if (timer.told === undefined && (!isOpen || timer.event === 'due')) return null;
  return <li class={timer.told === undefined ? 'muted' : undefined}>{timerWords(timer, exact)}</li>;
}

function Answered({ answered }: { readonly answered: FormAnswerFacts }) {
  const { by = 'somebody', at, as, answer } = answered;
  return (
    <>
      <p>
        Answered by <strong>{by}</strong>
        {as === 'admin' && ' as an administrator'} <Ago at={at} /> {withCode(wayWords(answered))}.
      </p>
      {answer !== undefined && (
        <details open>
          <summary>Answer</summary>
          <JsonView value={answer} what="answer" />
        </details>
      )}
    </>
  );
}
