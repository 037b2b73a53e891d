/** `GET …/metrics`: the names of metrics; `…/metrics/series`: the points of one. */
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { allOf, boundedRangeOf, environmentCondition } from './question.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 31;
const MAX_NAMES = 1000;
/** Steps of the search for names, each of which is one look into the index. */
const MAX_STEPS = 5000;
const MAX_POINTS = 20_000;
const MAX_SERIES = 50;

/** The index begins with the first 128 characters of the name: each step goes to the next such beginning. */
export const listMetrics = readRoute(`${PROJECT}/metrics`, async ({ project, reader }) => {
  const next = (after: string): string => `
    SELECT left(m.name, 128) AS name FROM sluice.metric_points m WHERE m.project = $1::text ${after} ORDER BY left(m.name, 128) LIMIT 1`;
  const [row] = await reader.query(
    `WITH RECURSIVE names AS (
       (${next('')}) UNION ALL
       SELECT (SELECT n.name FROM (${next('AND left(m.name, 128) > names.name')}) n) FROM names WHERE names.name IS NOT NULL
     ), known AS (SELECT name FROM names WHERE name IS NOT NULL LIMIT ${Math.min(MAX_NAMES, MAX_STEPS)})
     SELECT json_build_object('items', coalesce(json_agg(json_build_object('name', l.name, 'type', l.type, 'unit', l.unit,
       'description', l.description, 'temporality', l.temporality, 'last_time_unix_nano', l.time_unix_nano::text) ORDER BY l.name), '[]'))::text AS answer
     FROM known k CROSS JOIN LATERAL (
       SELECT m.* FROM sluice.metric_points m WHERE m.project = $1::text AND left(m.name, 128) = k.name
       ORDER BY m.time_unix_nano DESC NULLS LAST LIMIT 1) l`,
    [project],
  );
  return jsonText(String(row?.['answer']));
});

export const showMetric = readRoute(`${PROJECT}/metrics/series`, async (context) => {
  const { caller, project, query, reader } = context;
  const name = (query.get('name') ?? '').replaceAll('\0', '\u{fffd}');
  const { from, until } = boundedRangeOf(context, { days: MAX_DAYS, defaultMs: DAY_MS });
  const parameters = new Parameters([project, name, String(from), String(until)]);
  const conditions = environmentCondition(context, 'm.environment', parameters);
  const attributes = caller.seesContent ? `, 'attributes', s.attributes` : '';
  const [row] = await reader.query(
    `WITH points AS MATERIALIZED (
       SELECT m.* FROM sluice.metric_points m WHERE m.project = $1::text AND left(m.name, 128) = left($2::text, 128) AND m.name = $2::text
         AND m.time_unix_nano >= $3::int8 AND m.time_unix_nano < $4::int8 AND ${allOf(conditions)}
       ORDER BY m.time_unix_nano DESC LIMIT ${MAX_POINTS}
     ), series AS MATERIALIZED (
       SELECT p.service_name, p.attributes, max(p.type) AS type, max(p.unit) AS unit, max(p.temporality) AS temporality,
         json_agg(json_build_array(p.time_unix_nano::text, coalesce(p.value_int::float8, p.value_double), p.count, p.sum) ORDER BY p.time_unix_nano) AS points,
         count(*) AS count
       FROM points p GROUP BY 1, 2 ORDER BY count(*) DESC
     ), shown AS (SELECT * FROM series ORDER BY count DESC LIMIT ${MAX_SERIES})
     SELECT json_build_object('name', $2::text, 'type', (SELECT max(type) FROM series), 'unit', (SELECT max(unit) FROM series),
       'temporality', (SELECT max(temporality) FROM series),
       'cut', (SELECT count(*) FROM points) = ${MAX_POINTS} OR (SELECT count(*) FROM series) > ${MAX_SERIES},
       'series', coalesce((SELECT json_agg(json_build_object('service', s.service_name${attributes}, 'points', s.points)) FROM shown s), '[]'))::text AS answer`,
    parameters.values,
  );
  return jsonText(String(row?.['answer']));
});
