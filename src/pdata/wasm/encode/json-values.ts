/** Nested values of JSON bodies, printed by the walker of `json/nested.ts`. */
import { printJsonNested } from '../json/nested';
import { out, setOut } from './output';

/** Puts the value of an ArrayValue or KeyValueList whose source is OTLP/JSON. */
export function putJsonNested(kind: u32, offset: usize, length: u32): void {
  setOut(printJsonNested(out, kind, offset, length));
}
