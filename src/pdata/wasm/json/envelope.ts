/**
 * The messages that the three signals share: the request, its resource blocks and their scope blocks. Rows of resource
 * and scope are allocated when their block begins and records refer to their numbers, so the members of a block may
 * have any order.
 */
import {
  HEADER_BASE,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  RESOURCE_ATTRIBUTES_FIRST,
  SCOPE_ATTRIBUTES_FIRST,
  SCOPE_NAME_FLAGS,
  SCOPE_NAME_OFFSET,
  SCOPE_VERSION_FLAGS,
  SCOPE_VERSION_OFFSET,
  SIGNAL_LOGS,
  SIGNAL_TRACES,
} from '../../layout';
import { appendResource, appendScope } from '../tables';
import { readLogRecord } from './log-record';
import { endOfList, firstElement, memberId, nextElement, nextMember, openMessage } from './members';
import { readMetric } from './metric';
import { readUnsigned32 } from './number';
import {
  ATTRIBUTES,
  DESCRIPTION_KEYS,
  ENTITY_REFS,
  ENTITY_REF_MESSAGE,
  ID_KEYS,
  NAME,
  RESOURCE,
  RESOURCE_MESSAGE,
  RESOURCE_SPANS_MESSAGE,
  SCHEMA_URL,
  SCOPE,
  SCOPE_MESSAGE,
  SCOPE_SPANS_MESSAGE,
  TRACES_REQUEST,
  VERSION,
} from './schema';
import { readSpan } from './span';
import { readText, readTextField } from './text';
import { readAttributes } from './value';

/** Reads the request at `at`; returns the address behind it. The messages of the signals are adjacent in the schema. */
export function readRequest(at: usize, signal: u32): usize {
  at = openMessage(at, TRACES_REQUEST + signal);
  while ((at = nextMember(at))) {
    for (let element = firstElement(at); element; ) element = nextElement(readResourceBlock(element, signal));
    at = endOfList;
  }
  return endOfList;
}

function readResourceBlock(at: usize, signal: u32): usize {
  const row = appendResource(at);
  const resource = load<u32>(HEADER_BASE, HEADER_RESOURCES) - 1;
  at = openMessage(at, RESOURCE_SPANS_MESSAGE + signal);
  while ((at = nextMember(at))) {
    if (memberId == RESOURCE) at = readResource(at, row);
    else if (memberId == SCHEMA_URL) at = readText(at);
    else {
      for (let element = firstElement(at); element; ) element = nextElement(readScopeBlock(element, signal, resource));
      at = endOfList;
    }
  }
  return endOfList;
}

function readResource(at: usize, row: usize): usize {
  at = openMessage(at, RESOURCE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == ATTRIBUTES) at = readAttributes(at, row + RESOURCE_ATTRIBUTES_FIRST);
    else if (memberId == ENTITY_REFS) {
      for (let element = firstElement(at); element; ) element = nextElement(checkEntity(element));
      at = endOfList;
    } else at = readUnsigned32(at);
  }
  return endOfList;
}

/** References to entities are checked like every known field, although they are not stored. */
function checkEntity(at: usize): usize {
  at = openMessage(at, ENTITY_REF_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId != ID_KEYS && memberId != DESCRIPTION_KEYS) {
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
  const owner = <u64>resource | ((<u64>(load<u32>(HEADER_BASE, HEADER_SCOPES) - 1)) << 32);
  at = openMessage(at, SCOPE_SPANS_MESSAGE + signal);
  while ((at = nextMember(at))) {
    if (memberId == SCOPE) at = readScope(at, row);
    else if (memberId == SCHEMA_URL) at = readText(at);
    else {
      for (let element = firstElement(at); element; ) element = nextElement(readRecord(element, signal, owner));
      at = endOfList;
    }
  }
  return endOfList;
}

function readScope(at: usize, row: usize): usize {
  at = openMessage(at, SCOPE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == NAME) at = readTextField(at, row, SCOPE_NAME_OFFSET, SCOPE_NAME_FLAGS);
    else if (memberId == VERSION) at = readTextField(at, row, SCOPE_VERSION_OFFSET, SCOPE_VERSION_FLAGS);
    else if (memberId == ATTRIBUTES) at = readAttributes(at, row + SCOPE_ATTRIBUTES_FIRST);
    else at = readUnsigned32(at);
  }
  return endOfList;
}

/** `owner`: the numbers of resource and scope, two adjacent fields of a record. */
function readRecord(at: usize, signal: u32, owner: u64): usize {
  if (signal == SIGNAL_TRACES) return readSpan(at, owner);
  return signal == SIGNAL_LOGS ? readLogRecord(at, owner) : readMetric(at, owner);
}
