/**
 * The envelope of a request. The three signals share its field numbers: Request { resource_… 1 }, Resource… { resource
 * 1, scope_… 2, schema_url 3 }, Scope… { scope 1, records 2, schema_url 3 }.
 */
import { HEADER_RESOURCES, HEADER_SCOPES, SIGNAL_LOGS, SIGNAL_TRACES } from '../../layout';
import { appendResource, appendScope, countOf } from '../tables';
import { indexLogRecord } from './logs';
import { indexMetric } from './metrics';
import { after, bytesTag, closeMessage, readEnd, readTag, skipUnknown } from './reader';
import { indexResource, indexScope } from './source';
import { indexSpan } from './traces';
import { checkText, resetValues } from './value';

const REQUEST_FIELDS: u32 = 1 << 1;
const CONTAINER_FIELDS: u32 = (1 << 1) | (1 << 2) | (1 << 3);

/** Indexes the request between two addresses. */
export function indexProtobuf(signal: i32, at: usize, end: usize): void {
  resetValues();
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      indexResourceContainer(signal, after(at), last);
      at = last;
    } else at = skipUnknown(tag, at, end, REQUEST_FIELDS);
  }
  closeMessage(at, end);
}

/** Records refer to their resource by number, so it may follow them. A container without one has an empty resource. */
function indexResourceContainer(signal: i32, at: usize, end: usize): void {
  const resource = countOf(HEADER_RESOURCES);
  const row = appendResource(at);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1) || tag == bytesTag(2) || tag == bytesTag(3)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(2)) indexScopeContainer(signal, start, last, resource);
      else if (tag == bytesTag(1)) indexResource(start, last, row);
      else checkText(start, last);
      at = last;
    } else at = skipUnknown(tag, at, end, CONTAINER_FIELDS);
  }
  closeMessage(at, end);
}

function indexScopeContainer(signal: i32, at: usize, end: usize, resource: u32): void {
  const scope = countOf(HEADER_SCOPES);
  const row = appendScope(at);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1) || tag == bytesTag(2) || tag == bytesTag(3)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(2)) indexRecord(signal, start, last, resource, scope);
      else if (tag == bytesTag(1)) indexScope(start, last, row);
      else checkText(start, last);
      at = last;
    } else at = skipUnknown(tag, at, end, CONTAINER_FIELDS);
  }
  closeMessage(at, end);
}

function indexRecord(signal: i32, at: usize, end: usize, resource: u32, scope: u32): void {
  if (signal == SIGNAL_TRACES) indexSpan(at, end, resource, scope);
  else if (signal == SIGNAL_LOGS) indexLogRecord(at, end, resource, scope);
  else indexMetric(at, end, resource, scope);
}
