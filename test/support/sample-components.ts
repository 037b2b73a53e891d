/** Small components with every kind of option, so that tests of the configuration do not depend on the real ones. */
import type { Definition } from '../../src/component/definition.ts';
import { defineExporter } from '../../src/component/exporter.ts';
import { defineExtension } from '../../src/component/extension.ts';
import { defineProcessor } from '../../src/component/processor.ts';
import { defineReceiver } from '../../src/component/receiver.ts';

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});
const common = { stability: 'stable', example: '{}' } as const;
const everything = ['traces', 'logs', 'metrics'] as const;
const unused = (): never => {
  throw new Error('not created in this test');
};

const otlp = defineReceiver({
  ...common,
  type: 'otlp',
  summary: 'Takes OTLP.',
  signals: everything,
  schema: object({
    protocols: object(
      {
        http: object(
          {
            endpoint: {
              type: 'string',
              format: 'endpoint',
              default: '127.0.0.1:4318',
              description: 'Where to listen.',
            },
            max_size: {
              type: 'integer',
              format: 'byte_size',
              minimum: 1,
              maximum: 16777216,
              default: '4MiB',
              description: 'Size.',
            },
            timeout: { type: 'integer', format: 'duration', minimum: 100, default: '30s', description: 'Time.' },
            depth: { type: 'integer', minimum: 1, maximum: 100, default: 32, description: 'Depth.' },
            keep_alive: { type: 'boolean', default: true, description: 'Whether connections are kept.' },
            sunset: { type: 'string', format: 'date', description: 'A date.' },
          },
          { default: {}, description: 'HTTP.' },
        ),
      },
      { default: {}, description: 'Protocols.' },
    ),
  }),
  create: unused,
});

const auth = defineProcessor({
  ...common,
  type: 'auth',
  summary: 'Checks keys.',
  requires: [],
  provides: ['project'],
  schema: object({
    keys: {
      type: 'array',
      default: [],
      maxItems: 3,
      description: 'Keys.',
      items: object(
        {
          key: { type: 'string', minLength: 16, secret: true, description: 'The key itself.' },
          project: { type: 'string', minLength: 1, description: 'The project.' },
          plan: { type: 'string', enum: ['free', 'paid'], default: 'paid', description: 'The plan.' },
        },
        { required: ['key', 'project'], description: 'One key.' },
      ),
    },
  }),
  create: unused,
});

const environment = defineProcessor({
  ...common,
  type: 'environment',
  summary: 'Finds the environment.',
  requires: ['project'],
  provides: ['environment'],
  schema: object({ default: { type: 'string', default: 'default', pattern: '^[a-z]+$', description: 'Default.' } }),
  create: unused,
});

const normalization = defineProcessor({
  ...common,
  type: 'normalization',
  summary: 'Finds model calls.',
  requires: ['environment'],
  provides: ['derived'],
  schema: object({}),
  create: unused,
});

const labels = defineProcessor({
  ...common,
  type: 'labels',
  summary: 'Adds attributes.',
  requires: [],
  provides: [],
  precedes: ['derived'],
  schema: object({}),
  create: unused,
});

const pricing = defineProcessor({
  ...common,
  type: 'pricing',
  summary: 'Prices model calls.',
  requires: ['derived'],
  provides: ['cost'],
  schema: object({
    overrides: {
      type: 'array',
      default: [],
      uniqueItems: true,
      description: 'Own prices.',
      items: {
        description: 'A model by name, or by prefix.',
        anyOf: [{ type: 'string' }, object({ prefix: { type: 'string' } }, { required: ['prefix'] })],
      },
    },
    labels: {
      type: 'object',
      default: {},
      maxProperties: 2,
      additionalProperties: { type: 'string' },
      description: 'Labels.',
    },
  }),
  create: unused,
});

const file = defineExporter({
  ...common,
  type: 'file',
  summary: 'Writes a file.',
  requires: ['project'],
  signals: everything,
  schema: object({ path: { type: 'string', description: 'Where to write.' } }, { required: ['path'] }),
  create: unused,
});

const postgresExporter = defineExporter({
  ...common,
  type: 'postgres',
  summary: 'Writes to Postgres.',
  requires: ['cost'],
  signals: everything,
  ledger: 'postgres',
  once: 'pipeline',
  schema: object({ ratio: { type: 'number', exclusiveMinimum: 0, default: 0.5, description: 'A ratio.' } }),
  create: unused,
});

const tracesOnly = defineExporter({
  ...common,
  type: 'traces_only',
  summary: 'Takes traces alone.',
  requires: [],
  signals: ['traces'],
  schema: object({}),
  once: 'service',
  create: unused,
});

const postgresExtension = defineExtension({
  ...common,
  type: 'postgres',
  summary: 'Connects to Postgres.',
  schema: object({
    url: { type: 'string', secret: true, description: 'The URL.' },
    data_dir: { type: 'string', default: './data', description: 'Data.' },
  }),
  create: unused,
});

const healthCheck = defineExtension({
  ...common,
  type: 'health_check',
  summary: 'Tells readiness.',
  schema: object({
    endpoint: { type: 'string', format: 'endpoint', default: '127.0.0.1:13133', description: 'Where.' },
  }),
  create: unused,
});

export const SAMPLE_COMPONENTS: readonly Definition[] = [
  otlp,
  auth,
  environment,
  normalization,
  labels,
  pricing,
  file,
  postgresExporter,
  tracesOnly,
  postgresExtension,
  healthCheck,
];
