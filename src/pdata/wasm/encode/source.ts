/** The columns at the beginning and end of every record: its owner, and its resource, scope and attributes. */
import * as layout from '../../layout';
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
import { pauseNow } from '../pause';
import { putRawText } from './json-text';
import { UNKNOWN_TEXT } from './keys';
import * as labels from './labels';
import { out, PIECE } from './output';
import { ALWAYS, REPEAT_OWNER, REPEAT_RECEIVED_AT, REPEAT_SOURCE, putRepeat, rememberRepeat } from './repeats';
import { attributeRow, putAttributes, putAttributesInOrder } from './values';

/** A resource without a service name. */
const NO_SERVICE: u32 = 0xffffffff;
/** Rendered resources and scopes are below this address, so that scratch has room for the tables of nested maps. */
const RENDERED_END: usize = layout.SCRATCH_BASE + (layout.SCRATCH_CAPACITY >> 1);

/** The attribute row + 1 of the resource's `service.name` text, searched once. */
function serviceRow(resource: usize): u32 {
  const known = load<u32>(resource, layout.RESOURCE_SERVICE_ROW);
  if (known != 0) return known;
  const first = load<u32>(resource, layout.RESOURCE_ATTRIBUTES_FIRST);
  const count = load<u32>(resource, layout.RESOURCE_ATTRIBUTES_COUNT);
  let found = NO_SERVICE;
  for (let i: u32 = 0; i < count; i++) {
    const row = attributeRow(first + i);
    if (
      load<u32>(row, layout.ATTRIBUTE_SYMBOL) != layout.SYMBOL_SERVICE_NAME ||
      load<u8>(row, layout.ATTRIBUTE_KIND) != layout.KIND_TEXT
    )
      continue;
    const disposition = load<u8>(row, layout.ATTRIBUTE_DISPOSITION);
    if (disposition != layout.DISPOSITION_DROP && disposition != layout.DISPOSITION_SUPERSEDED) found = first + i + 1;
  }
  store<u32>(resource, found, layout.RESOURCE_SERVICE_ROW);
  return found;
}

export function resourceOf(record: usize): usize {
  return <usize>layout.RESOURCES_BASE + <usize>load<u32>(record, layout.RECORD_RESOURCE) * layout.RESOURCE_STRIDE;
}

export function scopeOf(record: usize): usize {
  return <usize>layout.SCOPES_BASE + <usize>load<u32>(record, layout.RECORD_SCOPE) * layout.SCOPE_STRIDE;
}

/** project, environment, service_name. */
export function ownerColumns(record: usize): void {
  const key = <u64>load<u32>(record, layout.RECORD_RESOURCE) + 1;
  if (putRepeat(REPEAT_OWNER, key)) return;
  const start = out;
  renderOwner(record);
  rememberRepeat(REPEAT_OWNER, key, start);
}

export function projectColumn(): void {
  const project = load<u32>(layout.HEADER_BASE, layout.HEADER_PROJECT_OFFSET);
  if (project == 0) nullColumn(labels.PROJECT);
  else textColumn(labels.PROJECT, project, load<u32>(layout.HEADER_BASE, layout.HEADER_PROJECT_LENGTH), UNKNOWN_TEXT);
}

function renderOwner(record: usize): void {
  projectColumn();
  const resource = resourceOf(record);
  const environment = load<u32>(resource, layout.RESOURCE_ENVIRONMENT_OFFSET);
  if (environment == 0) {
    nullColumn(labels.ENVIRONMENT);
  } else {
    textColumn(
      labels.ENVIRONMENT,
      environment,
      load<u32>(resource, layout.RESOURCE_ENVIRONMENT_LENGTH),
      load<u8>(resource, layout.RESOURCE_ENVIRONMENT_FLAGS),
    );
  }
  const service = serviceRow(resource);
  if (service == NO_SERVICE) {
    nullColumn(labels.SERVICE_NAME);
  } else {
    const row = attributeRow(service - 1);
    textColumn(
      labels.SERVICE_NAME,
      load<u32>(row, layout.ATTRIBUTE_OFFSET),
      load<u32>(row, layout.ATTRIBUTE_LENGTH),
      load<u8>(row, layout.ATTRIBUTE_FLAGS),
    );
  }
}

