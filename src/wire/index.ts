/** What the host may call. Each function works on the one arena described in `src/model/layout.ts`. */
import {
  CONSTANTS_BASE, ENCODING_JSON, ENCODING_PROTOBUF, FAIL_BUDGET, FAIL_PROTOBUF, HEADER_BASE, HEADER_CONSTANTS, HEADER_ENCODING,
  HEADER_INPUT_LENGTH, HEADER_MAX_DEPTH, HEADER_SIGNAL, HEADER_SIZE, INPUT_BASE, INPUT_CAPACITY,
} from "../model/layout";
import { fail } from "./fail";
import { initializeSymbols } from "./symbols";
import { resetTables } from "./tables";

export { resetTables } from "./tables";
export { internKey as intern } from "./symbols";
export { classifyText } from "./text";

/** AnyValue nesting allowed unless the host sets another bound. */
const DEFAULT_MAX_DEPTH: u32 = 32;

export function initialize(seed: u64): void {
  memory.fill(HEADER_BASE, 0, HEADER_SIZE);
  store<u32>(HEADER_BASE, CONSTANTS_BASE, HEADER_CONSTANTS);
  store<u32>(HEADER_BASE, DEFAULT_MAX_DEPTH, HEADER_MAX_DEPTH);
  initializeSymbols(seed);
  resetTables();
}
