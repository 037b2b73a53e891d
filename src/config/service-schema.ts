/** The options of the `service` section, declared as a component declares its own. */
import type { OptionsSchema } from '../component/component.ts';

/** A larger number of pipelines indicates a mistake in a generated file. */
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
    processors: { ...idList('The processors that run, in this order.', 0), default: [] },
    exporters: idList('Where they are stored. A request is answered when all of them have it.', 1),
  },
} as const;

export const SERVICE_SCHEMA: OptionsSchema = {
  type: 'object',
  description: 'The components that run, and the settings of the daemon.',
  additionalProperties: false,
  required: ['pipelines'],
  properties: {
    ledger: {
      type: 'string',
      enum: ['postgres', 'memory'],
      default: 'postgres',
      description:
        'Where replays, trace ownership and quotas are decided: in Postgres, durably and for all replicas, or in memory, since the start of this process.',
    },
    shutdown_timeout: {
      type: 'string',
      format: 'duration',
      atLeast: '1s',
      atMost: '1h',
      default: '15s',
      description: 'The time for requests in flight to finish when the daemon stops.',
    },
    extensions: { ...idList('The extensions that run, in the order of their start.', 0), default: [] },
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
      description: "The daemon's own log, metrics, traces and status.",
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
              description: 'The lowest level that is written.',
            },
            format: {
              type: 'string',
              enum: ['auto', 'json', 'pretty'],
              default: 'auto',
              description:
                'One JSON object per line, or readable text; auto means text on a terminal and JSON elsewhere.',
            },
            sampling: {
              type: 'object',
              additionalProperties: false,
              default: {},
              description: 'Similar messages are written a few times, then counted.',
              properties: {
                enabled: { type: 'boolean', default: true, description: 'Whether similar messages are suppressed.' },
                tick: {
                  type: 'string',
                  format: 'duration',
                  atLeast: '10ms',
                  atMost: '1h',
                  default: '10s',
                  description: 'The length of a window; one line at its end gives the number of suppressed messages.',
                },
                initial: {
                  type: 'integer',
                  minimum: 1,
                  maximum: 1000000,
                  default: 10,
                  description: 'The number of similar messages that are written in each window.',
                },
              },
            },
          },
        },
        status: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'The socket of `sluice status` and `sluice reload`.',
          properties: {
            socket: {
              type: 'string',
              format: 'own_path',
              // A longer path does not fit into the socket address.
              maxLength: 100,
              default: '',
              description:
                'Path of a further local socket that only its owner can use, for example ./sluice.sock; empty: only the one in the runtime folder of the user. Not on Windows.',
            },
          },
        },
        traces: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'Spans of the daemon, for the tracer provider that a module registers with @opentelemetry/api.',
          properties: {
            enabled: { type: 'boolean', default: false, description: 'Whether spans are created.' },
            exclude_projects: {
              type: 'array',
              maxItems: MAX_EXCLUDED_PROJECTS,
              items: { type: 'string', minLength: 1, description: 'The name of a project.' },
              default: [],
              description:
                'Projects whose requests create no spans. List the project of these spans here when they are sent to this daemon.',
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
              description: 'The address of the metrics.',
            },
          },
        },
      },
    },
  },
};
