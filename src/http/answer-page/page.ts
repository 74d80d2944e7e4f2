import { createHash } from 'node:crypto';
import type { LinkedForm } from '../../client.js';
import type { Problem } from '../../model/problems.js';
import { answerFields, nameOfField, wholeName, type AnswerField, type Typed } from './fields.js';

/* The page behind a link: one form, without scripts, for people who are not signed in. */

/** What was typed, and what is wrong with it. */
export type Filled = { readonly typed: Typed; readonly problems: readonly Problem[] };

const nothingYet: Filled = { typed: {}, problems: [] };

/** The form of a link, empty or as it was filled in. */
export function answerPage({ form, user }: LinkedForm, filled: Filled = nothingYet): string {
  const { title = form.step, text, due, flow, job } = form;
  const fields = answerFields(form.form);
  const about = [
    `You answer as <strong>${html(user)}</strong>.`,
    `Job ${html(job)} of flow ${html(flow)}.`,
    ...(due === undefined ? [] : [`An answer is due ${timeHtml(due)}.`]),
    'The link works once.',
  ];
  return page(
    title,
    `<h1>${html(title)}</h1>
${text === undefined ? '' : `<p class="asked">${html(text)}</p>`}
<p class="about">${about.join(' ')}</p>
${problemsHtml(filled.problems)}
<form method="post">
${fields === undefined ? wholeHtml(filled) : fields.map((one) => fieldHtml(one, filled)).join('\n')}
<button type="submit">Send answer</button>
</form>`,
  );
}

/** A page that says one thing. */
export function messagePage(title: string, text: string): string {
  return page(title, `<h1>${html(title)}</h1>\n<p>${html(text)}</p>`);
}

/** The sentence for every link that does not work. */
export const linkGone =
  'This link does not work. It was used already, has expired, or is not complete. Sign in to answer, or ask for a new link.';

/** Neither scripts nor anything from elsewhere; the style of the page is known by its hash. */
export function answerPolicy(): string {
  const hash = createHash('sha256').update(style, 'utf8').digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${html(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

const style = `:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { margin: 0 auto; max-width: 36rem; overflow-wrap: anywhere; padding: 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
.asked { white-space: pre-wrap; }
fieldset, .field { border: 0; margin: 0 0 1.25rem; padding: 0; }
legend, .field > label { display: block; font-weight: 600; padding: 0; }
.choice { display: block; padding: 0.5rem 0; }
.choice input { height: 1.25rem; margin: 0 0.5rem 0 0; vertical-align: middle; width: 1.25rem; }
.field input, select, textarea { box-sizing: border-box; font: inherit; padding: 0.5rem; width: 100%; }
[aria-invalid="true"] { outline: 2px solid #c62828; }
.problems { border: 2px solid #c62828; border-radius: 6px; margin: 1rem 0; padding: 0.75rem 1rem; }
.problems ul { margin: 0.25rem 0 0; padding-left: 1.25rem; }
.hint { display: block; font-size: 0.9rem; }
button { background: #0b57d0; border: 0; border-radius: 6px; color: #fff; font: inherit; min-height: 2.75rem; padding: 0.5rem 1.25rem; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`;

function problemsHtml(problems: readonly Problem[]): string {
  if (problems.length === 0) return '';
  const lines = problems.map(({ message }) => `<li>${html(message)}</li>`).join('');
  return `<div class="problems" role="alert" tabindex="-1" autofocus><strong>Your answer was not sent:</strong><ul>${lines}</ul></div>`;
}

function wholeHtml({ typed, problems }: Filled): string {
  const wrong = problems.length > 0 ? ' aria-invalid="true"' : '';
  return `<div class="field"><label for="whole">Answer as JSON</label><textarea id="whole" name="${wholeName}" rows="6" spellcheck="false"${wrong}>${html(typed[wholeName] ?? '')}</textarea></div>`;
}

function fieldHtml(field: AnswerField, { typed, problems }: Filled): string {
  const { key, label, about, required, input } = field;
  const name = html(nameOfField(key));
  const value = typed[nameOfField(key)] ?? '';
  const isWrong = problems.some(({ path }) => path === `data.${key}`);
  const hint =
    about === undefined ? '' : `<span class="hint" id="${name}-hint">${html(about)}</span>`;
  const more = [
    `name="${name}"`,
    ...(required ? ['required'] : []),
    ...(isWrong ? ['aria-invalid="true"'] : []),
    ...(about === undefined ? [] : [`aria-describedby="${name}-hint"`]),
  ].join(' ');
  const left = required ? '' : ' (may be left out)';
  if (input.kind === 'flag') {
    const choices = [
      ['true', input.yes],
      ['false', input.no],
    ].map(([of = '', says = '']) => {
      const checked = value === of ? ' checked' : '';
      return `<label class="choice"><input type="radio" value="${of}" ${more}${checked}>${says}</label>`;
    });
    return `<fieldset><legend>${html(label)}${left}</legend>${hint}${choices.join('')}</fieldset>`;
  }
  const labelled = `<label for="${name}">${html(label)}${left}</label>${hint}`;
  return `<div class="field">${labelled}${inputHtml(input, `id="${name}" ${more}`, value)}</div>`;
}

type OneInput = Exclude<AnswerField['input'], { readonly kind: 'flag' }>;

function inputHtml(input: OneInput, more: string, value: string): string {
  switch (input.kind) {
    case 'choice': {
      const options = input.choices.map((choice) => {
        const json = JSON.stringify(choice);
        const says = typeof choice === 'string' ? choice : json;
        const selected = json === value ? ' selected' : '';
        return `<option value="${html(json)}"${selected}>${html(says)}</option>`;
      });
      return `<select ${more}><option value=""></option>${options.join('')}</select>`;
    }
    case 'number': {
      const { whole, min, max } = input;
      const limits = [
        ...(min === undefined ? [] : [`min="${min}"`]),
        ...(max === undefined ? [] : [`max="${max}"`]),
      ].join(' ');
      return `<input type="number" step="${whole ? 1 : 'any'}" ${limits} value="${html(value)}" ${more}>`;
    }
    case 'text':
      return input.long
        ? `<textarea rows="3" ${more}>${html(value)}</textarea>`
        : `<input type="${input.type}" value="${html(value)}" ${more}>`;
    case 'json':
      return `<textarea rows="4" spellcheck="false" ${more}>${html(value)}</textarea>`;
  }
}

function timeHtml(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

const entities: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
  "'": '&#39;',
};

function html(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
