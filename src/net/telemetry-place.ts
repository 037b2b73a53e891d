/** For answers of the other ports: exporters print the body of a refusal when they are given a wrong port. */
export const TELEMETRY_PLACE =
  'Telemetry goes to the receiver otlp: by default port 4318 for OTLP/HTTP, and 4317 for gRPC.';
