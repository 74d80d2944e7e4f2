import { z } from 'zod';
import { problem } from '../../errors.js';
import { problemOfAnswer } from '../../client-rules.js';
import { answerTyped, type Typed } from '../answer-page/fields.js';
import { answerPage, answerPolicy, linkGone, messagePage } from '../answer-page/page.js';
import type { Api } from '../api.js';
import { readDelivery } from '../plumbing/bodies.js';
import { route, type RouteAnswer } from '../route.js';
import { waiting, waitSchema } from './common.js';
import { isObject } from '../../model/object.js';

const params = z.object({ token: z.string().min(1).describe('The token of the link.') });
const htmlPage = { description: 'A page with the form.', type: 'text/html' } as const;
const gone = { description: 'The link is wrong, used or too old.', type: 'text/html' } as const;

/** An engine that runs has taken an answer by then. */
const patienceMs = 5_000;

/** `GET /answer/TOKEN`: shows the form of a link and changes nothing, since programs follow links in mails. */
export const linkRoute = route({
  method: 'GET',
  path: '/answer/{token}',
  id: 'showLinkedForm',
  tag: 'requests',
  summary: 'The page of a link by which a user may answer a form without signing in.',
  description: 'It changes nothing, whatever follows the link.',
  access: 'open',
  params,
  answers: { 200: htmlPage, 404: gone },
  problems: ['too_many_requests'],
  handle: async ({ api, params: { token }, address }) => {
    const began = arrive(api, address);
    const { answerLinks: links } = api;
    const linked = links && (await api.client.linkedForm({ links, token, now: api.now() }));
    return linked === undefined ? refuse(api, address, began) : asPage(200, answerPage(linked));
  },
});

/** `POST /answer/TOKEN`: answers it, once. */
export const linkAnswerRoute = route({
  method: 'POST',
  path: '/answer/{token}',
  id: 'answerLinkedForm',
  tag: 'requests',
  summary: 'Answer the form of a link, once.',
  access: 'open',
  isCredential: true,
  params,
  query: z.object({
    wait: waitSchema
      .optional()
      .describe('How long to wait for an engine; default 5s, 0: not at all.'),
  }),
  body: {
    schema: z.unknown(),
    types: ['application/x-www-form-urlencoded'],
    checkedBy: 'route',
    isRaw: true,
    // It is read before anybody has proved anything.
    mostBytes: 262_144,
  },
  answers: {
    200: { description: 'The answer is in the job.', type: 'text/html' },
    202: { description: 'It is stored; an engine will put it into the job.', type: 'text/html' },
    404: gone,
    409: { description: 'The job did not take it.', type: 'text/html' },
    422: { description: 'It does not suit the form, which is shown again.', type: 'text/html' },
  },
  problems: ['too_many_requests', 'json_invalid', 'media_type_unknown'],
  handle: async ({ api, params: { token }, query: { wait = patienceMs }, body, ...call }) => {
    const { headers, address, signal: left } = call;
    const began = arrive(api, address);
    const typed = typedIn(readDelivery(headers, body as Buffer));
    const { answerLinks: links } = api;
    if (links === undefined) return refuse(api, address, began);
    const given = { links, token, now: api.now() };
    const sent = await api.client.answerByLink(given, ({ form }) => answerTyped(form, typed));
    switch (sent.kind) {
      case 'gone':
        return refuse(api, address, began);
      case 'unfit':
        return asPage(422, answerPage(sent.linked, { typed, problems: sent.problems }));
      case 'sent': {
        const { job } = sent.linked.form;
        const told = await waiting(api, wait, (waitMs) =>
          api.client.answer({ job, id: sent.signal }, { waitMs, signal: left }),
        );
        const refusal = told.kind === 'failed' ? undefined : problemOfAnswer(told, job);
        if (refusal !== undefined)
          return asPage(409, messagePage('Your answer was not taken', refusal.message));
        return asPage(told.kind === 'pending' ? 202 : 200, messagePage('Thank you', thanks));
      }
    }
  },
});

const thanks = 'Your answer was recorded. You can close this page.';

/** When a request came. @throws TwsError `too_many_requests` */
function arrive({ linkRefusals }: Api, address: string): number {
  const seconds = linkRefusals.wait(address);
  if (seconds !== undefined) throw problem('too_many_requests', { seconds });
  return linkRefusals.now();
}

async function refuse({ linkRefusals }: Api, address: string, began: number): Promise<RouteAnswer> {
  await linkRefusals.refuse(address, began);
  return asPage(404, messagePage('This link does not work', linkGone));
}

/** Of a field that was sent twice the first counts. */
function typedIn(given: unknown): Typed {
  const entries = isObject(given) ? Object.entries(given) : [];
  return Object.fromEntries(
    entries.map(([key, value]) => [key, String(Array.isArray(value) ? value[0] : value)]),
  );
}

function asPage(status: number, body: string): RouteAnswer {
  return {
    status,
    type: 'text/html; charset=utf-8',
    body,
    headers: { 'content-security-policy': answerPolicy(), 'x-robots-tag': 'noindex' },
  };
}