/** Keeps the output since `start` in scratch for the following records and stores its address in `field`. */
function keepRendered(field: usize, start: usize): void {
  const length = out - start;
  const target = <usize>load<u32>(layout.HEADER_BASE, layout.HEADER_SCRATCH);
  if (target + length > RENDERED_END) return;
  if (length > PIECE) pauseNow();
  memory.copy(target, start, length);
  store<u32>(layout.HEADER_BASE, <u32>(target + length), layout.HEADER_SCRATCH);
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
  const key =
    (<u64>load<u32>(record, layout.RECORD_RESOURCE) + 1) | ((<u64>load<u32>(record, layout.RECORD_SCOPE)) << 32);
  if (!putRepeat(REPEAT_SOURCE, key)) {
    const start = out;
    renderSource(record);
    rememberRepeat(REPEAT_SOURCE, key, start);
  }
  const column = beginJson(labels.ATTRIBUTES);
  putAttributesInOrder(
    load<u32>(record, layout.RECORD_ATTRIBUTES_FIRST),
    load<u32>(record, layout.RECORD_ATTRIBUTES_COUNT),
  );
  endJson(column);
  receivedAtColumn();
}

function receivedAtColumn(): void {
  if (putRepeat(REPEAT_RECEIVED_AT, ALWAYS)) return;
  const start = out;
  timestampColumn(labels.RECEIVED_AT, load<i64>(layout.HEADER_BASE, layout.HEADER_RECEIVED_AT));
  rememberRepeat(REPEAT_RECEIVED_AT, ALWAYS, start);
}

/** The columns before the attributes: those that records of one scope share. */
function renderSource(record: usize): void {
  const resource = resourceOf(record);
  const scope = scopeOf(record);
  if (copying) {
    contentIdColumn(resource + layout.SHARED_ID);
    if (load<u8>(scope, layout.SHARED_STATE) == layout.SHARED_NOTHING) nullColumn('');
    else contentIdColumn(scope + layout.SHARED_ID);
  } else {
    resourceColumn(resource);
    scopeColumns(scope);
  }
}

export function resourceColumn(resource: usize): void {
  sharedColumn(
    labels.RESOURCE,
    resource + layout.RESOURCE_JSON_OFFSET,
    load<u32>(resource, layout.RESOURCE_ATTRIBUTES_FIRST),
    load<u32>(resource, layout.RESOURCE_ATTRIBUTES_COUNT),
  );
}

/** scope_name, scope_version, scope_attributes. */
export function scopeColumns(scope: usize): void {
  optionalTextColumn(
    labels.SCOPE_NAME,
    load<u32>(scope, layout.SCOPE_NAME_OFFSET),
    load<u32>(scope, layout.SCOPE_NAME_LENGTH),
    load<u8>(scope, layout.SCOPE_NAME_FLAGS),
  );
  optionalTextColumn(
    labels.SCOPE_VERSION,
    load<u32>(scope, layout.SCOPE_VERSION_OFFSET),
    load<u32>(scope, layout.SCOPE_VERSION_LENGTH),
    load<u8>(scope, layout.SCOPE_VERSION_FLAGS),
  );
  const count = load<u32>(scope, layout.SCOPE_ATTRIBUTES_COUNT);
  if (count == 0) nullColumn(labels.SCOPE_ATTRIBUTES);
  else
    sharedColumn(
      labels.SCOPE_ATTRIBUTES,
      scope + layout.SCOPE_JSON_OFFSET,
      load<u32>(scope, layout.SCOPE_ATTRIBUTES_FIRST),
      count,
    );
}
