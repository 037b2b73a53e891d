/** The checker on small cases: what it accepts, and the kind of each finding. */
import t, { type Test } from 'tap';
import { check, type Guarantee } from './checker.ts';
import type { Kind } from './findings.ts';
import type { LedgerRows, Store, StoredRecord } from './store.ts';
import type { BodyEntry, Entry, Status } from '../load/journal.ts';

const TRACE = 'a'.repeat(32);

function aBody(changes: Partial<BodyEntry> = {}): BodyEntry {
  const id = changes.id ?? 1;
  return {
    entry: 'body',
    id,
    project: 'alpha',
    cap: null,
    environment: 'default',
    signal: 'traces',
    encoding: 'json',
    gzip: false,
    nature: 'sound',
    marker: `m${id}`,
    traces: [TRACE],
    records: [`${id}.0`, `${id}.1`],
    ...changes,
  };
}

function answered(body: BodyEntry, ...statuses: readonly Status[]): readonly Entry[] {
  const exchanges = statuses.flatMap((status, send): Entry[] => [
    { entry: 'send', send, body: body.id, replica: 0, at: 0 },
    { entry: 'answer', send, body: body.id, status, committed: status === 200 ? true : null, at: 0 },
  ]);
  return [body, ...exchanges];
}

const rowsOf = (body: BodyEntry, records = body.records): readonly StoredRecord[] =>
  records.map((record) => ({
    signal: body.signal,
    project: body.project,
    environment: body.environment,
    traceId: body.traces[0] ?? null,
    record,
  }));

/** A store that holds these bodies correctly, except for the changes. */
function storeOf(
  bodies: readonly BodyEntry[],
  changes: Partial<LedgerRows> = {},
  records?: readonly StoredRecord[],
): Store {
  const rows = records ?? bodies.flatMap((body) => rowsOf(body));
  const ledger: LedgerRows = {
    markers: bodies.map(({ project, marker }) => ({ project, marker })),
    traces: bodies.length === 0 ? [] : [{ traceId: TRACE, project: 'alpha', environment: 'default' }],
    usage: rows.length === 0 ? [] : [{ project: 'alpha', spans: rows.length, logs: 0, metricPoints: 0 }],
    wrongBounds: [],
    deadlocks: 0,
    ...changes,
  };
  return { name: 'Postgres', records: rows, ledger };
}

function finds(t: Test, entries: readonly Entry[], store: Store, kinds: readonly Kind[]): void {
  t.strictSame([...check(entries, store).kinds].sort(), [...kinds].sort());
}

const ONE = aBody();

t.test('an accepted body that is stored once is correct', async (t) => {
  finds(t, answered(ONE, 200), storeOf([ONE]), []);
  finds(t, answered(ONE, 'unknown', 503, 200, 200), storeOf([ONE]), []);
});

t.test('an accepted body that is not stored is lost, and so is one with a missing record', async (t) => {
  finds(t, answered(ONE, 200), storeOf([]), ['lost']);
  finds(t, answered(ONE, 200), storeOf([ONE], {}, rowsOf(ONE, ['1.0'])), ['lost']);
});

t.test('a record that is stored twice is a duplicate', async (t) => {
  finds(t, answered(ONE, 200), storeOf([ONE], {}, [...rowsOf(ONE), ...rowsOf(ONE, ['1.0'])]), ['duplicate']);
});

t.test('a body without an answer is stored as a whole with its marker, or not at all', async (t) => {
  finds(t, answered(ONE, 'unknown'), storeOf([ONE]), []);
  finds(t, answered(ONE, 'unknown', 503), storeOf([]), []);
  finds(t, [ONE, { entry: 'send', send: 1, body: 1, replica: 0, at: 0 }], storeOf([ONE]), []);
  finds(t, answered(ONE, 503), storeOf([ONE], { markers: [] }, rowsOf(ONE, ['1.0'])), ['partial']);
  finds(t, answered(ONE, 503), storeOf([ONE], { markers: [] }), ['partial']);
  finds(t, answered(ONE, 503), storeOf([], { markers: [{ project: 'alpha', marker: 'm1' }] }), ['partial']);
});

t.test('a refused body leaves no row, no marker and no claim', async (t) => {
  const broken = aBody({ nature: 'broken' });
  finds(t, answered(broken, 400), storeOf([]), []);
  finds(t, answered(broken, 400), storeOf([broken], { markers: [] }), ['residue']);
  finds(t, answered(broken, 400), storeOf([], { markers: [{ project: 'alpha', marker: 'm1' }] }), ['residue']);
  const claim = { traceId: TRACE, project: 'alpha', environment: 'default' };
  finds(t, answered(broken, 400), storeOf([], { traces: [claim] }), ['residue']);
});

