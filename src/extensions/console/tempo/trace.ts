/** One trace for clients of Tempo, as protobuf or OTLP/JSON. */
import { membersOf, OTLP_JSON, SPANS_PROTOBUF } from '../api/otlp-conversions.ts';
import { lengthField, numberField } from '../../../pdata/protobuf-fields.ts';
import { TRACE_ID_DIGITS } from '../../../pdata/record-ids.ts';
import { idOf } from '../api/question.ts';
import { spansOfTrace } from '../api/stored-rows.ts';
import { findTrace, type StoredTrace } from '../api/stored-trace.ts';
import { ConsoleError } from '../errors.ts';
import { jsonText, type Reply, type RequestContext } from '../server/route.ts';
import { tempoRoute } from './tempo-route.ts';

/** Grafana keeps a whole trace in memory. Further spans are left out, and the answer says so. */
const MAX_SPANS = 20_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** The fields of `TraceByIDResponse`, and the status of a trace that is not complete. */
const [TRACE, STATUS, MESSAGE] = [1, 3, 4];
const PARTIAL = 1;
const CUT = `Only the first spans of this trace are here: at most ${MAX_SPANS}, and ${MAX_BYTES / 1024 / 1024} MiB.`;

/** The answer of version 2 has the trace in a field, and says if it is not complete. */
export const showTraceV2 = tempoRoute('/v2/traces/{trace}', async (context): Promise<Reply> => {
  const { parts, isWhole } = await readTrace(context);
  if (!wantsProtobuf(context)) {
    const partial = isWhole ? '' : `,"status":"PARTIAL","message":${JSON.stringify(CUT)}`;
    return jsonText(`{"trace":{"resourceSpans":[${parts.join(',')}]}${partial}}`);
  }
  const trace = Buffer.concat(parts as readonly Uint8Array[]);
  const partial = isWhole ? [] : [numberField(STATUS, PARTIAL), ...lengthField(MESSAGE, Buffer.from(CUT))];
  return protobuf(Buffer.concat([...lengthField(TRACE, trace), ...partial]));
});

export const showTraceV1 = tempoRoute('/traces/{trace}', async (context): Promise<Reply> => {
  const { parts } = await readTrace(context);
  if (!wantsProtobuf(context)) return jsonText(`{"batches":[${parts.join(',')}]}`);
  return protobuf(Buffer.concat(parts as readonly Uint8Array[]));
});

const protobuf = (bytes: Uint8Array): Reply => ({ kind: 'bytes', type: 'application/protobuf', bytes });

const wantsProtobuf = ({ headers }: RequestContext): boolean =>
  /^application\/(?:x-)?protobuf\b/iu.test(headers['accept']?.trim() ?? '');

interface TraceParts {
  /** The pieces of the answer, with some spans each: messages of protobuf, or members of the JSON list. */
  readonly parts: readonly (string | Uint8Array)[];
  readonly isWhole: boolean;
}

async function readTrace(context: RequestContext): Promise<TraceParts> {
  const trace = await traceOf(context);
  const asProtobuf = wantsProtobuf(context);
  const parts: (string | Uint8Array)[] = [];
  let [spans, bytes] = [0, 0];
  for await (const rows of spansOfTrace(context, trace, MAX_SPANS + 1)) {
    const room = rows.slice(0, MAX_SPANS - spans);
    const part = asProtobuf
      ? await context.rowThread.convert(SPANS_PROTOBUF, room)
      : membersOf(await context.rowThread.convert(OTLP_JSON.traces, room));
    bytes += part.length;
    spans += rows.length;
    if (bytes > MAX_BYTES) return { parts, isWhole: false };
    if (room.length > 0) parts.push(part);
    if (spans > MAX_SPANS) return { parts, isWhole: false };
  }
  return { parts, isWhole: true };
}

/** Tempo takes ids without their leading zeros. */
async function traceOf(context: RequestContext): Promise<StoredTrace> {
  try {
    return await findTrace(
      context,
      idOf(context.parameter('trace').padStart(TRACE_ID_DIGITS, '0'), TRACE_ID_DIGITS / 2),
    );
  } catch (error) {
    if (!(error instanceof ConsoleError) || error.code !== 'not_found') throw error;
    throw new ConsoleError('not_found', { message: 'trace not found' });
  }
}
