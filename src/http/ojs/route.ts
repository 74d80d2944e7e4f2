import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import { problem, type ProblemCode } from '../../errors.js';
import { defaultOwner } from '../../model/task.js';
import { assertOwner } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import { route, type RouteCall, type Definition, type Route } from '../route.js';
import { known } from '../routes/common.js';
import { ojsPrefix, ojsType, ojsVersion } from './protocol.js';

export const tenantHeader = 'x-ojs-tenant-id';

type Nothing = z.ZodObject;

/** As `Definition`, its path below `/ojs`. The call says who asks, limited to the tenant of its header. */
export type OjsDefinition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = Omit<
  Definition<P, Q, B>,
  'tag' | 'atRoot' | 'facade' | 'handle'
> & {
  readonly handle: (
    call: RouteCall<z.infer<P>, z.infer<Q>, z.infer<B>> & { readonly who: Principal },
  ) => ReturnType<Definition<P, Q, B>['handle']>;
};

/** A route of the façade. */
export function ojsRoute<
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodType = z.ZodUnknown,
>({ handle, path, body, problems = [], headers = {}, ...rest }: OjsDefinition<P, Q, B>): Route {
  const isOpen = rest.access === 'open';
  const own: readonly ProblemCode[] = isOpen
    ? problems
    : [...problems, 'ojs_unsupported', 'owner_refused'];
  const tenant = { [tenantHeader]: 'The owner whose jobs it is about.' };
  const version = { 'ojs-version': `The version that is wanted: ${ojsVersion}.` };
  return route<P, Q, B>({
    ...rest,
    path: `${ojsPrefix}${path}`,
    atRoot: true,
    facade: 'ojs',
    tag: 'ojs',
    problems: own,
    headers: isOpen ? headers : { ...version, ...tenant, ...headers },
    ...(body === undefined ? {} : { body: { types: [ojsType, 'application/json'], ...body } }),
    handle: (call) => {
      const principal = known(call);
      if (isOpen) return handle({ ...call, who: principal });
      assertVersion(call.headers);
      return handle({ ...call, who: limited(principal, call.headers) });
    },
  });
}

/** @throws TwsError `ojs_unsupported` */
function assertVersion(headers: IncomingHttpHeaders): void {
  const [asked] = [headers['ojs-version']].flat();
  if (asked === undefined || /^1(?:\.0(?:\.\d+)?)?(?:-rc\.\d+)?$/.test(asked)) return;
  const what = `Version ${JSON.stringify(asked.slice(0, 50))} of the Open Job Spec`;
  throw problem('ojs_unsupported', { what, because: `this is version ${ojsVersion}.` });
}

/** Whoever names a tenant sees and touches nothing else. @throws TwsError `owner_refused` */
function limited(principal: Principal, headers: IncomingHttpHeaders): Principal {
  const [owner] = [headers[tenantHeader]].flat();
  if (owner === undefined || owner === '') return principal;
  assertOwner(principal, owner);
  return { ...principal, owners: [owner] };
}

/** To whom a new job belongs. @throws TwsError `request_invalid` when that is not clear */
export function ownerOfNew({ owners }: Principal): string {
  if (owners === 'all' || owners.includes(defaultOwner)) {
    return owners === 'all' || owners.length > 1 ? defaultOwner : (owners[0] ?? defaultOwner);
  }
  const [only, second] = owners;
  if (only !== undefined && second === undefined) return only;
  const reason = `it must name one of your owners (${owners.slice(0, 10).join(', ')}).`;
  throw problem('request_invalid', { part: `header ${tenantHeader}`, reason });
}
