/** The fields of AnyValue, KeyValue, ArrayValue and KeyValueList in common.proto, and a scalar as one of them. */
import { FIXED_ROOM, putByte, room } from '../output';
import { putVarint, tagOf } from './fields';

// AnyValue
export const STRING_VALUE: u32 = 1;
export const BOOL_VALUE: u32 = 2;
export const INT_VALUE: u32 = 3;
export const DOUBLE_VALUE: u32 = 4;
export const ARRAY_VALUE: u32 = 5;
export const KVLIST_VALUE: u32 = 6;
export const BYTES_VALUE: u32 = 7;
// KeyValue
export const KEY: u32 = 1;
export const VALUE: u32 = 2;
// ArrayValue, KeyValueList
export const VALUES: u32 = 1;

/** A number that is present, also when it is 0. */
export function putInteger(field: u32, value: u64): void {
  room(FIXED_ROOM);
  putByte(tagOf(field, 0));
  putVarint(value);
}
