/**
 * The Grafana dashboard over the database: each query is expanded as Grafana does it, and runs with the role of
 * config/grafana/README.md on the data of the demo.
 */
import t, { type Test } from 'tap';
import { makeDemo } from '../../src/cli/demo/application.ts';
import { connectTo } from '../support/connection.ts';
import { KEY } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { startPostgresDaemon } from '../support/postgres-daemon.ts';
import { codeBlocks, read } from './markdown.ts';
import { HOUR_MS } from '../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const INTERVAL_S = 60;

interface Target {
  readonly format: 'table' | 'time_series';
  readonly rawSql: string;
}

interface Panel {
  readonly title: string;
  readonly targets: readonly Target[];
  readonly options: { readonly reduceOptions?: { readonly fields: string } };
  readonly fieldConfig: { readonly overrides: readonly { readonly matcher: { readonly options: string } }[] };
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string;
  readonly includeAll?: boolean;
  readonly allValue?: string;
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const dashboard = JSON.parse(read('config/grafana/sluice.json')) as Dashboard;
const variables = dashboard.templating.list;
const queried = variables.filter(({ type }) => type === 'query');
const now = Date.now();
const range = { from: now - HOUR_MS, to: now + HOUR_MS };

/** Postgres types by what Grafana reads from them. */
const NUMBERS = new Set([20, 21, 23, 700, 701, 1700]);
const TIMES = new Set([1114, 1184]);
const TEXT = 25;

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Null: "All", whose value Grafana inserts unquoted. */
type Chosen = Readonly<Record<string, readonly string[] | null>>;

/** As `templateSrv` and `macros.go` of Grafana do it: variables first, then macros, whose arguments have no `)`. */
function expand(sql: string, chosen: Chosen): string {
  const text = sql.replaceAll(/\$\{(\w+):sqlstring\}/gu, (_, name: string) => {
    const values = chosen[name];
    if (values === undefined) throw new Error(`the variable ${name} has no value`);
    return values?.map(literal).join(',') ?? String(variables.find((variable) => variable.name === name)?.allValue);
  });
  return text
    .replaceAll('$__interval', `${INTERVAL_S}s`)
    .replaceAll(/\$(\w+)\(([^)]*)\)/gu, (_, name: string, list: string) => expandMacro(name, list.split(',')));
}

function expandMacro(name: string, given: readonly string[]): string {
  const [column = '', interval = ''] = given.map((argument) => argument.trim());
  const [from, to] = [range.from, range.to].map((ms) => `${ms}000000`);
  switch (name) {
    case '__unixEpochNanoFrom':
      return String(from);
    case '__unixEpochNanoTo':
      return String(to);
    case '__unixEpochNanoFilter':
      return `${column} >= ${from} AND ${column} <= ${to}`;
    case '__unixEpochGroupAlias':
      return `floor((${column})/${Number.parseInt(interval, 10)})*${Number.parseInt(interval, 10)} AS "time"`;
    default:
      throw new Error(`Grafana has no macro ${name}`);
  }
}

t.test('the panels have different titles, places and ids, and overrides name columns', async (t) => {
  for (const of of ['title', 'id', 'gridPos'] as const) {
    const values = dashboard.panels.map((panel) => JSON.stringify((panel as unknown as Record<string, unknown>)[of]));
    t.equal(new Set(values).size, values.length, of);
  }
  const asked = dashboard.panels.flatMap(({ targets }) => targets.map(({ rawSql }) => rawSql)).join('\n');
  for (const { name, type } of variables) {
    if (type === 'query') t.match(asked, `\${${name}:sqlstring}`, `${name} is used`);
  }
  t.match(JSON.stringify(dashboard), /\$\{console\}\/t\/\$\{__value\.raw\}/u, 'traces are opened in the console');
});

