/**
 * The greeting of a started daemon. The first start shows the key and the lines for an SDK's environment; the key is
 * never shown again. Later starts show the endpoints and the commands that read the data and create a key.
 */
import { FIRST_PROJECT, type Greeting } from '../daemon/daemon-host.ts';
import { layOut, type Style } from './terminal.ts';

/** A longer command is on a line of its own. */
const MAX_COLUMN = 60;
const ELSEWHERE = '\n  On other machines, the name of this machine takes the place of 127.0.0.1.';

/** `again` gives the command line of another command on the same configuration. */
export function describeGreeting(greeting: Greeting, again: (words: string) => string, style: Style): string {
  const { endpoint, grpc, key, psql } = greeting;
  const places: readonly (readonly [line: string, what: string])[] = [
    [again('demo'), 'send the telemetry of a small AI application'],
    [again('traces'), 'list stored traces; see also `trace ID` and `usage`'],
    ...(psql === null ? [] : [[psql, 'query everything in SQL'] as const]),
    ...(key === null && greeting.keysExist ? [[again('key create'), 'create another API key'] as const] : []),
  ];
  const commands = places.some(([line]) => line.length > MAX_COLUMN)
    ? places.map(([line, what]) => `    ${style.dim(what)}\n      ${style.cyan(line)}`).join('\n')
    : layOut(
        places.map(([line, what]) => [style.cyan(line), style.dim(what)]),
        '    ',
      );
  const look = consoleLines(greeting, again, style);
  const elsewhere = greeting.listensEverywhere ? [ELSEWHERE] : [];
  if (key === null) {
    const lines = [
      '',
      `  ${style.bold('Sluice is ready')}: OTLP/HTTP at ${endpoint}`,
      ...(grpc === null ? [] : [`                   OTLP/gRPC at ${grpc}`]),
      ...look,
      ...elsewhere,
      ...(greeting.keysExist ? [] : [`\n  There is no active key yet: ${style.cyan(again('key create'))}`]),
      '',
      commands,
      '',
    ];
    return lines.join('\n');
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
    ...sdkVariables(endpoint, key).map((line) => `    ${line}`),
    ...(grpc === null ? [] : ['', `  OTLP/gRPC is at ${grpc}.`]),
    ...elsewhere,
    ...look,
    '',
    '  To read the data:',
    '',
    commands,
    '',
  ].join('\n');
}

function consoleLines({ console, key }: Greeting, again: (words: string) => string, style: Style): readonly string[] {
  if (console === null) return [];
  const { url, link, login } = console;
  if (link !== null)
    return [
      '',
      '  To look at it in a browser, open this link. It works once, within 15 minutes:',
      '',
      `    ${style.bold(link)}`,
    ];
  const how = login ? `, log in with ${style.cyan(again('console'))}` : '';
  return key === null ? [`                   console at ${url}${how}`] : ['', `  The console is at ${url}${how}.`];
}

/** The lines for the environment of an SDK. The protocol is named because the default of many SDKs is gRPC. */
export function sdkVariables(endpoint: string, key: string): readonly string[] {
  return [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`,
    'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
    // The values of this variable are URL-encoded.
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"`,
  ];
}
