/**
 * Resources and scopes as the database stores them: each content once, under an id that TypeScript computes. Rows in
 * COPY format contain only the ids, so a large resource costs its bytes once per request, for any number of records.
 */
import {
  HEADER_BASE,
  HEADER_OUTPUT_LENGTH,
  HEADER_RECORDS,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  OUTPUT_BASE,
  RECORDS_BASE,
  RECORD_STRIDE,
  RESOURCES_BASE,
  RESOURCE_STRIDE,
  ROWS_SOFT_LIMIT,
  SCOPES_BASE,
  SCOPE_ATTRIBUTES_COUNT,
  SCOPE_NAME_LENGTH,
  SCOPE_STRIDE,
  SCOPE_VERSION_LENGTH,
  SHARED_ENTRY_LENGTH,
  SHARED_ENTRY_ROW,
  SHARED_ENTRY_SIZE,
  SHARED_LISTED,
  SHARED_NOTHING,
  SHARED_RESOURCE,
  SHARED_SCOPE,
  SHARED_STATE,
  SHARED_UNSEEN,
} from '../../layout';
import { mayPause } from '../pause';
import { setCopying } from './columns';
import { FIXED_ROOM, beginOutput, out, putByte, room, setOut } from './output';
import { projectColumn, resourceColumn, resourceOf, scopeColumns, scopeOf } from './source';

/**
 * Lists the resources and scopes of the records from `first` on, as entries at OUTPUT_BASE, until enough bytes are
 * there. Returns the first record that was not read. A resource or scope without records is not listed.
 */
export function encodeShared(first: u32): u32 {
  const count = load<u32>(HEADER_BASE, HEADER_RECORDS);
  let next = first;
  setCopying(true);
  beginOutput();
  if (first == 0) forgetStates();
  while (next < count && out - OUTPUT_BASE < <usize>ROWS_SOFT_LIMIT) {
    const record = <usize>RECORDS_BASE + <usize>next * RECORD_STRIDE;
    const resource = resourceOf(record);
    if (load<u8>(resource, SHARED_STATE) == SHARED_UNSEEN) listResource(resource);
    const scope = scopeOf(record);
    if (load<u8>(scope, SHARED_STATE) == SHARED_UNSEEN) listScope(scope);
    next += 1;
    mayPause();
  }
  store<u32>(HEADER_BASE, <u32>(out - OUTPUT_BASE), HEADER_OUTPUT_LENGTH);
  return next;
}

/** A batch may be encoded more than once. */
function forgetStates(): void {
  const resources = <usize>RESOURCES_BASE + <usize>load<u32>(HEADER_BASE, HEADER_RESOURCES) * RESOURCE_STRIDE;
  for (let row: usize = RESOURCES_BASE; row < resources; row += RESOURCE_STRIDE)
    store<u8>(row, SHARED_UNSEEN, SHARED_STATE);
  const scopes = <usize>SCOPES_BASE + <usize>load<u32>(HEADER_BASE, HEADER_SCOPES) * SCOPE_STRIDE;
  for (let row: usize = SCOPES_BASE; row < scopes; row += SCOPE_STRIDE) store<u8>(row, SHARED_UNSEEN, SHARED_STATE);
}

function listResource(resource: usize): void {
  store<u8>(resource, SHARED_LISTED, SHARED_STATE);
  const entry = beginEntry(resource, SHARED_RESOURCE);
  resourceColumn(resource);
  endEntry(entry);
}

function listScope(scope: usize): void {
  const length = load<u32>(scope, SCOPE_NAME_LENGTH) | load<u32>(scope, SCOPE_VERSION_LENGTH);
  if ((length | load<u32>(scope, SCOPE_ATTRIBUTES_COUNT)) == 0) {
    store<u8>(scope, SHARED_NOTHING, SHARED_STATE);
    return;
  }
  store<u8>(scope, SHARED_LISTED, SHARED_STATE);
  const entry = beginEntry(scope, SHARED_SCOPE);
  scopeColumns(scope);
  endEntry(entry);
}

function beginEntry(row: usize, kind: u32): usize {
  room(FIXED_ROOM);
  const entry = out;
  store<u32>(entry, <u32>row, SHARED_ENTRY_ROW);
  setOut(entry + SHARED_ENTRY_SIZE);
  putByte(kind);
  projectColumn();
  return entry;
}

function endEntry(entry: usize): void {
  store<u32>(entry, <u32>(out - entry - SHARED_ENTRY_SIZE), SHARED_ENTRY_LENGTH);
}
