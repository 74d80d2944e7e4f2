import type { Page } from 'playwright-core';
import { encryptVersion1 as encrypt } from '../support/version1.js';
import { unlessHeld } from './hold.js';
import { openApi, type TestApi, type TestOptions } from '../http/server.js';

/** The key of the project, for its engines. */
export const cryptoKey = 'key of the orders';

/** Looks at the address, unless it is held. */
const courier = `
export const description = 'Brings a parcel';
export default async ({ params, log, cwd, signal }) => {
  ${unlessHeld}
  log('The courier looks at the address.', { address: params.address });
  if (!params.address) throw new Error('The courier was given no address.');
  return { brought: params.count };
};
`;

/** A flow with a mistake: it gives a parameter that the plugin does not know. */
export const order = {
  type: 'flow',
  name: 'order',
  owner: 'DEFAULT',
  description: 'Packs a parcel and brings it to somebody.',
  tasks: [
    'pack',
    {
      task: 'bring',
      params: { adress: '{{job.params.address}}', count: '{{job.params.count}}' },
    },
  ],
  schema: {
    type: 'object',
    required: ['address', 'count', 'speed'],
    properties: {
      address: { type: 'string', title: 'Address', description: 'Where it goes.', minLength: 3 },
      count: { type: 'integer', title: 'How many', minimum: 1, maximum: 9, default: 1 },
      speed: { enum: ['slow', 'fast'], title: 'Speed' },
      extras: { type: 'array', items: { type: 'string' }, title: 'Extras' },
      day: { type: 'string', format: 'date' },
      gift: { type: 'boolean', title: 'It is a gift' },
      pay: {
        title: 'Payment',
        oneOf: [
          {
            title: 'Card',
            type: 'object',
            required: ['no'],
            properties: { no: { type: 'string' } },
          },
          {
            title: 'Bill',
            type: 'object',
            required: ['to'],
            properties: { to: { type: 'string' } },
          },
        ],
      },
      more: { type: 'object', description: 'Anything.' },
    },
  },
};

/** An API with that flow, a flow without a schema, and tasks; without an engine. */
export async function openOrders(options: TestOptions = {}): Promise<TestApi> {
  const api = await openApi({ files: { 'courier.mjs': courier }, ...options });
  const encrypted = encrypt('hunter3', cryptoKey);
  await api.put(
    { type: 'task', name: 'pack', plugin: 'noop', _id: 'task:DEFAULT:pack' },
    { type: 'task', name: 'bring', plugin: 'courier', _id: 'task:DEFAULT:bring' },
    {
      type: 'task',
      name: 'mail',
      plugin: 'noop',
      params: { smtp: { auth: { user: 'ada', pass: encrypted } }, token: 'hunter2', to: 'a@b.c' },
      _id: 'task:DEFAULT:mail',
    },
    { ...order, _id: 'flow:DEFAULT:order' },
    {
      type: 'flow',
      name: 'plain',
      owner: 'acme',
      enabled: false,
      tasks: ['pack', { parallel: ['mail', 'nowhere'] }],
      _id: 'flow:acme:plain',
    },
  );
  return api;
}

/** The text of an editor: of a long one only what is in view stands in the page. */
export async function editorText(page: Page): Promise<string> {
  return page.evaluate<string>(
    "document.querySelector('.cm-content').cmTile.root.view.state.doc.toString()",
  );
}

/** Puts another text in place of one, with the search of the editor. */
export async function replaceText(page: Page, before: string, after: string): Promise<void> {
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByPlaceholder('Find').fill(before);
  await page.getByPlaceholder('Replace').fill(after);
  await page.getByRole('button', { name: 'replace all' }).click();
  await page.keyboard.press('Escape');
}
