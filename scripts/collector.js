// Builds the OpenTelemetry Collector of collector.yaml with Go and prints the path of the executable. It is cached by
// manifest. Exit code 77, with the reason, if it cannot be built.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printGoProgram } from './go-program.js';

const manifest = join(dirname(fileURLToPath(import.meta.url)), 'collector.yaml');
const text = readFileSync(manifest, 'utf8');
const version = /otlpreceiver (v\S+)/.exec(text)[1];

await printGoProgram({
  what: `the Collector ${version}`,
  source: text,
  args: ['run', `go.opentelemetry.io/collector/cmd/builder@${version}`, '--config', manifest],
  built: 'build/otelcol',
});
