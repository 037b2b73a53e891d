/** The options of the `service` section, declared as a component declares its own. */
import type { OptionsSchema } from '../component/component.ts';
import { booleanOption, choiceOption, integerOption, objectOption, optionGroup } from '../component/option-schema.ts';

/** A larger number of pipelines indicates a mistake in a generated file. */
const MAX_PIPELINES = 100;
const MAX_LISTED = 100;
const MAX_EXCLUDED_PROJECTS = 100;

/** The section besides `service` that no component describes. */
export const MODULES_DESCRIPTION = 'Modules that export further components; a path is relative to this file.';

const idList = (description: string, minimum: number) => ({
  type: 'array',
  minItems: minimum,
  maxItems: MAX_LISTED,
  items: { type: 'string', minLength: 1, description: 'A component id: type or type/name.' },
  description,
});

const pipeline = objectOption(
  'One signal from its receivers through the processors, in this order, to every exporter.',
  ['receivers', 'exporters'],
  {
    receivers: idList('Where the records come from.', 1),
    processors: { ...idList('The processors that run, in this order.', 0), default: [] },
    exporters: idList('Where they are stored. A request is answered when all of them have it.', 1),
  },
);

export const SERVICE_SCHEMA: OptionsSchema = objectOption(
  'The components that run, and the settings of the daemon.',
  ['pipelines'],
  {
    ledger: choiceOption(
      ['postgres', 'memory'],
      'Where replays, trace ownership and quotas are decided: in Postgres, durably and for all replicas, or in memory, since the start of this process.',
    ),
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
    telemetry: optionGroup("The daemon's own log, metrics, traces and status.", {
      logs: optionGroup('The log, on standard error.', {
        level: {
          type: 'string',
          enum: ['debug', 'info', 'warn', 'error'],
          default: 'info',
          description: 'The lowest level that is written.',
        },
        format: choiceOption(
          ['auto', 'json', 'pretty'],
          'One JSON object per line, or readable text; auto means text on a terminal and JSON elsewhere.',
        ),
        sampling: optionGroup('Similar messages are written a few times, then counted.', {
          enabled: booleanOption(true, 'Whether similar messages are suppressed.'),
          tick: {
            type: 'string',
            format: 'duration',
            atLeast: '10ms',
            atMost: '1h',
            default: '10s',
            description: 'The length of a window; one line at its end gives the number of suppressed messages.',
          },
          initial: integerOption([1, 1000000], 10, 'The number of similar messages that are written in each window.'),
        }),
      }),
      status: optionGroup('The socket of `sluice status` and `sluice reload`.', {
        socket: {
          type: 'string',
          format: 'own_path',
          // A longer path does not fit into the socket address.
          maxLength: 100,
          default: '',
          description:
            'Path of a further local socket that only its owner can use, for example ./sluice.sock; empty: only the one in the runtime folder of the user. Not on Windows.',
        },
      }),
      traces: optionGroup(
        'Spans of the daemon, for the tracer provider that a module registers with @opentelemetry/api.',
        {
          enabled: booleanOption(false, 'Whether spans are created.'),
          exclude_projects: {
            type: 'array',
            maxItems: MAX_EXCLUDED_PROJECTS,
            items: { type: 'string', minLength: 1, description: 'The name of a project.' },
            default: [],
            description:
              'Projects whose requests create no spans. List the project of these spans here when they are sent to this daemon.',
          },
        },
      ),
      metrics: optionGroup('Metrics for Prometheus to scrape, at /metrics.', {
        enabled: booleanOption(true, 'Whether metrics are served.'),
        endpoint: {
          type: 'string',
          format: 'endpoint',
          default: '127.0.0.1:8888',
          description: 'The address of the metrics.',
        },
      }),
    }),
  },
);
