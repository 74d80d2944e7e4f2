import { z } from 'zod';
import { isObject } from '../model/object.js';
import { flagSchema, jsonSchemaSchema, nameSchema, textSchema } from '../model/scalars.js';
import { writtenLengthSchema } from '../model/span.js';
import type { Approval, Entry, PeopleAsked } from '../model/tree.js';
import { counted, lengthOf } from '../words.js';

/* Waits for people: what an entry may say of a form, of who may answer it and of when they are reminded. */

const personText = 'must be a name, or a list of names';
const personSchema = z
  .union(
    [textSchema.min(1, { error: personText }), z.array(textSchema.min(1, { error: personText }))],
    {
      error: personText,
    },
  )
  .refine((named) => named.length > 0, { error: personText });

/** What the engine adds to an answer. */
const added = ['by', 'at', 'as'] as const;
const formText = 'must be a JSON Schema of an object';

/** Fields of an answer. `type` may be left out. */
const formSchema = jsonSchemaSchema
  .refine(({ type = 'object' }) => type === 'object', {
    error: formText,
    params: { isComplete: true },
  })
  .superRefine(({ properties }, context) => {
    const taken = isObject(properties)
      ? added.find((key) => Object.hasOwn(properties, key))
      : undefined;
    if (taken === undefined) return;
    const message = `must not be there: "${taken}" of an answer says ${saysOf[taken]}`;
    const path = ['properties', taken];
    context.addIssue({ code: 'custom', path, message, params: { isComplete: true } });
  });

const saysOf = {
  by: 'who answered',
  at: 'when somebody answered',
  as: 'why somebody was allowed to answer',
} as const;

const whoFields = {
  assignee: z.exactOptional(
    personSchema.describe('Who may answer: names of users, with templates.'),
  ),
  group: z.exactOptional(personSchema.describe('Roles of users who may answer, with templates.')),
};

const remindText =
  'must be a duration, {"before_due": duration}, or a list of these, in milliseconds or ISO 8601';
const reminderSchema = z.union(
  [writtenLengthSchema, z.strictObject({ before_due: writtenLengthSchema }, { error: remindText })],
  { error: remindText },
);

/** Each reminder is a revision of the job. */
const mostReminders = 100;
const manyText = `must be at most ${mostReminders} reminders`;

const linkText = 'must be a duration in milliseconds or ISO 8601, or false';

/** What waits for people may say beside their form. */
export const peopleFields = {
  title: z.exactOptional(textSchema.describe('Title of the form; templates are filled in.')),
  text: z.exactOptional(
    textSchema.describe('What is asked, in the form; templates are filled in.'),
  ),
  ...whoFields,
  due: z.exactOptional(
    writtenLengthSchema.describe('How long after its begin an answer is due; nothing ends then.'),
  ),
  remind: z.exactOptional(
    z
      .union(
        [
          reminderSchema,
          z.array(reminderSchema, { error: remindText }).max(mostReminders, { error: manyText }),
        ],
        { error: remindText },
      )
      .describe('Reminders: durations after its begin, or {"before_due": duration}.'),
  ),
  escalate: z.exactOptional(
    z
      .strictObject(
        {
          after: writtenLengthSchema.describe('So long after its begin.'),
          ...whoFields,
        },
        { error: 'must be {after, assignee, group}' },
      )
      .describe('Who may answer as well, once so much time is over.'),
  ),
  link: z.exactOptional(
    z
      .union([writtenLengthSchema, z.literal(false)], { error: linkText })
      .describe(
        'How long links by which users may answer without signing in are good; default: until it is due, else seven days; false: there are none.',
      ),
  ),
};

/** The form of a wait. */
export const formFields = {
  form: z.exactOptional(
    formSchema.describe('JSON Schema of the answer of a person; pages make a form of it.'),
  ),
  ...peopleFields,
};

/** The keys that are only for waits with a form. */
export const peopleKeys = Object.keys(peopleFields) as readonly (keyof typeof peopleFields)[];

type Refuse = (path: string, message: string) => void;