t.test('a 200 before the commit is visible is false, even when the commit follows', async (t) => {
  const [body, sent, answer] = answered(ONE, 200) as [BodyEntry, Entry, Entry];
  finds(t, [body, sent, { ...answer, committed: false } as Entry], storeOf([ONE]), ['false_200']);
});

t.test('a refusal needs a valid reason', async (t) => {
  finds(t, answered(ONE, 400), storeOf([]), ['wrong_answer']);
  finds(t, answered(ONE, 500), storeOf([]), ['wrong_answer']);
  const contested = aBody({ id: 2, nature: 'contested', project: 'beta' });
  const owner = storeOf([ONE]);
  finds(t, [...answered(ONE, 200), ...answered(contested, 409)], owner, []);
  finds(t, answered(contested, 409), storeOf([]), ['wrong_answer']);
  finds(t, [...answered(ONE, 200), ...answered(contested, 403)], owner, ['wrong_answer']);
  finds(t, [...answered(ONE, 200, 409)], owner, ['wrong_answer']);
});

t.test('a quota is refused only when it is used up, and is never exceeded', async (t) => {
  const limited = aBody({ nature: 'limited', cap: 3 });
  const second = aBody({ id: 2, nature: 'limited', cap: 3 });
  finds(t, [...answered(limited, 200), ...answered(second, 429)], storeOf([limited]), []);
  finds(t, answered(limited, 429), storeOf([]), ['wrong_answer']);
  finds(t, [...answered(limited, 200), ...answered(second, 200)], storeOf([limited, second]), ['wrong_quota']);
});

t.test('counters equal the sums of the stored rows', async (t) => {
  const usage = [{ project: 'alpha', spans: 3, logs: 0, metricPoints: 0 }];
  finds(t, answered(ONE, 200), storeOf([ONE], { usage }), ['wrong_quota']);
  finds(t, answered(ONE, 200), storeOf([ONE], { usage: [] }), ['wrong_quota']);
});

t.test('rows, markers and claims belong to the project that sent them', async (t) => {
  const [first] = rowsOf(ONE);
  const stray = { ...first, record: 'stray' } as StoredRecord;
  finds(t, answered(ONE, 200), storeOf([ONE], {}, [...rowsOf(ONE), stray]), ['foreign']);
  const elsewhere = rowsOf(ONE).map((row) => ({ ...row, environment: 'staging' }));
  finds(t, answered(ONE, 200), storeOf([ONE], {}, elsewhere), ['foreign']);
  const owner = { traceId: TRACE, project: 'beta', environment: 'default' };
  finds(t, answered(ONE, 200), storeOf([ONE], { traces: [owner] }), ['foreign']);
  const markers = [
    { project: 'alpha', marker: 'm1' },
    { project: 'alpha', marker: 'm9' },
  ];
  finds(t, answered(ONE, 200), storeOf([ONE], { markers }), ['foreign']);
});

t.test('a span that is sent again in other bytes is stored once', async (t) => {
  const again = aBody({ id: 2, records: ['1.0', '2.0'] });
  const rows = rowsOf(ONE, ['1.0', '1.1', '2.0']);
  finds(t, [...answered(ONE, 200), ...answered(again, 200)], storeOf([ONE, again], {}, rows), []);
  const onlyAgain = storeOf([again], {}, rowsOf(again));
  finds(t, [...answered(ONE, 'unknown'), ...answered(again, 200)], onlyAgain, []);
});

t.test('deadlocks and wrong bounds are findings', async (t) => {
  finds(t, answered(ONE, 200), storeOf([ONE], { deadlocks: 1 }), ['deadlock']);
  finds(t, answered(ONE, 200), storeOf([ONE], { wrongBounds: [TRACE] }), ['wrong_quota']);
});

t.test('a file may hold more than was acknowledged after a crash, and never less', async (t) => {
  const file = (records: readonly StoredRecord[]): Store => ({ name: 'file', records, ledger: null });
  const kindsOf = (entries: readonly Entry[], store: Store, guarantee: Guarantee) =>
    check(entries, store, guarantee).kinds;
  const twice = file([...rowsOf(ONE), ...rowsOf(ONE)]);
  t.strictSame(kindsOf(answered(ONE, 'unknown', 200), twice, 'at_least_once'), []);
  t.strictSame(kindsOf(answered(ONE, 200), twice, 'at_least_once'), ['duplicate']);
  t.strictSame(kindsOf(answered(ONE, 200), file(rowsOf(ONE, ['1.0'])), 'at_least_once'), ['lost']);
  t.strictSame(kindsOf(answered(ONE, 503), file(rowsOf(ONE, ['1.0'])), 'at_least_once'), []);
});
