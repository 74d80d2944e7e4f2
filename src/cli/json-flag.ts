import { z } from 'zod';

/** A value on the command line: JSON, or else the text as it stands, unless it is meant to be JSON. */
export const dataFlag = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (!/^\s*[[{]/.test(text)) return text;
    context.addIssue({
      code: 'custom',
      message: `begins like JSON and is none; names and texts in it need double quotes: '{"by": "ada"}'`,
    });
    return z.NEVER;
  }
});

/** A JSON object on the command line. */
export const jsonFlag = z.string().transform((text, context): unknown => {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  context.addIssue({ code: 'custom', message: `must be a JSON object such as {"a": {"x": 1}}` });
  return z.NEVER;
});
