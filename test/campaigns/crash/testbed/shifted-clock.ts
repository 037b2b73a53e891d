/**
 * Loaded into a daemon before its own code: its clock differs from the machine's by the days in the address of this
 * module (`?days=-40`). Durations stay right, as with a machine whose clock was set wrong.
 */
const MS_PER_DAY = 86_400_000;

const shiftMs = Number(new URL(import.meta.url).searchParams.get('days')) * MS_PER_DAY;
const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...parts: readonly unknown[]) {
    super(...((parts.length === 0 ? [RealDate.now() + shiftMs] : parts) as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
