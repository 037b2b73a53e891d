/**
 * Resource and InstrumentationScope, the sources of records. Their rows are allocated before; a repeated message
 * is merged into the first.
 */
import * as layout from '../../layout';
import { storeRange } from '../tables';
import { continueList, indexAttribute, nextAttribute } from './attributes';
import { after, bytesTag, closeMessage, readEnd, readTag, readVarint, skipUnknown, varintTag } from './reader';
import { checkText, storeText } from './value';

// Resource { attributes 1, dropped_attributes 2, entity_refs 3 }
const RESOURCE_FIELDS: u32 = 0xe;
// EntityRef { schema_url 1, type 2, id_keys 3, description_keys 4 }, all of them strings
const ENTITY_FIELDS: u32 = 0x1e;
// InstrumentationScope { name 1, version 2, attributes 3, dropped_attributes 4 }
const SCOPE_FIELDS: u32 = 0x1e;

export function indexResource(at: usize, end: usize, row: usize): void {
  const firstAttribute = nextAttribute();
  const list = continueList(
    load<u32>(row, layout.RESOURCE_ATTRIBUTES_FIRST),
    load<u32>(row, layout.RESOURCE_ATTRIBUTES_COUNT),
    at,
  );
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      key = indexAttribute(after(at), last, list, key);
      at = last;
    } else if (tag == bytesTag(3)) {
      const last = readEnd(at, end);
      checkEntity(after(at), last);
      at = last;
    } else if (tag == varintTag(2)) {
      readVarint(at, end);
      at = after(at);
    } else at = skipUnknown(tag, at, end, RESOURCE_FIELDS);
  }
  closeMessage(at, end);
  storeRange(row + layout.RESOURCE_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
}

function checkEntity(at: usize, end: usize): void {
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1) || tag == bytesTag(2) || tag == bytesTag(3) || tag == bytesTag(4)) {
      const last = readEnd(at, end);
      checkText(after(at), last);
      at = last;
    } else at = skipUnknown(tag, at, end, ENTITY_FIELDS);
  }
  closeMessage(at, end);
}

export function indexScope(at: usize, end: usize, row: usize): void {
  const firstAttribute = nextAttribute();
  const list = continueList(
    load<u32>(row, layout.SCOPE_ATTRIBUTES_FIRST),
    load<u32>(row, layout.SCOPE_ATTRIBUTES_COUNT),
    at,
  );
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1) || tag == bytesTag(2) || tag == bytesTag(3)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(3)) key = indexAttribute(start, last, list, key);
      else if (tag == bytesTag(1)) {
        storeText(row, start, last, layout.SCOPE_NAME_OFFSET, layout.SCOPE_NAME_FLAGS);
      } else {
        storeText(row, start, last, layout.SCOPE_VERSION_OFFSET, layout.SCOPE_VERSION_FLAGS);
      }
      at = last;
    } else if (tag == varintTag(4)) {
      readVarint(at, end);
      at = after(at);
    } else at = skipUnknown(tag, at, end, SCOPE_FIELDS);
  }
  closeMessage(at, end);
  storeRange(row + layout.SCOPE_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
}
