/** `sluice trace ID`: one trace as a waterfall. */
import type { Command } from './command.ts';
import { onlyWord } from './project.ts';
import { limitOf, READER_OPTIONS, withReader } from './reader.ts';
import { asJson } from './view/screen-text.ts';
import { findTrace, readTrace } from './view/trace-record.ts';
import { drawTrace } from './view/waterfall.ts';

/** Lines that are drawn by default. */
const DEFAULT_LINES = 500;
/** Most spans that are fetched. Parents beyond it are missing; totals are still correct. */
const MOST_SPANS = 20_000;

export const traceCommand: Command = {
  description:
    'The id may be shortened to a unique prefix. A name that begins with … belongs to a span whose parent has not\narrived. Figures after Σ are the sum of the spans below; figures in parentheses are counted on another line and are\nnot part of the totals.',
  options: {
    ...READER_OPTIONS,
    limit: { type: 'text', short: 'n', value: 'N', description: 'Lines to draw', default: String(DEFAULT_LINES) },
  },
  examples: [
    ['sluice trace 4bf92f3577b34da6', 'by a prefix of its id, as shown by `sluice traces`'],
    ['sluice trace 4bf92f3577b34da6 --json', 'the same for programs'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const id = onlyWord(call, 'ID');
    const lines = limitOf(values, MOST_SPANS);
    return withReader(call, async (reader) => {
      const key = await findTrace(reader, id, values.text('project') ?? null);
      const record = await readTrace(reader, key, MOST_SPANS);
      if (!values.flag('json')) {
        terminal.print(drawTrace(record, terminal.width, terminal.style, lines));
        return 0;
      }
      const { traceId: trace_id, ...owner } = key;
      const { totals, spans, logs } = record;
      terminal.print(asJson({ trace_id, ...owner, ...totals, spans, logs }));
      return 0;
    });
  },
};
