/** The records of a conversation by the indexes of its id, and the traces that they name. */
import type { Conditions } from '../filter/compile.ts';
import type { Parameters } from '../filter/parameters.ts';
import type { RequestReader } from '../server/route.ts';
import { logsIn } from './logged-conversation.ts';

/** The traces of a conversation with more records are not read first: that would take as long as the search. */
const MOST_RECORDS = 50_000;
/** With more traces, a search of the newest ones finds enough of the conversation sooner. */
const MOST_TRACES = 10_000;

/** The spans of a conversation, by the index of its beginning. */
export const spansIn = (conversation: string): string =>
  `s.project = $1::text AND left(s.conversation_id, 128) = left(${conversation}, 128) AND s.conversation_id = ${conversation}`;

const TRACES = `
  SELECT ARRAY(SELECT r.trace_id FROM unnest($2::text[]) n (id) CROSS JOIN LATERAL (
    SELECT s.trace_id FROM sluice.spans s WHERE ${spansIn('n.id')}
    UNION ALL SELECT l.trace_id FROM sluice.logs l WHERE ${logsIn('n.id')} AND l.trace_id IS NOT NULL
  ) r LIMIT ${MOST_RECORDS + 1}) AS ids`;

/**
 * Conditions that say by their ids which traces have records of the conversations that the filter names. The values are
 * added to the parameters.
 */
export async function withNamedTraces(
  reader: RequestReader,
  project: string,
  conditions: Conditions,
  parameters: Parameters,
): Promise<Conditions> {
  const trace = [...conditions.trace];
  for (const conversations of conditions.conversations) {
    const [row] = await reader.prepared(TRACES, [project, conversations]);
    const ids = (row?.['ids'] ?? []) as readonly Buffer[];
    const distinct = new Map(ids.map((id) => [id.toString('hex'), id]));
    if (ids.length > MOST_RECORDS || distinct.size > MOST_TRACES) continue;
    trace.push(`t.trace_id = ANY (${parameters.add([...distinct.values()])}::bytea[])`);
  }
  return { ...conditions, trace, conversations: [] };
}