t.test('on a database', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  const role = `grafana_${now}`;
  const owner = await connectTo(t, daemon.databaseUrl);
  const [grants = ''] = codeBlocks(read('config/grafana/README.md'), 'sql');
  await owner.query(grants.replaceAll('grafana', role));
  t.teardown(() => owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).then(() => undefined));
  const url = new URL(daemon.databaseUrl);
  url.username = role;
  url.password = 'change-me';
  const grafana = await connectTo(t, url.href);
  const ask = (sql: string, chosen: Chosen) => grafana.query(expand(sql, chosen));

  const all: Chosen = { project: ['demo'], environment: null, service: null, model: null };
  await t.test('without data every panel is empty or shows zeros, and none fails', async (t) => {
    for (const { title, targets } of dashboard.panels) {
      for (const { rawSql } of targets) await t.resolves(ask(rawSql, all), title);
    }
  });

  for (const { path, body } of [...makeDemo(now, "o'hara").requests, ...makeDemo(now, 'staging').requests])
    t.equal((await send(daemon.url, { path, body: JSON.stringify(body), authorization: `Bearer ${KEY}` })).status, 200);
  // The demo's models have prices in the pricing processor, which this daemon does not have.
  await owner.query(`UPDATE sluice.spans SET total_cost = 0.25 WHERE response_model LIKE 'gpt-%'`);
  await owner.query('ANALYZE');

  const values: Record<string, readonly string[]> = {};
  await t.test('the variables offer what is stored', async (t) => {
    for (const { name, query } of queried) {
      const { rows, fields } = await ask(query, all);
      t.equal(fields.length, 1, `${name} has one column`);
      values[name] = rows.map((row) => String(Object.values(row)[0]));
    }
    t.strictSame(values, {
      project: ['demo'],
      environment: ["o'hara", 'staging'],
      service: ['sluice-demo'],
      model: ['claude-sonnet-4-5-20250929', 'gpt-5-mini-2025-08-07'],
    });
  });

  for (const panel of dashboard.panels) {
    await t.test(panel.title, async (t) => {
      for (const { rawSql, format } of panel.targets) {
        const { rows, fields } = await ask(rawSql, all);
        t.ok(rows.length > 0, 'there are rows');
        checkColumns(t, format, fields);
        const numbers = fields.filter(({ name, dataTypeID }) => name !== 'time' && NUMBERS.has(dataTypeID));
        t.ok(
          rows.some((row) => numbers.some(({ name }) => Number(row[name]) > 0)),
          'with figures',
        );
        const names = fields.map(({ name }) => name);
        for (const { matcher } of panel.fieldConfig.overrides)
          t.ok(names.includes(matcher.options), `the column ${matcher.options} exists`);
        const shown = /^\/\^(\w+)\$\/$/u.exec(panel.options.reduceOptions?.fields ?? '')?.[1];
        if (shown !== undefined) t.ok(names.includes(shown), `the shown column ${shown} exists`);
        t.equal((await ask(rawSql, values)).rows.length, rows.length, 'all values chosen are as many rows as "All"');
        if (rawSql.includes('environment:'))
          t.strictSame(
            (await ask(rawSql, { ...all, environment: ['none'] })).rows,
            [],
            'the variable narrows the panel',
          );
      }
    });
  }

  await t.test('the figures are those of the database', async (t) => {
    const [panel] = dashboard.panels;
    const { rows } = await ask(panel?.targets[0]?.rawSql ?? '', all);
    t.match(rows, [{ cost: '0.50000000', calls: '4', failed: '0' }]);
    const { rows: before } = await grafana.query(
      expand(panel?.targets[0]?.rawSql ?? '', all).replaceAll(String(range.from), String(now + HOUR_MS / 4)),
    );
    t.match(before, [{ calls: '4' }], 'calls before the time range are the figures to compare with');
  });

  await t.test('the role reads neither content nor keys, and writes nothing', async (t) => {
    for (const column of ['input_content', 'tool_result', 'attributes'])
      await t.rejects(grafana.query(`SELECT ${column} FROM public.spans`), { code: '42501' }, column);
    for (const table of ['sluice.spans', 'sluice.api_keys', 'sluice.projects', 'public.messages', 'public.traces'])
      await t.rejects(grafana.query(`SELECT * FROM ${table}`), { code: '42501' }, table);
    await t.rejects(grafana.query('CREATE TEMPORARY TABLE x ()'), { code: '25006' });
    await t.rejects(grafana.query('DELETE FROM sluice.usage_months'), { code: /42501|25006/u });
  });
});

/**
 * A time series has `time` and numbers, or with a text column `metric` for its name. Tables may have texts and times.
 */
function checkColumns(
  t: Test,
  format: Target['format'],
  fields: readonly { readonly name: string; readonly dataTypeID: number }[],
): void {
  const isSeries = format === 'time_series';
  t.equal(fields[0]?.name === 'time', isSeries, `the first column fits the format ${format}`);
  for (const { name, dataTypeID } of fields) {
    const isText = dataTypeID === TEXT && (!isSeries || name === 'metric');
    t.ok(NUMBERS.has(dataTypeID) || isText || (!isSeries && TIMES.has(dataTypeID)), `${name}: type ${dataTypeID}`);
  }
}
