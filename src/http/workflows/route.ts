import type { z } from 'zod';
import { TwsError } from '../../errors.js';
import { assertOwner } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { Refused, toAnswer, type ProblemAnswer } from '../answers/problems.js';
import { route, type Definition, type Route, type RouteAnswer, type RouteCall } from '../route.js';
import { known } from '../routes/common.js';

/** The owner whose workflows and jobs a request is about. */
export const ownerHeader = 'x-tws-owner';

type Nothing = z.ZodObject;

/** As `Definition`, its path at the root. The call says who asks, limited to the owner of its header. */
export type ChainRouteDefinition<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
> = Omit<Definition<P, Q, B>, 'tag' | 'atRoot' | 'handle' | 'answers' | 'id' | 'summary'> & {
  readonly handle: (
    call: RouteCall<z.infer<P>, z.infer<Q>, z.infer<B>> & { readonly who: Principal },
  ) => Promise<RouteAnswer>;
};

/** A route of node-workflow: its problems have the form that its clients read. */
export function chainRoute<
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodType = z.ZodUnknown,
>({ handle, ...rest }: ChainRouteDefinition<P, Q, B>): Route {
  const { method, path } = rest;
  const made = route<P, Q, B>({
    ...rest,
    id: `${method} ${path}`,
    summary: 'A route of node-workflow.',
    tag: 'node_workflow',
    atRoot: true,
    answers: {},
    handle: (call) => handle({ ...call, who: limited(known(call), call.headers[ownerHeader]) }),
  });
  return {
    ...made,
    run: async (call) => {
      const [given] = [call.headers['request-id']].flat();
      const named = given === undefined ? {} : { 'request-id': given };
      try {
        const answer = (await made.run(call)) as RouteAnswer;
        return { ...answer, headers: { ...answer.headers, ...named } };
      } catch (error) {
        if (!(error instanceof TwsError) && !(error instanceof Refused)) throw error;
        return { ...refusalAnswer(toAnswer(error, call.api.log)), headers: named };
      }
    },
  };
}

/** @throws TwsError `owner_refused` */
function limited(who: Principal, header: string | string[] | undefined): Principal {
  const [owner] = [header].flat();
  if (owner === undefined || owner === '') return who;
  assertOwner(who, owner);
  return { ...who, owners: [owner] };
}

/** The words of its clients, by status. */
const codes: Readonly<Record<number, string>> = {
  401: 'InvalidCredentials',
  403: 'NotAuthorized',
  404: 'ResourceNotFound',
  409: 'ConflictError',
  429: 'RequestThrottled',
};

/** Of what is missing or wrong in what was sent. */
const argumentCodes: ReadonlySet<string> = new Set([
  ...['workflow_taken', 'workflow_target', 'not_unique', 'id_taken'],
  ...['document_invalid', 'request_invalid', 'document_refused', 'unique_key', 'id_unfit'],
]);

/** What is wrong with what was sent is a conflict there. */
function refusalAnswer({ status: own, body }: ProblemAnswer): RouteAnswer {
  const isArgument = argumentCodes.has(body.error);
  const status = own === 400 || isArgument ? 409 : own;
  const code = isArgument ? 'InvalidArgument' : (codes[status] ?? 'InternalError');
  return { status, body: { code, message: body.reason, hint: body.hint } };
}
