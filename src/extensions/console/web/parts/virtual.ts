/** Rows of one height in a scrolling element below a header that stays; only those in sight exist. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Rows beyond each edge of what is in sight. */
const OVERSCAN = 12;
/** The rows change in steps of as many, so that most scrolling draws nothing. */
const STEP = 6;

export interface Rows {
  /** The numbers of the rows that exist now. */
  readonly indexes: readonly number[];
  /** The number of whole rows in sight. */
  readonly page: number;
  /** Scrolls as little as necessary. */
  reveal(index: number): void;
}

interface Sight {
  readonly first: number;
  readonly last: number;
  readonly page: number;
}

export function useRows(scroller: RefObject<HTMLElement | null>, count: number, height: number, header: number): Rows {
  const [{ first, last, page }, setSight] = useState<Sight>({ first: 0, last: 0, page: 1 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = (): void => {
      const { scrollTop, clientHeight } = element;
      const top = Math.floor(scrollTop / height / STEP) * STEP;
      const bottom = Math.ceil((scrollTop + clientHeight) / height / STEP) * STEP;
      const next = {
        first: Math.max(0, top - OVERSCAN),
        last: bottom + OVERSCAN,
        page: Math.max(1, Math.floor((clientHeight - header) / height)),
      };
      setSight((now) => (now.first === next.first && now.last === next.last && now.page === next.page ? now : next));
    };
    look();
    const resizing = new ResizeObserver(look);
    resizing.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      resizing.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [height, header]);
  const length = Math.max(0, Math.min(count, last) - first);
  return {
    indexes: Array.from({ length }, (_, at) => first + at),
    page,
    reveal: (index) => {
      const element = scroller.current;
      if (element === null) return;
      const top = index * height;
      const highest = header + top + height - element.clientHeight;
      if (element.scrollTop > top) element.scrollTop = top;
      else if (element.scrollTop < highest) element.scrollTop = highest;
    },
  };
}
