import { z } from 'zod';
import { refuseUnknown } from './unknown-keys.js';

const places = ['folder', 'database', 's3'] as const;
const bucketKeys = ['bucket', 'prefix', 'region', 'endpoint', 'path_style'] as const;
const ofArchive = 'must be {folder}, {database} or {s3: {bucket}}';
const folderText = 'must be the path of a folder';
const databaseText = 'must be the name of a database, or its URL';
const databaseName = /^[a-z][a-z0-9_$()+/-]*$/;

const text = (error: string) => z.string({ error }).min(1, { error });

const bucketSchema = z
  .looseObject(
    {
      bucket: text('must be the name of a bucket'),
      prefix: z.exactOptional(
        text('must be a text').describe('What the keys of objects begin with.'),
      ),
      region: z.exactOptional(text('must be the name of a region')),
      endpoint: z.exactOptional(
        z
          .url({ protocol: /^https?$/, error: 'must be a URL' })
          .describe('Of a server other than Amazon.'),
      ),
      path_style: z.exactOptional(z.boolean().describe('The bucket in the path, not in the host.')),
    },
    { error: 'must be {bucket}, with {prefix, region, endpoint, path_style} where needed' },
  )
  .superRefine((bucket, context) => refuseUnknown(bucket, bucketKeys, context))
  .meta({ additionalProperties: false });

/** `archive` of `retain` in `tws.json`: where jobs are copied to before they are removed; `{}`: nowhere. */
export const archiveSchema = z
  .looseObject(
    {
      folder: z.exactOptional(
        text(folderText).describe(
          'A folder, from the folder of tws.json on; each batch is a file.',
        ),
      ),
      database: z.exactOptional(
        text(databaseText).describe('Another database of the server, or the URL of one elsewhere.'),
      ),
      s3: z.exactOptional(bucketSchema.describe('A bucket; credentials are those of the AWS SDK.')),
    },
    { error: ofArchive },
  )
  .superRefine((archive, context) => {
    refuseUnknown(archive, places, context);
    refuse(context, mistakesIn(archive));
  })
  .meta({ additionalProperties: false })
  .describe('Where jobs are copied to before they are removed: one place, or {} for none.');

/** `archive` of a flow: whoever may store a flow must not choose any place that an engine can reach. */
export const ownArchiveSchema = archiveSchema
  .superRefine((archive, context) => refuse(context, foreignPlaces(archive)))
  .meta({ additionalProperties: false })
  .describe('Where jobs of this flow are copied to instead: one place, or {} for none.');

/** Where jobs are archived, as it is written. */
export type WrittenArchive = z.infer<typeof archiveSchema>;

type Mistake = readonly [path: readonly string[], message: string];

function refuse(context: z.core.$RefinementCtx<unknown>, mistakes: readonly Mistake[]): void {
  for (const [path, message] of mistakes)
    context.addIssue({ code: 'custom', path: [...path], message });
}

function mistakesIn({ folder, database, s3 }: WrittenArchive): readonly Mistake[] {
  const named = [folder, database, s3].filter((place) => place !== undefined);
  return [
    ...(named.length > 1 ? ([[[], `${ofArchive}: one place only`]] as const) : []),
    ...(database === undefined ? [] : databaseMistakes(database)),
  ];
}

function databaseMistakes(database: string): readonly Mistake[] {
  const path = ['database'];
  if (!database.includes('://')) return databaseName.test(database) ? [] : [[path, databaseText]];
  const url = URL.canParse(database) ? new URL(database) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname.length < 2)
    return [[path, databaseText]];
  const hasLogin = url.username !== '' || url.password !== '';
  return hasLogin ? [[path, 'must hold no user and password: those of this project are used']] : [];
}

function foreignPlaces({ folder, database, s3 }: WrittenArchive): readonly Mistake[] {
  const within = 'must be within the project: only tws.json may name another folder';
  const isWithin =
    folder === undefined || !/^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)/.test(folder);
  const elsewhere = 'must be the name of a database: only tws.json may name another server';
  const server = 'must be left out: only tws.json may name another server';
  return [
    ...(isWithin ? [] : ([[['folder'], within]] as const)),
    ...(database?.includes('://') === true ? ([[['database'], elsewhere]] as const) : []),
    ...(s3?.endpoint === undefined ? [] : ([[['s3', 'endpoint'], server]] as const)),
  ];
}

/** How a place is named to people. */
export function archiveName({ folder, database, s3 }: WrittenArchive): string {
  if (folder !== undefined) return `folder ${folder}`;
  if (database !== undefined) return `database ${database}`;
  return `bucket ${[s3?.bucket, s3?.prefix].filter((part) => part !== undefined).join('/')}`;
}

/** Whether it names a place. */
export function isPlace({ folder, database, s3 }: WrittenArchive): boolean {
  return folder !== undefined || database !== undefined || s3 !== undefined;
}
