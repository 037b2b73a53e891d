/** Finding a text in messages: the matches are marked, and keys step from one to the next. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../state/keys.ts';
import { PAGE } from '../state/location.ts';
import { wantedText } from '../state/wanted.ts';
import { exactly } from '../text/figures.ts';
import { Button } from './basics.tsx';
import { FindInput } from './find-input.tsx';

const TYPING_MS = 150;
const MOST_MATCHES = 1_000;
/** Where contents of senders are. */
const CONTENT = '.text-block, .json, .card-title';

/** `isPart`: more can be loaded. */
export function FindText({ isPart }: { isPart: boolean }): JSX.Element {
  const bar = useRef<HTMLElement>(null);
  const [text, setText] = useState('');
  const [matches, setMatches] = useState<readonly Range[]>([]);
  const [at, setAt] = useState(-1);
  /** Where to go once the text is found: Enter may come before that. */
  const pending = useRef<1 | -1 | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => {
      wantedText.value = text.toLowerCase();
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const wanted = wantedText.value;
  useEffect(() => {
    setAt(-1);
    const page = bar.current?.closest(PAGE) ?? null;
    if (wanted === '' || page === null) return setMatches([]);
    const look = (): void => setMatches(matchesIn(page, wanted));
    look();
    // Texts unfold, and more of them are loaded.
    const observer = new MutationObserver((changes) => {
      if (changes.some(({ target }) => bar.current?.contains(target) === false)) look();
    });
    observer.observe(page, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, [wanted]);
  useEffect(() => mark(matches, matches[at] ?? null), [matches, at]);
  useEffect(() => {
    if (pending.current !== null && matches.length > 0) step(pending.current);
    pending.current = null;
  }, [matches]);
  useEffect(
    () => () => {
      wantedText.value = '';
      mark([], null);
    },
    [],
  );
  const step = (by: 1 | -1): void => {
    if (wantedText.value !== text.toLowerCase()) {
      pending.current = by;
      wantedText.value = text.toLowerCase();
      return;
    }
    if (matches.length === 0) return;
    const next = at < 0 ? (by === 1 ? 0 : matches.length - 1) : (at + by + matches.length) % matches.length;
    setAt(next);
    reveal(matches[next]);
  };
  useKeys({ n: () => step(1), N: () => step(-1) });
  return (
    <search class="find-bar find-text" ref={bar}>
      <FindInput
        label="Find in the messages"
        placeholder="find in the messages"
        text={text}
        setText={setText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            setText('');
            event.currentTarget.blur();
          } else if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
          else return;
          event.preventDefault();
        }}
      />
      {text === '' ? null : (
        <>
          <Button kind="quiet" icon="left" label="Previous match (N)" onClick={() => step(-1)} />
          <Button kind="quiet" icon="right" label="Next match (n)" onClick={() => step(1)} />
        </>
      )}
      <span role="status">{wanted === '' ? '' : statusOf(matches.length, at, isPart)}</span>
    </search>
  );
}

function statusOf(count: number, at: number, isPart: boolean): string {
  const all = count === MOST_MATCHES ? `the first ${exactly(count)}` : exactly(count);
  const found =
    count === 0 ? 'not found' : at < 0 ? (count === 1 ? '1 match' : `${all} matches`) : `${exactly(at + 1)} of ${all}`;
  return isPart ? `${found} in the loaded part` : found;
}

/** Within one node of text each: a match does not span two of them. */
function matchesIn(page: Element, wanted: string): readonly Range[] {
  const found: Range[] = [];
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { textContent: text, parentElement: parent } = node;
    const lower = text?.toLowerCase() ?? '';
    // Few characters change their length; then the places are those of another text.
    if (!lower.includes(wanted) || lower.length !== text?.length) continue;
    if (parent === null || parent.closest(CONTENT) === null || parent.closest('.button') !== null) continue;
    for (let place = lower.indexOf(wanted); place >= 0; place = lower.indexOf(wanted, place + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, place);
      range.setEnd(node, place + wanted.length);
      found.push(range);
      if (found.length === MOST_MATCHES) return found;
    }
  }
  return found;
}

/** Marks without a change of the document. A browser that cannot do it shows the present match as selected. */
function mark(all: readonly Range[], present: Range | null): void {
  if (typeof CSS.highlights === 'undefined') {
    if (present === null) return;
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(present);
    return;
  }
  CSS.highlights.set('found', new Highlight(...all));
  if (present === null) CSS.highlights.delete('found-now');
  else CSS.highlights.set('found-now', new Highlight(present));
}

function reveal(match: Range | undefined): void {
  const parent = match?.startContainer.parentElement;
  const page = parent?.closest(PAGE);
  if (match === undefined || page == null) return;
  parent?.closest('details')?.setAttribute('open', '');
  const [frame, place] = [page.getBoundingClientRect(), match.getBoundingClientRect()];
  page.scrollTop += place.top - frame.top - frame.height / 3;
}
