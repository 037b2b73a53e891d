/** Compares the rows of one signal with the expected rows, in any order. Returns each expected field that differs. */
import { isDeepStrictEqual } from 'node:util';
import { comparable, type ExpectedRow } from '../support/sdk-rows.ts';

type Row = Readonly<Record<string, unknown>>;

const identityOf = (row: Row): string => JSON.stringify([row['name'], row['event_name'], row['attributes']]);
const nothing = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** An empty list or map that was not sent is null. The flags of links differ between SDKs. */
function sameField(name: string, value: unknown, expected: unknown): boolean {
  if (nothing(value) && nothing(expected)) return true;
  if (name !== 'links') return isDeepStrictEqual(value, expected);
  const links = (value as readonly Row[]).map(({ flags: _, ...link }) => link);
  return isDeepStrictEqual(links, expected);
}

export function rowsDiffer(rows: readonly Row[], expected: readonly ExpectedRow[]): readonly string[] {
  if (rows.length !== expected.length) return [`${rows.length} rows instead of ${expected.length}`];
  return expected.flatMap((wanted) => {
    const row =
      rows.find((each) => identityOf(each) === identityOf(wanted)) ?? rows.find(({ name }) => name === wanted['name']);
    if (row === undefined) return [`nothing like ${identityOf(wanted)}`];
    return Object.entries(comparable(row, wanted))
      .filter(([name, value]) => !sameField(name, value, wanted[name]))
      .map(
        ([name, value]) =>
          `${String(wanted['name'])} ${name}: ${JSON.stringify(value)} ≠ ${JSON.stringify(wanted[name])}`,
      );
  });
}
