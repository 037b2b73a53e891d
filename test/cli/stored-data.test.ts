/** The stored data of `sluice usage`: the retention is that of the exporter that stores the records. */
import t from 'tap';
import type { Reader } from '../../src/cli/reader.ts';
import { readStoredData } from '../../src/cli/stored-data.ts';
import { COMPONENTS } from '../../src/components.ts';
import { load } from '../support/config-files.ts';

const CONFIG = `
receivers: { otlp: {} }
processors: { auth: {}, environment: {} }
exporters: { postgres/unused: { retention: { spans: 1d } }, postgres: { retention: { spans: 60d } } }
extensions: { postgres: {} }
service:
  extensions: [postgres]
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [postgres] } }
`;

t.test('the retention of an exporter that no pipeline uses is not shown', async (t) => {
  const config = await load({ 'a.yaml': CONFIG }, { definitions: COMPONENTS });
  const reader: Pick<Reader, 'query' | 'config'> = { query: async () => [], config };
  const [spans] = await readStoredData(reader);
  t.match(spans, { signal: 'spans', retention: '60d' });
});
