/**
 * Nested values of OTLP/JSON bodies as protobuf, from their source, which the indexer has checked. Of the entries of a
 * map with equal keys only the last is written, as in stored rows.
 */
import { HEADER_BASE, HEADER_SCRATCH, KIND_ARRAY } from '../../../layout';
import { bytesLength, bytesOffset, decodeBase64 } from '../../json/binary';
import { appendEntry, removeSuperseded } from '../../json/entries';
import * as members from '../../json/members';
import { doubleValue, integerValue, readDouble, readSigned, resetNumbers } from '../../json/number';
import * as schema from '../../json/schema';
import { readPlainText, readText, setEmptyText, textFlags, textLength, textOffset } from '../../json/text';
import { putPlain } from '../json-text';
import { out, setOut } from '../output';
import { beginMessage, endMessage, putBits, putBytes, putText } from './fields';
import * as anyValue from './any-value';

/** Puts the member of an AnyValue that holds the ArrayValue or KeyValueList (`kind`) at `offset`. */
export function putJsonSource(kind: u32, offset: usize): void {
  const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  members.resetMembers(false);
  resetNumbers();
  if (kind == KIND_ARRAY) putArray(offset);
  else putMap(offset);
  store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
}

/** Puts the member of the AnyValue at `at`; returns the address behind it. */
function putMembers(at: usize): usize {
  at = members.openMessage(at, schema.ANY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) at = putMember(at);
  return members.endOfList;
}

function putMember(at: usize): usize {
  switch (members.memberKind) {
    case schema.STRING_VALUE: {
      at = readText(at);
      putText(anyValue.STRING_VALUE, textOffset, textLength, textFlags);
      return at;
    }
    case schema.BOOL_VALUE: {
      at = members.readBool(at);
      anyValue.putInteger(anyValue.BOOL_VALUE, <u64>members.boolValue);
      return at;
    }
    case schema.INT_VALUE: {
      at = readSigned(at);
      anyValue.putInteger(anyValue.INT_VALUE, integerValue);
      return at;
    }
    case schema.DOUBLE_VALUE: {
      at = readDouble(at);
      putBits(anyValue.DOUBLE_VALUE, reinterpret<u64>(doubleValue));
      return at;
    }
    case schema.BYTES_VALUE: {
      at = readPlainText(at);
      decodeBase64(textOffset, textLength);
      putBytes(anyValue.BYTES_VALUE, bytesOffset, bytesLength);
      return at;
    }
    case schema.ARRAY_VALUE:
      return putArray(at);
    default:
      return putMap(at);
  }
}

function putArray(at: usize): usize {
  const list = beginMessage(anyValue.ARRAY_VALUE);
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; ) {
      const value = beginMessage(anyValue.VALUES);
      element = putMembers(element);
      endMessage(value);
      element = members.nextElement(element);
    }
    at = members.endOfList;
  }
  endMessage(list);
  return members.endOfList;
}

/** The rows of the names are on top of scratch meanwhile. */
function putMap(at: usize): usize {
  const list = beginMessage(anyValue.KVLIST_VALUE);
  const rows = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; ) element = members.nextElement(putEntry(element, rows));
    at = members.endOfList;
  }
  setOut(removeSuperseded(rows, list, out));
  store<u32>(HEADER_BASE, rows, HEADER_SCRATCH);
  endMessage(list);
  return members.endOfList;
}

/** Puts the KeyValue at `at` and records its name. Key and value may be in either order, which protobuf allows too. */
function putEntry(at: usize, rows: usize): usize {
  const top = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  const before = out;
  const entry = beginMessage(anyValue.VALUES);
  let name: usize = 0;
  let nameLength: u32 = 0;
  at = members.openMessage(at, schema.KEY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) {
    if (members.memberKind == schema.KEY) {
      at = readText(at);
      name = putName();
      nameLength = <u32>(out - name);
    } else {
      const value = beginMessage(anyValue.VALUE);
      at = putMembers(at);
      endMessage(value);
    }
  }
  if (!name) {
    setEmptyText();
    name = putName();
  }
  name += endMessage(entry);
  store<u32>(HEADER_BASE, top, HEADER_SCRATCH);
  setOut(appendEntry(rows, name, nameLength, before, out));
  return members.endOfList;
}

/** Puts the text just read as the key; returns its position. */
function putName(): usize {
  const start = beginMessage(anyValue.KEY);
  putPlain(textOffset, textLength, textFlags);
  return start + endMessage(start);
}
