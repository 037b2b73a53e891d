/** The columns at the beginning and end of every record: its owner, and its resource, scope and attributes. */
import {
  ATTRIBUTE_FLAGS,
  ATTRIBUTE_KIND,
  ATTRIBUTE_LENGTH,
  ATTRIBUTE_OFFSET,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_DISPOSITION,
  HEADER_BASE,
  HEADER_PROJECT_LENGTH,
  HEADER_PROJECT_OFFSET,
  HEADER_RECEIVED_AT,
  HEADER_SCRATCH,
  KIND_TEXT,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_RESOURCE,
  RECORD_SCOPE,
  RESOURCES_BASE,
  RESOURCE_ATTRIBUTES_COUNT,
  RESOURCE_ATTRIBUTES_FIRST,
  RESOURCE_ENVIRONMENT_FLAGS,
  RESOURCE_ENVIRONMENT_LENGTH,
  RESOURCE_ENVIRONMENT_OFFSET,
  RESOURCE_JSON_OFFSET,
  RESOURCE_SERVICE_ROW,
  RESOURCE_STRIDE,
  SCOPES_BASE,
  SCOPE_ATTRIBUTES_COUNT,
  SCOPE_ATTRIBUTES_FIRST,
  SCOPE_JSON_OFFSET,
  SCOPE_NAME_FLAGS,
  SCOPE_NAME_LENGTH,
  SCOPE_NAME_OFFSET,
  SCOPE_STRIDE,
  SCOPE_VERSION_FLAGS,
  SCOPE_VERSION_LENGTH,
  SCOPE_VERSION_OFFSET,
  SCRATCH_BASE,
  SCRATCH_CAPACITY,
  SHARED_ID,
  SHARED_NOTHING,
  SHARED_STATE,
  SYMBOL_SERVICE_NAME,
  DISPOSITION_DROP,
  DISPOSITION_SUPERSEDED,
} from '../../layout';
import {
  beginJson,
  contentIdColumn,
  copying,
  endJson,
  nullColumn,
  optionalTextColumn,
  textColumn,
  timestampColumn,
} from './columns';
import { putRawText } from './json-text';
import { UNKNOWN_TEXT } from './keys';
import {
  LABEL_ATTRIBUTES,
  LABEL_ENVIRONMENT,
  LABEL_PROJECT,
  LABEL_RECEIVED_AT,
  LABEL_RESOURCE,
  LABEL_SCOPE_ATTRIBUTES,
  LABEL_SCOPE_NAME,
  LABEL_SCOPE_VERSION,
  LABEL_SERVICE_NAME,
} from './labels';
import { out } from './output';
import { ALWAYS, REPEAT_OWNER, REPEAT_RECEIVED_AT, REPEAT_SOURCE, putRepeat, rememberRepeat } from './repeats';
import { attributeRow, putAttributes, putAttributesInOrder } from './values';

/** A resource without a service name. */
const NO_SERVICE: u32 = 0xffffffff;
/** Rendered resources and scopes are below this address, so that scratch has room for the tables of nested maps. */
const RENDERED_END: usize = SCRATCH_BASE + (SCRATCH_CAPACITY >> 1);

/** The attribute row + 1 of the resource's `service.name` text, searched once. */
function serviceRow(resource: usize): u32 {
  const known = load<u32>(resource, RESOURCE_SERVICE_ROW);
  if (known != 0) return known;
  const first = load<u32>(resource, RESOURCE_ATTRIBUTES_FIRST);
  const count = load<u32>(resource, RESOURCE_ATTRIBUTES_COUNT);
  let found = NO_SERVICE;
  for (let i: u32 = 0; i < count; i++) {
    const row = attributeRow(first + i);
    if (load<u32>(row, ATTRIBUTE_SYMBOL) != SYMBOL_SERVICE_NAME || load<u8>(row, ATTRIBUTE_KIND) != KIND_TEXT) continue;
    const disposition = load<u8>(row, ATTRIBUTE_DISPOSITION);
    if (disposition != DISPOSITION_DROP && disposition != DISPOSITION_SUPERSEDED) found = first + i + 1;
  }
  store<u32>(resource, found, RESOURCE_SERVICE_ROW);
  return found;
}

// @ts-ignore: decorator
@inline
export function resourceOf(record: usize): usize {
  return <usize>RESOURCES_BASE + <usize>load<u32>(record, RECORD_RESOURCE) * RESOURCE_STRIDE;
}

// @ts-ignore: decorator
@inline
export function scopeOf(record: usize): usize {
  return <usize>SCOPES_BASE + <usize>load<u32>(record, RECORD_SCOPE) * SCOPE_STRIDE;
}

/** project, environment, service_name. */
export function ownerColumns(record: usize): void {
  const key = <u64>load<u32>(record, RECORD_RESOURCE) + 1;
  if (putRepeat(REPEAT_OWNER, key)) return;
  const start = out;
  renderOwner(record);
  rememberRepeat(REPEAT_OWNER, key, start);
}

