/** The derived columns of spans and log records. */
import { DERIVED_BASE, DERIVED_STRIDE } from '../../layout';
import { copying } from './columns';
import { putDerivedRow } from './derived-columns';
import { DERIVED_FIELDS, NOTHING_DERIVED_ROOM, putNothingDerived } from './labels';
import { out, room, setOut } from './output';
import { ALWAYS, REPEAT_NOTHING_DERIVED, putRepeat, rememberRepeat } from './repeats';

/** `number` is the derived row + 1; 0: the record has none. */
export function derivedColumns(number: u32): void {
  if (number == 0) nothingDerived();
  else putDerivedRow(<usize>DERIVED_BASE + <usize>(number - 1) * DERIVED_STRIDE);
}

/** All derived columns of a record that has no derived row. */
function nothingDerived(): void {
  if (putRepeat(REPEAT_NOTHING_DERIVED, ALWAYS)) return;
  const start = out;
  room(NOTHING_DERIVED_ROOM);
  if (copying) {
    memory.fill(out, 0xff, DERIVED_FIELDS * 4);
    setOut(out + DERIVED_FIELDS * 4);
  } else {
    putNothingDerived();
  }
  rememberRepeat(REPEAT_NOTHING_DERIVED, ALWAYS, start);
}
