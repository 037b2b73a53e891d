/** `GET …/prices`: the models of the newest calls with their prices, and the source of each. */
import type { ModelPrice } from '../../../component/capabilities/prices.ts';
import { json, PROJECT, readRoute } from '../server/route.ts';
import type { ModelPriceShape, PriceShape, PriceSource } from './shapes/management.ts';
import { LONGEST_NAME, nameText } from './texts.ts';

/** The newest calls that are looked at. */
const SAMPLE = 5000;
const SHOWN = 100;

const MODELS = `
  WITH recent AS (
    SELECT s.start_time_unix_nano, ${nameText('s.provider')} AS provider, ${nameText('s.response_model')} AS answered,
      ${nameText('s.request_model')} AS asked, ${nameText('s.price_id')} AS price_id, s.cost_source, s.total_cost
    FROM sluice.spans s WHERE s.project = $1::text AND s.usage_scope IS NOT NULL AND s.usage_scope = 'own'
    ORDER BY s.start_time_unix_nano DESC LIMIT ${SAMPLE})
  SELECT provider, coalesce(answered, asked) AS model, (array_agg(asked ORDER BY start_time_unix_nano DESC))[1] AS asked,
    count(*)::int4 AS calls, count(*) FILTER (WHERE total_cost IS NULL)::int4 AS unpriced,
    count(*) FILTER (WHERE cost_source = 'explicit')::int4 AS stated,
    (array_agg(price_id ORDER BY start_time_unix_nano DESC) FILTER (WHERE cost_source = 'derived'))[1] AS price_id
  FROM recent GROUP BY 1, 2 ORDER BY calls DESC, model, provider LIMIT ${SHOWN}`;
const OWN = 'SELECT id FROM sluice.prices WHERE project = $1::text';

const SOURCES: Readonly<Record<string, PriceSource>> = {
  stored: 'all_projects',
  user: 'configuration',
  supplement: 'corrections',
  'genai-prices': 'bundled',
};

export const listPrices = readRoute(`${PROJECT}/prices`, [], async ({ project, reader, daemon }) => {
  const rows = await reader.query(MODELS, [project]);
  const stored = await reader.query(OWN, [project]);
  const own = new Set(stored.map((row) => String(row['id'])));
  const prices = daemon?.prices ?? null;
  const items = rows.map((row): PriceShape => {
    const [provider, model, asked] = [row['provider'], row['model'], row['asked']] as (string | null)[];
    const find = (name: string | null | undefined): ModelPrice | null =>
      name == null || name.length === LONGEST_NAME ? null : (prices?.find(project, provider ?? null, name) ?? null);
    const price = find(model) ?? find(asked);
    return {
      provider: provider ?? null,
      model: model ?? null,
      call_count: Number(row['calls']),
      unpriced_count: Number(row['unpriced']),
      stated_count: Number(row['stated']),
      price_id: row['price_id'] as string | null,
      price: price === null ? null : priceShape(price, own),
    };
  });
  return json({ items, known: prices !== null });
});

function priceShape(price: ModelPrice, own: ReadonlySet<string>): ModelPriceShape {
  const { source, version, entry, evidence, rates } = price;
  return {
    source: source === 'stored' && own.has(entry) ? 'project' : (SOURCES[source] ?? 'file'),
    version,
    entry,
    effective_from: price.effectiveFrom,
    evidence,
    rates,
  };
}
