/**
 * The messages that the three signals share: the request, its resource blocks and their scope blocks. Rows of resource
 * and scope are allocated when their block begins and records refer to their numbers, so the members of a block may
 * have any order.
 */
import * as layout from '../../layout';
import { appendResource, appendScope } from '../tables';
import { readLogRecord } from './log-record';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { readMetric } from './metric';
import { readUnsigned32 } from './number';
import * as schema from './schema';
import { readSpan } from './span';
import { readText, readTextField } from './text';
import { readAttributes } from './value';

/** Reads the request at `at`; returns the address behind it. The messages of the signals are adjacent in the schema. */
export function readRequest(at: usize, signal: u32): usize {
  at = openMessage(at, schema.TRACES_REQUEST + signal);
  while ((at = nextMember(at))) {
    for (let element = firstElement(at); element; ) element = nextElement(readResourceBlock(element, signal));
    at = endOfList;
  }
  return endOfList;
}

function readResourceBlock(at: usize, signal: u32): usize {
  const row = appendResource(at);
  const resource = load<u32>(layout.HEADER_BASE, layout.HEADER_RESOURCES) - 1;
  at = openMessage(at, schema.RESOURCE_SPANS_MESSAGE + signal);
  while ((at = nextMember(at))) {
    if (memberId == schema.RESOURCE) at = readResource(at, row);
    else if (memberId == schema.SCHEMA_URL) at = readText(at);
    else {
      for (let element = firstElement(at); element; ) element = nextElement(readScopeBlock(element, signal, resource));
      at = endOfList;
    }
  }
  return endOfList;
}

function readResource(at: usize, row: usize): usize {
  at = openMessage(at, schema.RESOURCE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == schema.ATTRIBUTES) at = readAttributes(at, row + layout.RESOURCE_ATTRIBUTES_FIRST);
    else if (memberId == schema.ENTITY_REFS) {
      for (let element = firstElement(at); element; ) element = nextElement(checkEntity(element));
      at = endOfList;
    } else at = readUnsigned32(at);
  }
  return endOfList;
}

/** References to entities are checked like every known field, although they are not stored. */
function checkEntity(at: usize): usize {
  at = openMessage(at, schema.ENTITY_REF_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId != schema.ID_KEYS && memberId != schema.DESCRIPTION_KEYS) {
      at = readText(at);
      continue;
    }
    for (let element = firstElement(at); element; ) element = nextElement(readText(element));
    at = endOfList;
  }
  return endOfList;
}

function readScopeBlock(at: usize, signal: u32, resource: u32): usize {
  const row = appendScope(at);
  const owner = <u64>resource | ((<u64>(load<u32>(layout.HEADER_BASE, layout.HEADER_SCOPES) - 1)) << 32);
  at = openMessage(at, schema.SCOPE_SPANS_MESSAGE + signal);
  while ((at = nextMember(at))) {
    if (memberId == schema.SCOPE) at = readScope(at, row);
    else if (memberId == schema.SCHEMA_URL) at = readText(at);
    else {
      for (let element = firstElement(at); element; ) element = nextElement(readRecord(element, signal, owner));
      at = endOfList;
    }
  }
  return endOfList;
}

function readScope(at: usize, row: usize): usize {
  at = openMessage(at, schema.SCOPE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == schema.NAME) at = readTextField(at, row, layout.SCOPE_NAME_OFFSET, layout.SCOPE_NAME_FLAGS);
    else if (memberId == schema.VERSION)
      at = readTextField(at, row, layout.SCOPE_VERSION_OFFSET, layout.SCOPE_VERSION_FLAGS);
    else if (memberId == schema.ATTRIBUTES) at = readAttributes(at, row + layout.SCOPE_ATTRIBUTES_FIRST);
    else at = readUnsigned32(at);
  }
  return endOfList;
}

/** `owner`: the numbers of resource and scope, two adjacent fields of a record. */
function readRecord(at: usize, signal: u32, owner: u64): usize {
  if (signal == layout.SIGNAL_TRACES) return readSpan(at, owner);
  return signal == layout.SIGNAL_LOGS ? readLogRecord(at, owner) : readMetric(at, owner);
}
