import { z } from 'zod';
import { hookSchema, hookStatuses } from '../model/hook.js';
import { storedKeys } from './schemas.js';

/** What the routes about hooks take and answer. */

/** A hook as it is sent. */
export const hookBodySchema = hookSchema
  .safeExtend({ ...storedKeys, type: z.exactOptional(z.literal('hook')) })
  .describe('A hook: an address to which other programs send what starts jobs of a flow.')
  .meta({ id: 'Hook' });

export const storedHookSchema = z
  .object({
    id: z.string(),
    rev: z.string().describe('The revision.'),
    edition: z.string().describe('For If-Match: the same while only engines write the hook.'),
    name: z.string(),
    owner: z.string(),
    path: z.string().describe('Path of its address, to which senders POST.'),
    status: z
      .enum(hookStatuses)
      .describe('disabled and invalid ones take no deliveries; see "problems" of the document.'),
    document: hookBodySchema,
  })
  .meta({ id: 'StoredHook' });

export const hookListSchema = z
  .object({ hooks: z.array(storedHookSchema) })
  .meta({ id: 'HookList' });

export const deliveredSchema = z
  .object({
    outcome: z
      .enum(['started', 'duplicate', 'ignored'])
      .describe('duplicate: it was delivered before; ignored: "match" does not hold for it.'),
    job: z.string().optional().describe('Id of its job.'),
    status: z.string().optional().describe('With "respond": "result": the status of the job.'),
    result: z.unknown().optional().describe('The output of the flow, once the job succeeded.'),
  })
  .meta({ id: 'Delivered' });
