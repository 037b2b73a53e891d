/**
 * The greeting of a started daemon. The first start shows the key and the lines for an SDK's environment; the key is
 * never shown again. Later starts show the endpoint and the commands that read the data.
 */
import { FIRST_PROJECT, type Greeting } from '../daemon/host.ts';
import { layOut, type Style } from './terminal.ts';

/** `again` gives the command line of another command on the same configuration. */
export function describeGreeting(
  { endpoint, key, keysExist, psql }: Greeting,
  again: (words: string) => string,
  style: Style,
): string {
  const places = [
    [again('demo'), 'send the telemetry of a small AI application'],
    [again('traces'), 'list stored traces; see also `trace ID` and `usage`'],
    ...(psql === null ? [] : [[psql, 'query everything in SQL']]),
  ].map(([line = '', what = '']) => [style.cyan(line), style.dim(what)]);
  const commands = layOut(places, '    ');
  if (key === null) {
    const keys = keysExist ? '' : `\n  There is no active key yet: ${style.cyan(again('key create'))}\n`;
    return `\n  ${style.bold('Sluice is ready')}: OTLP/HTTP at ${endpoint}\n${keys}\n${commands}\n`;
  }
  return [
    '',
    `  ${style.bold('Sluice is ready.')} This is its first start, so it created the project "${FIRST_PROJECT}" and a key.`,
    '  The key is shown only once:',
    '',
    `    ${style.bold(style.green(key))}`,
    '',
    '  For any OpenTelemetry SDK, in its environment:',
    '',
    `    export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    // The values of this variable are URL-encoded.
    `    export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"`,
    '',
    '  To read the data:',
    '',
    commands,
    '',
  ].join('\n');
}