/** Tells what does not go together. */
export function judgePeople(asked: PeopleAsked, refuse: Refuse): void {
  const { due, remind, escalate } = asked;
  const reminders = remind === undefined ? [] : [remind].flat();
  const isBeforeDue = reminders.some((one) => typeof one === 'object');
  if (isBeforeDue && due === undefined)
    refuse('remind', 'must not have "before_due" where there is no "due"');
  if (escalate !== undefined && escalate.assignee === undefined && escalate.group === undefined)
    refuse('escalate', 'must name an "assignee" or a "group"');
}

const onRefuseText = 'must be "fail" or "continue"';

/** What an approval may say. */
export const approvalSchema = z
  .looseObject(
    {
      ...peopleFields,
      comment: z.exactOptional(
        flagSchema.describe(
          'true: a comment must be given; false: there is none. Default: may be given.',
        ),
      ),
      form: z.exactOptional(formSchema.describe('JSON Schema of further fields.')),
      on_refuse: z.exactOptional(
        z
          .enum(['fail', 'continue'], { error: onRefuseText })
          .describe('What a refusal does: the step fails (NotApproved), or the flow goes on.'),
      ),
      signal: z.exactOptional(nameSchema.describe('Name of the signal that brings the answer.')),
      timeout: z.exactOptional(
        writtenLengthSchema.describe('Milliseconds, or ISO 8601 ("PT30S"); 0 = no limit.'),
      ),
    },
    { error: 'must be an object such as {"title": text, "assignee": name}' },
  )
  .superRefine((asked, context) => {
    judgePeople(asked, (path, message) =>
      context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } }),
    );
  });

/** What an entry asks of people, with the JSON Schema of their answer; undefined: nothing. */
export type FormAsked = PeopleAsked & {
  readonly form: Readonly<Record<string, unknown>>;
  /** Where it is written: `wait` or `approve`. */
  readonly word: 'wait' | 'approve';
  readonly signal?: string;
  readonly timeout?: number;
  /** A refusal fails the step. */
  readonly mayFail: boolean;
};

/** Returns what an entry asks of people. */
export function formAskedBy({ wait, approve }: Entry): FormAsked | undefined {
  if (approve !== undefined) {
    const { on_refuse: onRefuse = 'fail', ...asked } = approve;
    const form = approvalForm(approve);
    return { ...asked, form, word: 'approve', mayFail: onRefuse === 'fail' };
  }
  if (wait?.form === undefined) return undefined;
  return { ...wait, form: { type: 'object', ...wait.form }, word: 'wait', mayFail: false };
}

/** Returns the JSON Schema of the answer to an approval. */
function approvalForm({ comment, form = {} }: Approval): Readonly<Record<string, unknown>> {
  const { properties = {}, required = [], ...more } = form;
  const commented = {
    type: 'string',
    title: 'Comment',
    ...(comment === true ? { minLength: 1 } : {}),
  };
  const approved = { type: 'boolean', title: 'Approved' };
  return {
    type: 'object',
    additionalProperties: false,
    ...more,
    // No schema names a field twice.
    required: [
      ...new Set([
        'approved',
        ...(comment === true ? ['comment'] : []),
        ...(Array.isArray(required) ? (required as readonly unknown[]) : []),
      ]),
    ],
    properties: {
      approved,
      ...(comment === false ? {} : { comment: commented }),
      ...(isObject(properties) ? { ...properties, approved } : {}),
    },
  };
}

/** What a flow says of a wait for people beside its title: when somebody is told, and by which links it is answered. */
export function peopleNotes({ due, remind, escalate, link }: PeopleAsked): readonly string[] {
  const reminders = remind === undefined ? 0 : [remind].flat().length;
  return [
    ...(due === undefined ? [] : [`due after ${lengthOf(due)}`]),
    ...(reminders === 0 ? [] : [counted(reminders, 'reminder')]),
    ...(escalate === undefined ? [] : [`escalates after ${lengthOf(escalate.after)}`]),
    ...(link === undefined ? [] : [link === false ? 'no links' : `links for ${lengthOf(link)}`]),
  ];
}

/** The ways to the texts of a wait for people that may hold templates. */
export const waysToAsked = (word: FormAsked['word']): readonly string[] =>
  ['signal', 'title', 'text', 'assignee', 'group', 'escalate.assignee', 'escalate.group'].map(
    (key) => `${word}.${key}`,
  );
