/**
 * The stock OpenTelemetry Collector with its features for the same job: bearer token, a default environment, masked
 * credentials, a few GenAI attributes renamed, a file of JSON. It has no prices, projects, replay check or synced file.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { KEY } from '../daemon.ts';
import type { Contender } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';
import { ServerProcess } from './server-process.ts';

export interface CollectorShape {
  readonly name: string;
  readonly acknowledges: string;
  readonly processors: readonly string[];
}

export const COLLECTORS: readonly CollectorShape[] = [
  { name: 'Collector, no processors', acknowledges: 'in a write buffer', processors: [] },
  {
    name: 'Collector, attributes and transform',
    acknowledges: 'in a write buffer',
    processors: ['transform', 'attributes'],
  },
  {
    name: 'Collector, these and redaction',
    acknowledges: 'in a write buffer',
    processors: ['redaction', 'transform', 'attributes'],
  },
  {
    name: 'Collector, these and batch',
    acknowledges: 'in a queue in memory',
    processors: ['redaction', 'transform', 'attributes', 'batch'],
  },
];

/** As `SMALL_FILES`. */
const ROTATION = ', rotation: { max_megabytes: 32, max_backups: 2 }';

const config = (shape: CollectorShape, port: number, path: string, isRotated: boolean): string => `
extensions: { bearertokenauth: { token: ${KEY} } }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}", auth: { authenticator: bearertokenauth } } } }
processors:
  batch: {}
  redaction:
    allow_all_keys: true
    summary: silent
    blocked_key_patterns:
      - "(?i)(^|[._-])(proxy-)?authorization$"
      - "(?i)(^|[._-])(set-)?cookie$"
      - "(?i)(^|[._-])x-(api-key|auth-token|access-token|amz-security-token|goog-api-key)$"
  transform:
    error_mode: ignore
    trace_statements:
      - set(resource.attributes["deployment.environment.name"], "default") where resource.attributes["deployment.environment.name"] == nil
      - set(span.attributes["gen_ai.provider.name"], span.attributes["gen_ai.system"]) where span.attributes["gen_ai.provider.name"] == nil and span.attributes["gen_ai.system"] != nil
      - set(span.attributes["gen_ai.usage.input_tokens"], span.attributes["gen_ai.usage.prompt_tokens"]) where span.attributes["gen_ai.usage.prompt_tokens"] != nil
      - set(span.attributes["gen_ai.usage.output_tokens"], span.attributes["gen_ai.usage.completion_tokens"]) where span.attributes["gen_ai.usage.completion_tokens"] != nil
      - set(span.attributes["gen_ai.usage.total_tokens"], span.attributes["gen_ai.usage.input_tokens"] + span.attributes["gen_ai.usage.output_tokens"]) where span.attributes["gen_ai.usage.input_tokens"] != nil and span.attributes["gen_ai.usage.output_tokens"] != nil
  attributes:
    actions:
      - { key: project, value: default, action: upsert }
      - { key: conversation_id, from_attribute: gen_ai.conversation.id, action: upsert }
      - { key: user_id, from_attribute: user.id, action: upsert }
exporters: { file: { path: ${path}${isRotated ? ROTATION : ''} } }
service:
  extensions: [bearertokenauth]
  telemetry: { metrics: { level: none }, logs: { level: warn } }
  pipelines: { traces: { receivers: [otlp], processors: [${shape.processors.join(', ')}], exporters: [file] } }
`;

/** Without `isRotated` it has one file, so that its spans can be counted. */
export async function startCollector(
  executable: string,
  shape: CollectorShape,
  folder: string,
  isRotated = false,
): Promise<Contender> {
  const port = await freePort();
  const path = join(folder, `collector-${shape.processors.length}.json`);
  const file = join(folder, `collector-${shape.processors.length}.yaml`);
  await writeFile(file, config(shape, port, path, isRotated));
  const server = new ServerProcess({ command: executable, args: ['--config', file], cwd: folder });
  const url = `http://127.0.0.1:${port}`;
  await server.untilServing(url);
  return {
    name: shape.name,
    acknowledges: shape.acknowledges,
    server,
    client: new Client(url, KEY),
    drain: () => untilQuiet(path),
    kept: async () => (isRotated ? null : countIn(path, '"spanId":')),
    stop: () => server.stop(),
  };
}
