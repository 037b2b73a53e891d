/** `GET …/traces/{trace}/markdown`: a transcript of the trace for pasting into a model. */
import { parseExact } from '../../../pdata/exact-json.ts';
import { setImmediate } from 'node:timers/promises';
import { ConsoleError } from '../errors.ts';
import { IN_TRACE } from '../filter/trace-spans.ts';
import { PROJECT, type RequestContext, readRoute, text } from '../server/route.ts';
import type { StepRow } from './shapes/steps.ts';
import type { TraceRow } from './shapes/traces.ts';
import { COUNTED_IDS } from './spans.ts';
import { IS_STEP, stepJson } from './steps.ts';
import { findTrace, type StoredTrace, valuesOf } from './stored-trace.ts';
import { linesOf, readTraceRows } from './trace-rows.ts';
import { Transcript, type TranscriptStep } from './transcript.ts';

/** Further steps are only counted. */
const MOST_STEPS = 400;
/** Read at once. Each can have megabytes of history. */
const AT_ONCE = 8;
/** The limit of one content column. JSON that is cut is shown as text. */
const SHOWN_CHARACTERS = 512 * 1024;
/** The steps after this much content are only counted. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const SHOWN_MESSAGE = 4096;
const FIRST = { ns: '0', id: '0000000000000000' };

const IS_TOLD = `(${IS_STEP} OR s.status = 'error' OR s.is_error IS TRUE)`;

interface StepLine {
  readonly step: StepRow;
  /** The message of a failed span. It is content. */
  readonly status_message: string | null;
}

export const showMarkdown = readRoute(`${PROJECT}/traces/{trace}/markdown`, [], async (context) => {
  const { caller, project, reader } = context;
  const trace = await findTrace(context);
  const [row] = await readTraceRows(reader, project, trace.firstNs === null ? [] : [trace.id]);
  if (row === undefined) throw new ConsoleError('not_found');
  const transcript = new Transcript({ trace: parseExact(row) as TraceRow, project, seesContent: caller.seesContent });
  const [count] = await reader.query(
    `SELECT count(*)::int4 AS steps FROM sluice.spans s WHERE ${IN_TRACE} AND ${IS_TOLD}`,
    valuesOf(trace),
  );
  let left = Number(count?.['steps'] ?? 0);
  for await (const step of stepsOf(context, trace)) {
    transcript.add(step);
    left -= 1;
    // Reading messages takes time in which other requests wait.
    await setImmediate();
  }
  return text(transcript.text(Math.max(0, left)));
});

async function* stepsOf(context: RequestContext, trace: StoredTrace): AsyncGenerator<TranscriptStep> {
  const { project, reader } = context;
  const [row] = await reader.prepared(COUNTED_IDS(reader.views), [project, trace.id]);
  let after = FIRST;
  let characters = 0;
  for (let count = 0; count < MOST_STEPS; count += AT_ONCE) {
    const lines = await readSteps(context, trace, after, row?.['ids']);
    for (const line of lines) {
      characters += line.length;
      const { step, status_message } = parseExact(line) as StepLine;
      yield { ...step, status_message };
      after = { ns: step.start_time_unix_nano, id: step.span_id ?? FIRST.id };
    }
    if (lines.length < AT_ONCE || characters > MOST_CHARACTERS) return;
  }
}

async function readSteps(
  { caller, reader }: RequestContext,
  trace: StoredTrace,
  after: typeof FIRST,
  counted: unknown,
): Promise<readonly string[]> {
  const { seesContent } = caller;
  const message = seesContent ? `left(s.status_message, ${SHOWN_MESSAGE})` : 'NULL';
  const [row] = await reader.query(
    `WITH counted AS MATERIALIZED (SELECT 'span' AS signal, unnest($7::bytea[]) AS span_id), step AS MATERIALIZED (
       SELECT * FROM sluice.spans s WHERE ${IN_TRACE} AND ${IS_TOLD} AND (s.start_time_unix_nano, s.span_id) > ($5::int8, $6::bytea)
       ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${AT_ONCE})
     SELECT string_agg(
         json_build_object('step', ${stepJson(seesContent, SHOWN_CHARACTERS)}, 'status_message', ${message})::text, E'\\n'
       ORDER BY s.start_time_unix_nano, s.span_id) AS items FROM step s`,
    [...valuesOf(trace), after.ns, Buffer.from(after.id, 'hex'), counted],
  );
  return linesOf(row?.['items']);
}
