/** Arrays as Postgres reads them in text: parameters of a pipeline are texts, and whole columns of keys travel in one. */

export function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

export function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`).join(',')}}`;
}

/** Ids that are hex already. */
export function hexArray(values: readonly string[]): string {
  return `{${values.map((value) => `"\\\\x${value}"`).join(',')}}`;
}

export function integerArray(values: readonly (number | bigint | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}
