import { expect, it } from 'vitest';
import { job } from '../support/documents.js';
import { openOjs } from './ojs-api.js';

it('an event that is stored after younger ones is told behind the last page, and page by page', async () => {
  const api = await openOjs();
  const store = async (id: string, at: number): Promise<void> => {
    await api.put({ ...job('f'), _id: id, ojs: { created_at: at } });
  };
  type Told = { events: readonly { subject: string }[]; cursor: string; has_more: boolean };
  const told = async (query: string) => {
    const { body } = await api.ojs<Told>('GET', `/v1/events?${query}`);
    return { ...body, of: body.events.map(({ subject }) => subject) };
  };
  await store('old', Date.now() - 60_000);
  await store('young1', Date.now() + 60_000);
  await store('young2', Date.now() + 60_001);
  const first = await told('limit=2');
  expect(first).toMatchObject({ of: ['old', 'young1'], has_more: true });
  await store('late', Date.now());
  const second = await told(`limit=2&after=${first.cursor}`);
  expect(second).toMatchObject({ of: ['young2'], has_more: false });
  const third = await told(`limit=9&after=${second.cursor}`);
  expect(third).toMatchObject({ of: ['late', 'young1', 'young2'], has_more: false });
});
