/** `GET …/metrics`: the names of metrics. */
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { reachOf, withCompleteness } from './completeness.ts';
import { END_NS } from './question.ts';
import { nameText } from './texts.ts';

/** Each name costs one index lookup. */
const MAX_NAMES = 1000;

/** The index begins with the first 128 characters of the name: each step goes to the next such beginning. */
export const listMetrics = readRoute(`${PROJECT}/metrics`, ['archived'], async (context) => {
  const { project, reader } = context;
  const reading = { of: 'metrics', from: 0n, until: END_NS, isDetailed: false } as const;
  const { reply, completeness } = await reachOf(context, reading);
  if (reply !== null) return reply;
  const next = (after: string): string => `
    SELECT left(m.name, 128) AS name FROM sluice.metric_points m WHERE m.project = $1::text ${after} ORDER BY left(m.name, 128) LIMIT 1`;
  const [row] = await reader.query(
    `WITH RECURSIVE names AS (
       (${next('')}) UNION ALL
       SELECT (SELECT n.name FROM (${next('AND left(m.name, 128) > names.name')}) n) FROM names WHERE names.name IS NOT NULL
     ), known AS (SELECT name FROM names WHERE name IS NOT NULL LIMIT ${MAX_NAMES})
     SELECT json_build_object('items', coalesce(json_agg(json_build_object('name', ${nameText('l.name')}, 'type', l.type, 'unit', ${nameText('l.unit')},
       'description', ${nameText('l.description')}, 'temporality', l.temporality, 'last_time_unix_nano', l.time_unix_nano::text) ORDER BY l.name), '[]'),
       'more', (SELECT count(*) FROM known) = ${MAX_NAMES})::text AS answer
     FROM known k CROSS JOIN LATERAL (
       SELECT m.* FROM sluice.metric_points m WHERE m.project = $1::text AND left(m.name, 128) = k.name
       ORDER BY m.time_unix_nano DESC NULLS LAST LIMIT 1) l`,
    [project],
  );
  return jsonText(withCompleteness(String(row?.['answer']), completeness));
});
