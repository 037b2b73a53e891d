/** The palette: type a page, a project, or a trace id. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { me } from '../state/session.ts';
import { open, pageHref } from '../state/location.ts';
import { visible } from '../text/visible.ts';
import { Dialog } from './dialog.tsx';

const LONGEST = 12;

interface Choice {
  readonly name: string;
  readonly kind: string;
  readonly href: string;
}

interface PaletteProps {
  readonly pages: readonly { readonly page: string; readonly name: string }[];
  readonly onClose: () => void;
}

export function Palette({ pages, onClose }: PaletteProps): JSX.Element {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = choices(text.trim(), pages);
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    open(choice.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Enter') choose(found[at]);
    else if (event.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Page, project or trace id"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
        placeholder="page, project or trace id"
        value={text}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div role="listbox" id="palette" class="palette" aria-label="Found">
        {found.map((choice, index) => (
          <div
            role="option"
            id={`palette-${index}`}
            key={choice.href}
            aria-selected={index === at}
            onClick={() => choose(choice)}
          >
            {visible(choice.name)} <span class="muted">{choice.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function choices(text: string, pages: PaletteProps['pages']): readonly Choice[] {
  const all: readonly Choice[] = [
    ...pages.map(({ page, name }) => ({ name, kind: 'page', href: pageHref(page) })),
    ...(me.value?.projects ?? []).map((name) => ({
      name,
      kind: 'project',
      href: `/p/${encodeURIComponent(name)}/traces`,
    })),
  ];
  const lower = text.toLowerCase();
  const named = all.filter(({ name }) => name.toLowerCase().includes(lower));
  if (/^[0-9a-f]{32}$/iu.test(text)) named.unshift({ name: text, kind: 'trace', href: `/t/${lower}` });
  else if (/^[0-9a-f]{4,31}$/iu.test(text))
    named.unshift({ name: `${text}…`, kind: 'traces', href: pageHref('traces', null, { q: `trace:${lower}*` }) });
  return named.slice(0, LONGEST);
}
