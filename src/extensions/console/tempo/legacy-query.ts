/** The parameters of searches before TraceQL, as a query: `tags` in logfmt, `minDuration` and `maxDuration`. */

const PAIR = /([^\s="]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/gu;

/** Empty without such parameters. */
export function legacyQuery(query: URLSearchParams): string {
  const tags = [...(query.get('tags') ?? '').matchAll(PAIR)].map(
    ([, key = '', quoted, plain = '']) =>
      `${nameOf(key)} = ${writtenValue(key, quoted?.replaceAll(/\\(.)/gu, '$1') ?? plain)}`,
  );
  const [least, most] = [query.get('minDuration') ?? '', query.get('maxDuration') ?? ''];
  const conditions = [
    ...tags,
    ...(least === '' ? [] : [`duration >= ${least}`]),
    ...(most === '' ? [] : [`duration <= ${most}`]),
  ];
  return conditions.length === 0 ? '' : `{ ${conditions.join(' && ')} }`;
}

const INTRINSIC: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['status', 'status'],
  ['status.code', 'status'],
  ['root.name', 'rootName'],
  ['root.service.name', 'rootServiceName'],
]);

const nameOf = (key: string): string => INTRINSIC.get(key) ?? `."${escaped(key)}"`;
const writtenValue = (key: string, value: string): string =>
  INTRINSIC.get(key) === 'status' ? value : `"${escaped(value)}"`;

const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
