/** Loads the archived records of one conversation: those of its traces, and log records of no trace. */
import type { FoundTrace, Wanted } from '../../archive/reading/archived-rows.ts';
import { literal } from '../../archive/duckdb.ts';
import { endOf } from './archived-range.ts';
import { filesWithTraces, loadFound, partsSince, type TraceSearch } from './archived-trace.ts';
import type { Lake } from './lake.ts';
import { refuseSeveral, storedTraces } from '../view/conversation-record.ts';
import { SHOWN_CANDIDATES } from '../view/trace-record.ts';

const COLUMN = 'conversation_id';
/** The list of model calls is no longer. A trace counts on each of its days. */
const MOST_TRACES = 10_000;

/** By its whole id, on all days that `since` allows, as any may have a part of it. Returns whether it exists. */
export async function loadWholeConversation(lake: Lake, { id, project, since }: TraceSearch): Promise<boolean> {
  await lake.includeParts(partsSince({ project, since }));
  const files = filesWithTraces(lake.files, { project, since });
  const stored = await storedTraces(lake.reader, id, project);
  return (await loadWhole(lake, { files, project, traces: null }, { id, stored })) || stored.length > 0;
}

export async function loadConversation(lake: Lake, search: TraceSearch): Promise<void> {
  if (await loadWholeConversation(lake, search)) return;
  const { id, project, since } = search;
  const files = filesWithTraces(lake.files, { project, since });
  // A prefix of the id reads the column of all files.
  const condition = `starts_with(${COLUMN}, ${literal(id)})`;
  const wanted = { files, project, traces: null, where: { spans: condition, logs: condition } };
  const found = await lake.findValues(wanted, COLUMN, SHOWN_CANDIDATES);
  const [candidate, second] = found.map(([ofProject, conversationId]) => ({ project: ofProject, conversationId }));
  if (candidate === undefined) return;
  if (second !== undefined)
    throw refuseSeveral(
      id,
      found.map(([name, each]) => ({ project: name, conversationId: each })),
    );
  const known = await storedTraces(lake.reader, candidate.conversationId, project);
  await loadWhole(lake, { files, project, traces: null }, { id: candidate.conversationId, stored: known });
}

/** `stored`: traces that PostgreSQL knows. Returns whether the archive has records with the id. */
async function loadWhole(
  lake: Lake,
  wanted: Wanted,
  { id, stored }: { readonly id: string; readonly stored: readonly FoundTrace[] },
): Promise<boolean> {
  const ofConversation = { ...wanted, equal: { column: COLUMN, value: id } };
  const found = await lake.findTraces(ofConversation, MOST_TRACES + 1);
  const left = found[MOST_TRACES];
  if (left !== undefined)
    lake.leaveOut(endOf(left.day), {
      what: 'Traces of the conversation',
      why: `it has more than ${MOST_TRACES}`,
      hint: 'List them with `sluice traces --conversation ID`.',
    });
  const logs = wanted.files.filter(({ signal }) => signal === 'logs');
  const alone = await lake.load({ ...ofConversation, files: logs, where: { logs: 'trace_id IS NULL' } });
  await loadFound(lake, [...found.slice(0, MOST_TRACES), ...stored]);
  return found.length + alone > 0;
}
