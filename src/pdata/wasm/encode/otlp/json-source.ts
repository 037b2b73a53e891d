/**
 * Nested values of OTLP/JSON bodies as protobuf, from their source, which the indexer has checked. Of the entries of a
 * map with equal keys only the last is written, as in stored rows.
 */
import { HEADER_BASE, HEADER_SCRATCH, KIND_ARRAY } from '../../../layout';
import { bytesLength, bytesOffset, decodeBase64 } from '../../json/binary';
import { appendEntry, removeSuperseded } from '../../json/entries';
import {
  boolValue,
  endOfList,
  firstElement,
  memberId,
  nextElement,
  nextMember,
  openMessage,
  readBool,
  resetMembers,
} from '../../json/members';
import { doubleValue, integerValue, readDouble, readSigned, resetNumbers } from '../../json/number';
import {
  ANY_VALUE_MESSAGE,
  ARRAY_VALUE as ARRAY_MEMBER,
  BOOL_VALUE as BOOL_MEMBER,
  BYTES_VALUE as BYTES_MEMBER,
  DOUBLE_VALUE as DOUBLE_MEMBER,
  INT_VALUE as INT_MEMBER,
  KEY as KEY_MEMBER,
  KEY_VALUE_MESSAGE,
  LIST_MESSAGE,
  STRING_VALUE as STRING_MEMBER,
} from '../../json/schema';
import { readPlainText, readText, setEmptyText, textFlags, textLength, textOffset } from '../../json/text';
import { putPlain } from '../json-text';
import { out, setOut } from '../output';
import { beginMessage, endMessage, putBits, putBytes, putText } from './fields';
import {
  ARRAY_VALUE,
  BOOL_VALUE,
  BYTES_VALUE,
  DOUBLE_VALUE,
  INT_VALUE,
  KEY,
  KVLIST_VALUE,
  STRING_VALUE,
  VALUE,
  VALUES,
  putInteger,
} from './any-value';

/** Puts the member of an AnyValue that holds the ArrayValue or KeyValueList (`kind`) at `offset`. */
export function putJsonSource(kind: u32, offset: usize): void {
  const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  resetMembers(false);
  resetNumbers();
  if (kind == KIND_ARRAY) putArray(offset);
  else putMap(offset);
  store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
}

/** Puts the member of the AnyValue at `at`; returns the address behind it. */
function putMembers(at: usize): usize {
  at = openMessage(at, ANY_VALUE_MESSAGE);
  while ((at = nextMember(at))) at = putMember(at);
  return endOfList;
}

function putMember(at: usize): usize {
  switch (memberId) {
    case STRING_MEMBER: {
      at = readText(at);
      putText(STRING_VALUE, textOffset, textLength, textFlags);
      return at;
    }
    case BOOL_MEMBER: {
      at = readBool(at);
      putInteger(BOOL_VALUE, <u64>boolValue);
      return at;
    }
    case INT_MEMBER: {
      at = readSigned(at);
      putInteger(INT_VALUE, integerValue);
      return at;
    }
    case DOUBLE_MEMBER: {
      at = readDouble(at);
      putBits(DOUBLE_VALUE, reinterpret<u64>(doubleValue));
      return at;
    }
    case BYTES_MEMBER: {
      at = readPlainText(at);
      decodeBase64(textOffset, textLength);
      putBytes(BYTES_VALUE, bytesOffset, bytesLength);
      return at;
    }
    case ARRAY_MEMBER:
      return putArray(at);
    default:
      return putMap(at);
  }
}

function putArray(at: usize): usize {
  const list = beginMessage(ARRAY_VALUE);
  at = openMessage(at, LIST_MESSAGE);
  while ((at = nextMember(at))) {
    for (let element = firstElement(at); element; ) {
      const value = beginMessage(VALUES);
      element = putMembers(element);
      endMessage(value);
      element = nextElement(element);
    }
    at = endOfList;
  }
  endMessage(list);
  return endOfList;
}

/** The rows of the names are on top of scratch meanwhile. */
function putMap(at: usize): usize {
  const list = beginMessage(KVLIST_VALUE);
  const rows = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  at = openMessage(at, LIST_MESSAGE);
  while ((at = nextMember(at))) {
    for (let element = firstElement(at); element; ) element = nextElement(putEntry(element, rows));
    at = endOfList;
  }
  setOut(removeSuperseded(rows, list, out));
  store<u32>(HEADER_BASE, rows, HEADER_SCRATCH);
  endMessage(list);
  return endOfList;
}

/** Puts the KeyValue at `at` and records its name. Key and value may be in either order, which protobuf allows too. */
function putEntry(at: usize, rows: usize): usize {
  const top = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  const before = out;
  const entry = beginMessage(VALUES);
  let name: usize = 0;
  let nameLength: u32 = 0;
  at = openMessage(at, KEY_VALUE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == KEY_MEMBER) {
      at = readText(at);
      name = putName();
      nameLength = <u32>(out - name);
    } else {
      const value = beginMessage(VALUE);
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
  return endOfList;
}

/** Puts the text just read as the key; returns its position. */
function putName(): usize {
  const start = beginMessage(KEY);
  putPlain(textOffset, textLength, textFlags);
  return start + endMessage(start);
}
