import { expect } from 'vitest';
import { task } from '../cli/terminal.js';
import { openApi, type Asking, type Reply, type TestApi } from './server.js';

/** A job as the façade tells it. */
export type Envelope = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly state: string;
  readonly args: readonly unknown[];
};
export type Answered = { readonly job: Envelope };
export type Fetched = { readonly jobs: readonly Envelope[] };

/** A running API with the façade. */
export type Ojs = Omit<TestApi, 'put'> & {
  readonly put: (...documents: readonly object[]) => Promise<readonly string[]>;
  /** A request to a path below `/ojs`. */
  readonly ojs: <T = Record<string, unknown>>(
    method: string,
    path: string,
    asking?: Asking,
  ) => Promise<Reply<T>>;
  readonly enqueue: (order: object, asking?: Asking) => Promise<Envelope>;
  /** Fetches until there is something. */
  readonly fetched: (wish?: object) => Promise<readonly Envelope[]>;
};

/** Starts the API over real HTTP; it ends with the test. */
export async function openOjs(...given: Parameters<typeof openApi>): Promise<Ojs> {
  const api = await openApi(...given);
  const ojs: Ojs['ojs'] = (method, path, asking) => api.ask(method, `/ojs${path}`, asking);
  const fetched: Ojs['fetched'] = async (wish = {}) => {
    let jobs: readonly Envelope[] = [];
    const body = { queues: ['default'], worker_id: 'w1', ...wish };
    await expect
      .poll(async () => {
        jobs = (await ojs<Fetched>('POST', '/v1/workers/fetch', { body })).body.jobs;
        return jobs.length;
      })
      .toBeGreaterThan(0);
    return jobs;
  };
  return {
    ...api,
    put: (...documents) => api.put(...documents.map((doc) => ({ ...doc }))),
    ojs,
    fetched,
    enqueue: async (order, asking = {}) => {
      const answer = await ojs<Answered>('POST', '/v1/jobs', { body: order, ...asking });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.job;
    },
  };
}

/** A task whose steps are done by workers. */
export const work = task('email.send', { plugin: 'worker' });

/** Whether a step of a job waits for a worker. */
export function isOffered(doc: object): boolean {
  return JSON.stringify(doc).includes('"signal":"work/');
}
