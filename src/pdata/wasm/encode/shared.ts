/**
 * Resources and scopes as the database stores them: each content once, under an id that TypeScript computes. Rows in
 * COPY format contain only the ids, so a large resource costs its bytes once per request, for any number of records.
 */
import * as layout from '../../layout';
import { mayPause } from '../pause';
import { setCopying } from './columns';
import { FIXED_ROOM, beginOutput, out, putByte, room, setOut } from './output';
import { projectColumn, resourceColumn, resourceOf, scopeColumns, scopeOf } from './source';

/**
 * Lists the resources and scopes of the records from `first` on, as entries at OUTPUT_BASE, until enough bytes are
 * there. Returns the first record that was not read. A resource or scope without records is not listed.
 */
export function encodeShared(first: u32): u32 {
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_RECORDS);
  let next = first;
  setCopying(true);
  beginOutput();
  if (first == 0) forgetStates();
  while (next < count && out - layout.OUTPUT_BASE < <usize>layout.ROWS_SOFT_LIMIT) {
    const record = <usize>layout.RECORDS_BASE + <usize>next * layout.RECORD_STRIDE;
    const resource = resourceOf(record);
    if (load<u8>(resource, layout.SHARED_STATE) == layout.SHARED_UNSEEN) listResource(resource);
    const scope = scopeOf(record);
    if (load<u8>(scope, layout.SHARED_STATE) == layout.SHARED_UNSEEN) listScope(scope);
    next += 1;
    mayPause();
  }
  store<u32>(layout.HEADER_BASE, <u32>(out - layout.OUTPUT_BASE), layout.HEADER_OUTPUT_LENGTH);
  return next;
}

/** A batch may be encoded more than once. */
function forgetStates(): void {
  const resources =
    <usize>layout.RESOURCES_BASE +
    <usize>load<u32>(layout.HEADER_BASE, layout.HEADER_RESOURCES) * layout.RESOURCE_STRIDE;
  for (let row: usize = layout.RESOURCES_BASE; row < resources; row += layout.RESOURCE_STRIDE)
    store<u8>(row, layout.SHARED_UNSEEN, layout.SHARED_STATE);
  const scopes =
    <usize>layout.SCOPES_BASE + <usize>load<u32>(layout.HEADER_BASE, layout.HEADER_SCOPES) * layout.SCOPE_STRIDE;
  for (let row: usize = layout.SCOPES_BASE; row < scopes; row += layout.SCOPE_STRIDE)
    store<u8>(row, layout.SHARED_UNSEEN, layout.SHARED_STATE);
}

function listResource(resource: usize): void {
  store<u8>(resource, layout.SHARED_LISTED, layout.SHARED_STATE);
  const entry = beginEntry(resource, layout.SHARED_RESOURCE);
  resourceColumn(resource);
  endEntry(entry);
}

function listScope(scope: usize): void {
  const length = load<u32>(scope, layout.SCOPE_NAME_LENGTH) | load<u32>(scope, layout.SCOPE_VERSION_LENGTH);
  if ((length | load<u32>(scope, layout.SCOPE_ATTRIBUTES_COUNT)) == 0) {
    store<u8>(scope, layout.SHARED_NOTHING, layout.SHARED_STATE);
    return;
  }
  store<u8>(scope, layout.SHARED_LISTED, layout.SHARED_STATE);
  const entry = beginEntry(scope, layout.SHARED_SCOPE);
  scopeColumns(scope);
  endEntry(entry);
}

function beginEntry(row: usize, kind: u32): usize {
  room(FIXED_ROOM);
  const entry = out;
  store<u32>(entry, <u32>row, layout.SHARED_ENTRY_ROW);
  setOut(entry + layout.SHARED_ENTRY_SIZE);
  putByte(kind);
  projectColumn();
  return entry;
}

function endEntry(entry: usize): void {
  store<u32>(entry, <u32>(out - entry - layout.SHARED_ENTRY_SIZE), layout.SHARED_ENTRY_LENGTH);
}
