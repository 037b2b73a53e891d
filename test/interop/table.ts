/** The table of docs/interop.md: a line for each SDK, protocol and compression. */
import type { Protocol, Sdk } from './sdks.ts';

export interface Finding {
  readonly sdk: Sdk;
  readonly protocol: Protocol;
  /** Null without an exporter. */
  readonly compression: string | null;
  /** Spans, logs, metrics. */
  readonly results: readonly string[];
}

const OPEN = '<!-- found -->';
const CLOSE = '<!-- end -->';
const HEAD = ['| SDK | Version | Protocol | Compression | Spans | Logs | Metrics |', '|---|---|---|---|---|---|---|'];

export function tableOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ sdk, protocol, compression, results }) => {
    const cells = [sdk.language, sdk.version, `\`${protocol}\``, compression ?? '–', ...results];
    return `| ${cells.join(' | ')} |`;
  });
}

export function readTable(text: string): readonly string[] {
  const [start, end] = placeIn(text);
  return text.slice(start, end).trim().split('\n').slice(HEAD.length);
}

export function withTable(text: string, lines: readonly string[]): string {
  const [start, end] = placeIn(text);
  return `${text.slice(0, start)}\n\n${[...HEAD, ...lines].join('\n')}\n\n${text.slice(end)}`;
}

function placeIn(text: string): readonly [number, number] {
  const [start, end] = [text.indexOf(OPEN) + OPEN.length, text.indexOf(CLOSE)];
  if (start < OPEN.length || end < start) throw new Error(`no ${OPEN} … ${CLOSE} in the document`);
  return [start, end];
}
