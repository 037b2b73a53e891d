/** The options of the `service` section, declared as a component declares its own. */
import type { OptionsSchema } from '../component/component.ts';

/** More pipelines than this is a generated file gone wrong. */
const MAX_PIPELINES = 100;
const MAX_LISTED = 100;
const MAX_EXCLUDED_PROJECTS = 100;

const idList = (description: string, minimum: number) => ({
  type: 'array',
  minItems: minimum,
  maxItems: MAX_LISTED,
  items: { type: 'string', minLength: 1, description: 'A component id: type or type/name.' },
  description,
});

const pipeline = {
  type: 'object',
  description: 'One signal from its receivers through the processors, in this order, to every exporter.',
  additionalProperties: false,
  required: ['receivers', 'exporters'],
  properties: {
    receivers: idList('Where the records come from.', 1),
    processors: { ...idList('What happens to them, in this order.', 0), default: [] },
    exporters: idList('Where they are stored. A request is answered when all of them have it.', 1),
  },
} as const;

export const SERVICE_SCHEMA: OptionsSchema = {
  type: 'object',
  description: 'What runs, and how.',
  additionalProperties: false,
  required: ['pipelines'],
  properties: {
    ledger: {
      type: 'string',
      enum: ['postgres', 'memory'],
      default: 'postgres',
      description:
        'Where replays, trace ownership and quotas are decided: in Postgres, durably and for all replicas; or in memory, since the start of this process.',
    },
    shutdown_timeout: {
      type: 'string',
      format: 'duration',
      atLeast: '1s',
      atMost: '1h',
      default: '15s',
      description: 'How long requests in flight may take to finish when the daemon stops.',
    },
    extensions: { ...idList('The extensions that run, in the order they start.', 0), default: [] },
    pipelines: {
      type: 'object',
      minProperties: 1,
      maxProperties: MAX_PIPELINES,
      description: 'One or more pipelines, each named traces, logs or metrics, optionally with /name.',
      additionalProperties: pipeline,
    },
    telemetry: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'What the daemon says about itself.',
      properties: {
        logs: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'The log, on standard error.',
          properties: {
            level: {
              type: 'string',
              enum: ['debug', 'info', 'warn', 'error'],
              default: 'info',
              description: 'The least severe lines to write.',
            },
            format: {
              type: 'string',
              enum: ['auto', 'json', 'pretty'],
              default: 'auto',
              description: 'One JSON object a line, or text for people; auto decides by whether a terminal reads it.',
            },
            sampling: {
              type: 'object',
              additionalProperties: false,
              default: {},
              description: 'Messages that are alike are written a few times, then counted.',
              properties: {
                enabled: { type: 'boolean', default: true, description: 'Whether they are held back at all.' },
                tick: {
                  type: 'string',
                  format: 'duration',
                  atLeast: '10ms',
                  atMost: '1h',
                  default: '10s',
                  description: 'The window; at its end one line says how many were held back.',
                },
                initial: {
                  type: 'integer',
                  minimum: 1,
                  maximum: 1000000,
                  default: 10,
                  description: 'How many of a kind are written in each window.',
                },
              },
            },
          },
        },
        status: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'What `sluice status` asks.',
          properties: {
            socket: {
              type: 'string',
              // Longer ones do not fit into the system's address.
              maxLength: 100,
              default: '',
              description:
                'Path of a local socket for the owner alone, as ./sluice.sock; empty for none. Not on Windows.',
            },
          },
        },
        traces: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description:
            'Spans of its own work, for the tracer provider that a module registers with @opentelemetry/api.',
          properties: {
            enabled: { type: 'boolean', default: false, description: 'Whether spans are made.' },
            exclude_projects: {
              type: 'array',
              maxItems: MAX_EXCLUDED_PROJECTS,
              items: { type: 'string', minLength: 1, description: 'The name of a project.' },
              default: [],
              description:
                'Projects whose requests make no spans; names the one that these spans are sent to, when they come back here.',
            },
          },
        },
        metrics: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'Metrics for Prometheus to scrape, at /metrics.',
          properties: {
            enabled: { type: 'boolean', default: true, description: 'Whether metrics are served.' },
            endpoint: {
              type: 'string',
              format: 'endpoint',
              default: '127.0.0.1:8888',
              description: 'Where they are served.',
            },
          },
        },
      },
    },
  },
};
