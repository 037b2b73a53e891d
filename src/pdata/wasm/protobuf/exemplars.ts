/** Exemplars of data points, kept in event rows. */
import * as layout from '../../layout';
import { beginList } from '../symbols';
import { storeRange } from '../tables';
import { indexAttribute, nextAttribute } from './attributes';
import { after, bytesTag, closeMessage, fixed64Tag, readEnd, readFixed64, readTag, skipUnknown } from './reader';
import { checkTime, storeSpanId, storeTraceId } from './scalars';

// Exemplar { time 2, as_double 3, span_id 4, trace_id 5, as_int 6, filtered_attributes 7 }
const EXEMPLAR_FIELDS: u32 = 0xfc;

/** Fills the row of an exemplar whose bounds are stored in it. */
export function indexExemplar(row: usize): void {
  let at = <usize>load<u32>(row, layout.EVENT_SOURCE_START);
  const end = <usize>load<u32>(row, layout.EVENT_SOURCE_END);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let trace = at;
  let traceLength: usize = 0;
  let span = at;
  let spanLength: usize = 0;
  let key: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(7) || tag == bytesTag(5) || tag == bytesTag(4)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(7)) key = indexAttribute(start, last, list, key);
      else if (tag == bytesTag(5)) {
        trace = start;
        traceLength = last - start;
      } else {
        span = start;
        spanLength = last - start;
      }
      at = last;
    } else at = indexExemplarNumber(tag, at, end, row);
  }
  closeMessage(at, end);
  checkTime(load<u64>(row, layout.EVENT_TIME), at);
  storeTraceId(row + layout.EVENT_TRACE_ID, trace, traceLength, true);
  storeSpanId(row + layout.EVENT_SPAN_ID, span, spanLength, true);
  storeRange(row + layout.EVENT_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
}

function indexExemplarNumber(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == fixed64Tag(2)) store<u64>(row, readFixed64(at, end), layout.EVENT_TIME);
  else if (tag == fixed64Tag(3) || tag == fixed64Tag(6)) {
    store<u64>(row, readFixed64(at, end), layout.EVENT_VALUE);
    store<u8>(row, tag == fixed64Tag(3) ? layout.POINT_VALUE_DOUBLE : layout.POINT_VALUE_INT, layout.EVENT_VALUE_KIND);
  } else return skipUnknown(tag, at, end, EXEMPLAR_FIELDS);
  return at + 8;
}
