/** The lines for the environment of an SDK. The protocol is named because the default of many SDKs is gRPC. */
export const sdkLines = (endpoint: string, key: string): string =>
  [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"`,
  ].join('\n');
