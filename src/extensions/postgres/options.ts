/** The extension's options: the schema and the type. */
import { booleanOption } from '../../component/option-schema.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly data_dir: string;
  readonly views_schema: string;
  readonly allow_unsafe: boolean;
}

export const POSTGRES_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      default: '',
      secret: true,
      description:
        'Connection URL, such as postgres://user:password@host:5432/database. Left out or empty: an embedded server.',
    },
    data_dir: {
      type: 'string',
      minLength: 1,
      default: './data',
      description: 'Where the embedded server keeps its database.',
    },
    views_schema: {
      type: 'string',
      pattern: '^[a-z_][a-z0-9_]{0,62}$',
      default: 'public',
      description:
        'The schema of the readable views, in lower-case letters, digits and `_`; the tables themselves are in `sluice`.',
    },
    allow_unsafe: booleanOption(false, 'Start even when the server runs with fsync or full_page_writes off.'),
  },
} as const;
