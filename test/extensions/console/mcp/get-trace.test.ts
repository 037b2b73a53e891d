/** The outline of a trace: which errors it shows. */
import t from 'tap';
import { getTrace } from '../../../../src/extensions/console/mcp/get-trace.ts';
import { ToolValues } from '../../../../src/extensions/console/mcp/tool.ts';

const HEADER = {
  ...{
    trace_id: 't',
    name: 'n',
    environment: 'default',
    user_id: null,
    conversation_id: null,
    services: [],
    models: [],
  },
  ...{ start_time_unix_nano: '0', duration_ns: '0', input_tokens: null, output_tokens: null, total_cost: null },
};

/** A `SpanTuple`. */
const failedSpan = (id: string, start: string): string =>
  JSON.stringify([id, null, 0, null, null, start, '1', 1, ...Array.from({ length: 7 }, () => null), 0, 0, null]);

t.test('of many failed spans the latest are shown', async (t) => {
  const count = 450;
  let read = 0;
  const idOf = (at: number): string => at.toString(16).padStart(16, '0');
  const get = async (url: string): Promise<string> => {
    const { pathname, searchParams: query } = new URL(url, 'http://console');
    const span = /\/spans\/(\w+)$/u.exec(pathname)?.[1];
    if (span !== undefined)
      return JSON.stringify({ name: `failed ${Number.parseInt(span, 16)}`, error_type: 'timeout' });
    if (!pathname.endsWith('/spans')) return JSON.stringify({ ...HEADER, error_count: count });
    const ids = Array.from({ length: count }, (_, at) => idOf(at));
    if (query.get('order') === 'newest') ids.reverse();
    const from = Number(query.get('after') ?? 0);
    const rows = ids.slice(from, from + Number(query.get('limit') ?? count)).map((id) => failedSpan(id, '0'));
    if (query.get('only') === 'error') read += rows.length;
    const next = from + rows.length === count ? null : String(from + rows.length);
    return ['{"columns":[]}', '{"names+":["work"]}', ...rows, JSON.stringify({ end: true, next }), ''].join('\n');
  };
  const values = new ToolValues(getTrace, { project: 'shop', trace: 't' });
  const answer = await getTrace.run(values, { api: { get }, explain: null, sql: null });
  t.match(answer, /^errors \(450\), the latest of them first:$/mu);
  const shown = Array.from(answer.matchAll(/failed (\d+) at/gu), ([, at]) => Number(at));
  t.same(shown, [449, 448, 447]);
  t.equal(read, shown.length, 'no others are read');
});

t.test('of failed spans with one id each has its own message', async (t) => {
  const first = 1_795_132_800_000_000_000n;
  const id = 'b'.repeat(16);
  const starts = ['0', '9007199254740993'];
  const get = async (url: string): Promise<string> => {
    const { pathname, searchParams: query } = new URL(url, 'http://console');
    if (pathname.endsWith(id)) {
      const at = starts.findIndex((start) => first + BigInt(start) >= BigInt(query.get('start') ?? 0));
      return JSON.stringify({ name: 'work', error_type: null, status_message: { text: `message ${at}` } });
    }
    if (!pathname.endsWith('/spans'))
      return JSON.stringify({ ...HEADER, start_time_unix_nano: String(first), error_count: starts.length });
    const rows = starts.map((start) => failedSpan(id, start));
    if (query.get('order') === 'newest') rows.reverse();
    return ['{"columns":[]}', '{"names+":["work"]}', ...rows, '{"end":true,"next":null}', ''].join('\n');
  };
  const values = new ToolValues(getTrace, { project: 'shop', trace: 't' });
  const answer = await getTrace.run(values, { api: { get }, explain: null, sql: null });
  t.same(answer.match(/message \d/gu), ['message 1', 'message 0']);
});

t.test('the outline of a part of the spans says so', async (t) => {
  const rows = [
    failedSpan('a'.repeat(16), '0'),
    JSON.stringify(['b'.repeat(16), 0, 0, ...Array.from({ length: 14 }, () => null), null]),
  ];
  const get = async (url: string): Promise<string> =>
    new URL(url, 'http://console').pathname.endsWith('/spans')
      ? ['{"columns":[]}', '{"names+":["work"]}', ...rows, JSON.stringify({ end: true, next: '7.b' }), ''].join('\n')
      : JSON.stringify({ ...HEADER, span_count: 100_000, error_count: 0 });
  const values = new ToolValues(getTrace, { project: 'shop', trace: 't' });
  const answer = await getTrace.run(values, { api: { get }, explain: null, sql: null });
  t.match(answer, /\nThe outline is of 2 spans and counts no others\. More spans: after 7\.b$/u);
});
