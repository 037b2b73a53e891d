/** What to write instead of the components and options that configurations of the Collector have and Sluice has not. */

const IN_A_COLLECTOR = 'a Collector in front of Sluice can do this, see config/otelcol.yaml';

/** What to do instead of common components, by kind and type. */
export const COLLECTOR_TYPES: Readonly<Record<string, string>> = {
  'processor batch': 'leave it out: requests that arrive together share one commit',
  'processor memory_limiter': 'leave it out: the receiver has max_in_flight_size',
  'exporter debug': 'leave it out: `sluice tap` shows what is stored',
  'exporter logging': 'leave it out: `sluice tap` shows what is stored',
  'exporter otlp': 'write otlp_http: requests are forwarded over HTTP',
  'extension pprof': 'leave it out',
  'extension zpages': 'leave it out: `sluice status` shows the state of the daemon',
  'extension memory_ballast': 'leave it out',
  'extension file_storage': 'leave it out: what waits to be forwarded is in the outbox of the database',
  ...Object.fromEntries(
    [
      ...['attributes', 'filter', 'k8sattributes', 'probabilistic_sampler', 'resource', 'resourcedetection'],
      ...['tail_sampling', 'transform'],
    ].map((type) => [`processor ${type}`, IN_A_COLLECTOR]),
  ),
  ...Object.fromEntries(
    ['filelog', 'hostmetrics', 'jaeger', 'kafka', 'prometheus', 'zipkin'].map((type) => [
      `receiver ${type}`,
      IN_A_COLLECTOR,
    ]),
  ),
};

/** What to do instead of common options, by section and name. */
export const COLLECTOR_OPTIONS: Readonly<Record<string, string>> = {
  'exporters auth': 'set the header in headers',
  'exporters insecure': 'leave it out: TLS is used when the endpoint begins with https',
  'exporters max_backups': 'did you mean "max_files"?',
  'exporters max_days': 'did you mean "max_age"?',
  'exporters max_megabytes': 'did you mean "max_size"?',
  'exporters sending_queue': 'leave it out: requests wait in the outbox, see outbox',
  'receivers auth': 'leave it out: the processor auth checks API keys',
  'receivers ca_file': 'did you mean "client_ca_file"?',
  'receivers compression_algorithms': 'leave it out: gzip is accepted',
  'receivers exposed_headers': 'leave it out',
  'receivers include_metadata': 'leave it out',
  'receivers write_timeout': 'leave it out',
};
