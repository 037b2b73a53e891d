/** A JSON value as a tree whose nodes are made when they are opened. Strings that are JSON can be unpacked. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { parseExact } from '../../../../pdata/exact-json.ts';
import { isWanted } from '../state/wanted.ts';
import { exactly } from '../text/figures.ts';
import { visible } from '../text/visible.ts';
import { Button, CopyButton } from './basics.tsx';
import { usePieces } from './more-button.tsx';

const LONGEST_STRING = 2_000;
const PAGE = 100;

export function JsonTree({ value, open = true }: { value: unknown; open?: boolean }): JSX.Element {
  return (
    <div class="json">
      <Node name={null} value={value} open={open} />
    </div>
  );
}

function Node({ name, value, open = false }: { name: string | null; value: unknown; open?: boolean }): JSX.Element {
  const label = name === null ? null : <span class="json-key">{visible(name)}: </span>;
  if (typeof value === 'object' && value !== null) return <Branch label={label} value={value} open={open} />;
  if (typeof value === 'string') return <Text label={label} text={value} />;
  return (
    <div class="json-leaf">
      {label}
      <span class="json-value">{String(value)}</span>
    </div>
  );
}

function Branch({ label, value, open }: { label: JSX.Element | null; value: object; open: boolean }): JSX.Element {
  const [isChosen, setChosen] = useState(open);
  const isOpen = isChosen || isWanted(value);
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string, unknown])[] = isOpen ? Object.entries(value) : [];
  const size = isList ? value.length : Object.keys(value).length;
  const [shown, more] = usePieces(PAGE, size);
  return (
    <div class="json-branch">
      <button type="button" class="json-fold" aria-expanded={isOpen} onClick={() => setChosen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {label}
        <span class="muted">{isList ? `[${exactly(size)}]` : `{${exactly(size)}}`}</span>
      </button>
      {isOpen ? (
        <div class="json-below">
          {entries.slice(0, shown).map(([key, each]) => (
            <Node key={key} name={key} value={each} open={size <= 20 && depthOf(each) < 2} />
          ))}
          {more}
        </div>
      ) : null}
    </div>
  );
}

/** 0 for plain values, 1 for objects of plain values, 2 for anything deeper. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).some((each) => typeof each === 'object' && each !== null) ? 2 : 1;
}

function Text({ label, text }: { label: JSX.Element | null; text: string }): JSX.Element {
  const [isChosen, setChosen] = useState(text.length <= LONGEST_STRING);
  const isWhole = isChosen || isWanted(text);
  const [unpacked, setUnpacked] = useState<{ value: unknown } | null>(null);
  const inner = unpacked === null ? packedOf(text) : null;
  if (unpacked !== null) {
    return (
      <div class="json-leaf">
        {label}
        <Button kind="quiet" onClick={() => setUnpacked(null)}>
          pack
        </Button>
        <JsonTree value={unpacked.value} />
      </div>
    );
  }
  return (
    <div class="json-leaf">
      {label}
      <span class="json-string">{isWhole ? text : `${text.slice(0, LONGEST_STRING)}…`}</span>
      {isWhole ? null : (
        <Button kind="quiet" onClick={() => setChosen(true)}>
          all {exactly(text.length)} characters
        </Button>
      )}
      {inner === null ? null : (
        <Button kind="quiet" onClick={() => setUnpacked(inner)}>
          unpack
        </Button>
      )}
      {text.length > 80 ? <CopyButton text={text} label="Copy the value" /> : null}
    </div>
  );
}

function packedOf(text: string): { value: unknown } | null {
  return /^\s*[[{]/u.test(text) ? parsed(text) : null;
}

/** The value of a JSON text, or null. */
export function parsed(text: string): { value: unknown } | null {
  try {
    return { value: parseExact(text) };
  } catch {
    return null;
  }
}
