/** Sends the telemetry of `sluice demo --scale`, one request at a time, with progress. A signal stops it. */
import type { Call, ExitCode } from '../command.ts';
import { commandLine } from '../command-line.ts';
import { type DayPart, makeDay } from './day.ts';
import type { Send } from './otlp.ts';
import { formatCount } from '../view/format.ts';
import { progressLines } from '../view/progress.ts';
import { asJson } from '../view/screen-text.ts';

export interface ScaleRun {
  readonly endpoint: string;
  readonly lengthMs: number;
  readonly send: Send;
  /** The last line of the output where there is no database. */
  readonly instead: string | null;
}

interface Sent {
  traces: number;
  spans: number;
  logs: number;
  points: number;
  bytes: number;
  lastTrace: string | null;
  largeTrace: string | null;
}

export async function sendScale(call: Call, { endpoint, lengthMs, send, instead }: ScaleRun): Promise<ExitCode> {
  const { values, terminal } = call;
  const sent: Sent = { traces: 0, spans: 0, logs: 0, points: 0, bytes: 0, lastTrace: null, largeTrace: null };
  const report = progressLines((text) => terminal.say(text));
  let stopped = false;
  const release = call.earlyEnd.stopAtSignal(() => {
    stopped = true;
  });
  try {
    const options = { nowMs: Date.now(), lengthMs, environment: values.word('environment'), seed: values.word('seed') };
    for (const part of makeDay(options)) {
      if (stopped) break;
      const length = await send(part.request);
      if (length === null) continue;
      sent.bytes += length;
      add(sent, part);
      const unit = `${new Date(part.atMs).toISOString().slice(0, 16)}Z`;
      report({ unit, rows: sent.spans + sent.logs + sent.points, bytes: sent.bytes, share: part.share });
    }
  } finally {
    release();
  }
  if (values.flag('json')) terminal.print(asData(sent, endpoint, stopped));
  else terminal.print(describe(call, sent, { endpoint, instead }));
  if (stopped) terminal.say('Stopped. Run it again to send the rest.');
  return stopped ? 1 : 0;
}

function add(sent: Sent, { traces, spans, logs, points, largeTrace }: DayPart): void {
  sent.traces += traces.length;
  sent.spans += spans;
  sent.logs += logs;
  sent.points += points;
  sent.lastTrace = traces.at(-1) ?? sent.lastTrace;
  sent.largeTrace = largeTrace ?? sent.largeTrace;
}

function asData(sent: Sent, endpoint: string, stopped: boolean): string {
  const { traces, spans, logs, points, lastTrace, largeTrace } = sent;
  const counts = { traces, spans, logs, metric_points: points };
  return asJson({ endpoint, complete: !stopped, ...counts, last_trace_id: lastTrace, large_trace_id: largeTrace });
}

function describe(
  call: Call,
  { traces, spans, logs, points, lastTrace, largeTrace }: Sent,
  { endpoint, instead }: Pick<ScaleRun, 'endpoint' | 'instead'>,
): string {
  const { style } = call.terminal;
  const show = (id: string | null): string =>
    id === null ? '' : style.cyan(commandLine(call, `trace ${id.slice(0, 12)}`));
  return [
    `Sent to ${endpoint}, and stored:`,
    `  ${formatCount(spans)} spans in ${formatCount(traces)} traces`,
    `  ${formatCount(logs)} log records`,
    `  ${formatCount(points)} metric points`,
    '',
    ...(instead === null
      ? [
          `Usage:            ${style.cyan(commandLine(call, 'usage'))}`,
          ...(lastTrace === null ? [] : [`The last trace:   ${show(lastTrace)}`]),
          ...(largeTrace === null ? [] : [`A large trace:    ${show(largeTrace)}`]),
        ]
      : [instead]),
  ].join('\n');
}
