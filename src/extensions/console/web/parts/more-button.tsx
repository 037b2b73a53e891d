/** A long list or text is shown in pieces: the next one is added on demand. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactly } from '../text/figures.ts';
import { Button } from './basics.tsx';

/** How much of `all` is shown, and the button that adds a piece; null when all is shown. `what`: ` characters`. */
export function usePieces(piece: number, all: number, what = ''): readonly [number, JSX.Element | null] {
  const [shown, setShown] = useState(piece);
  const more = (
    <Button kind="quiet" onClick={() => setShown(shown + piece)}>
      {exactly(all - shown)} more{what}
    </Button>
  );
  return [shown, shown < all ? more : null];
}