export function projectColumn(): void {
  const project = load<u32>(HEADER_BASE, HEADER_PROJECT_OFFSET);
  if (project == 0) nullColumn(LABEL_PROJECT);
  else textColumn(LABEL_PROJECT, project, load<u32>(HEADER_BASE, HEADER_PROJECT_LENGTH), UNKNOWN_TEXT);
}

function renderOwner(record: usize): void {
  projectColumn();
  const resource = resourceOf(record);
  const environment = load<u32>(resource, RESOURCE_ENVIRONMENT_OFFSET);
  if (environment == 0) {
    nullColumn(LABEL_ENVIRONMENT);
  } else {
    textColumn(
      LABEL_ENVIRONMENT,
      environment,
      load<u32>(resource, RESOURCE_ENVIRONMENT_LENGTH),
      load<u8>(resource, RESOURCE_ENVIRONMENT_FLAGS),
    );
  }
  const service = serviceRow(resource);
  if (service == NO_SERVICE) {
    nullColumn(LABEL_SERVICE_NAME);
  } else {
    const row = attributeRow(service - 1);
    textColumn(
      LABEL_SERVICE_NAME,
      load<u32>(row, ATTRIBUTE_OFFSET),
      load<u32>(row, ATTRIBUTE_LENGTH),
      load<u8>(row, ATTRIBUTE_FLAGS),
    );
  }
}

/** Keeps the output since `start` in scratch for the following records and stores its address in `field`. */
function keepRendered(field: usize, start: usize): void {
  const length = out - start;
  const target = <usize>load<u32>(HEADER_BASE, HEADER_SCRATCH);
  if (target + length > RENDERED_END) return;
  memory.copy(target, start, length);
  store<u32>(HEADER_BASE, <u32>(target + length), HEADER_SCRATCH);
  store<u32>(field, <u32>target);
  store<u32>(field, <u32>length, 4);
}

/** A JSON column of attributes that many records share. `field` holds the address and length of the rendered text. */
function sharedColumn(label: string, field: usize, first: u32, count: u32): void {
  const column = beginJson(label);
  const rendered = load<u32>(field);
  if (rendered != 0) {
    putRawText(rendered, load<u32>(field, 4));
  } else {
    const start = out;
    putAttributes(first, count);
    keepRendered(field, start);
  }
  endJson(column);
}

/** resource, scope_name, scope_version, scope_attributes, or the references to them; attributes, received_at. */
export function sourceColumns(record: usize): void {
  const key = (<u64>load<u32>(record, RECORD_RESOURCE) + 1) | ((<u64>load<u32>(record, RECORD_SCOPE)) << 32);
  if (!putRepeat(REPEAT_SOURCE, key)) {
    const start = out;
    renderSource(record);
    rememberRepeat(REPEAT_SOURCE, key, start);
  }
  const column = beginJson(LABEL_ATTRIBUTES);
  putAttributesInOrder(load<u32>(record, RECORD_ATTRIBUTES_FIRST), load<u32>(record, RECORD_ATTRIBUTES_COUNT));
  endJson(column);
  receivedAtColumn();
}

function receivedAtColumn(): void {
  if (putRepeat(REPEAT_RECEIVED_AT, ALWAYS)) return;
  const start = out;
  timestampColumn(LABEL_RECEIVED_AT, load<i64>(HEADER_BASE, HEADER_RECEIVED_AT));
  rememberRepeat(REPEAT_RECEIVED_AT, ALWAYS, start);
}

/** The columns before the attributes: those that records of one scope share. */
function renderSource(record: usize): void {
  const resource = resourceOf(record);
  const scope = scopeOf(record);
  if (copying) {
    contentIdColumn(resource + SHARED_ID);
    if (load<u8>(scope, SHARED_STATE) == SHARED_NOTHING) nullColumn('');
    else contentIdColumn(scope + SHARED_ID);
  } else {
    resourceColumn(resource);
    scopeColumns(scope);
  }
}

export function resourceColumn(resource: usize): void {
  sharedColumn(
    LABEL_RESOURCE,
    resource + RESOURCE_JSON_OFFSET,
    load<u32>(resource, RESOURCE_ATTRIBUTES_FIRST),
    load<u32>(resource, RESOURCE_ATTRIBUTES_COUNT),
  );
}

/** scope_name, scope_version, scope_attributes. */
export function scopeColumns(scope: usize): void {
  optionalTextColumn(
    LABEL_SCOPE_NAME,
    load<u32>(scope, SCOPE_NAME_OFFSET),
    load<u32>(scope, SCOPE_NAME_LENGTH),
    load<u8>(scope, SCOPE_NAME_FLAGS),
  );
  optionalTextColumn(
    LABEL_SCOPE_VERSION,
    load<u32>(scope, SCOPE_VERSION_OFFSET),
    load<u32>(scope, SCOPE_VERSION_LENGTH),
    load<u8>(scope, SCOPE_VERSION_FLAGS),
  );
  const count = load<u32>(scope, SCOPE_ATTRIBUTES_COUNT);
  if (count == 0) nullColumn(LABEL_SCOPE_ATTRIBUTES);
  else sharedColumn(LABEL_SCOPE_ATTRIBUTES, scope + SCOPE_JSON_OFFSET, load<u32>(scope, SCOPE_ATTRIBUTES_FIRST), count);
}
