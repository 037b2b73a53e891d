/** The configuration of a replica: defaults, except for the exporters, the ledger and the keys. */
import { keysYaml } from '../load/tenants.ts';

export interface ReplicaSite {
  readonly port: number;
  /** URL of the database through the replica's proxy; null: the memory ledger. */
  readonly url: string | null;
  readonly exporters: string;
  /** The place of objects. */
  readonly objects: string;
}

export function replicaConfig({ port, url, exporters, objects }: ReplicaSite): string {
  const sections = [
    url === null ? '' : `extensions: { postgres: { url: "${url}" } }`,
    `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }`,
    `processors:
  environment: {}
  privacy: {}
  normalization: {}
  pricing: {}
  auth:
    keys:
${keysYaml()}`,
    `exporters: {${exporters.includes('postgres') ? ' postgres: {},' : ''}${exporters.includes('file') ? ' file: { path: files/telemetry.ndjson, rotation: { max_files: 0 } },' : ''}${exporters.includes('objects') ? ` objects: { to: ${objects}, linger: 20ms },` : ''} }`,
    `service:
  ledger: ${url === null ? 'memory' : 'postgres'}
  extensions: [${url === null ? '' : 'postgres'}]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [${exporters}] }
    logs: *pipeline
    metrics: *pipeline
`,
  ];
  return sections.join('\n');
}
