import { z } from 'zod';
import { pagePolicy } from '../answers/headers.js';
import { referencePage, referenceStyle } from '../reference/page.js';
import { route } from '../route.js';

export const openApiRoute = route({
  method: 'GET',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'reference',
  summary: 'This API as an OpenAPI 3.1 document.',
  access: 'open',
  answers: { 200: { description: 'The document.', schema: z.record(z.string(), z.unknown()) } },
  handle: ({ api }) => ({
    status: 200,
    type: 'application/json',
    body: JSON.stringify(api.reference()),
  }),
});

export const docsRoute = route({
  method: 'GET',
  path: '/docs/api',
  id: 'getDocs',
  tag: 'reference',
  summary: 'This API as a page to read.',
  access: 'open',
  answers: { 200: { description: 'The page.', type: 'text/html' } },
  handle: ({ api }) => ({
    status: 200,
    type: 'text/html; charset=utf-8',
    body: referencePage(api.reference()),
    headers: { 'content-security-policy': pagePolicy },
  }),
});

export const styleRoute = route({
  method: 'GET',
  path: '/docs/api/style.css',
  id: 'getDocsStyle',
  tag: 'reference',
  summary: 'The style of that page.',
  access: 'open',
  answers: { 200: { description: 'The style sheet.', type: 'text/css' } },
  handle: () => ({ status: 200, type: 'text/css; charset=utf-8', body: referenceStyle }),
});
