/** A text of a sender: with its line breaks, or rendered as Markdown; long ones are folded. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { asMarkdown } from '../state/settings.ts';
import { isWanted } from '../state/wanted.ts';
import { exactly } from '../text/figures.ts';
import { Button } from './basics.tsx';
import { lazy } from './lazy.tsx';
import { usePieces } from './more-button.tsx';

const FOLDED_LINES = 12;
const FOLDED_CHARACTERS = 1_500;
/** Longer texts are not parsed as Markdown. */
const LONGEST_MARKDOWN = 150_000;
/** The parser takes a time that grows with the square of the marks in a block. This many take about a second. */
const MOST_MARKS_SQUARED = 1e7;
const MARKS = /[*_[=>]|\d[.)]/gu;
/** A longer text is shown in pieces. */
const PIECE = 200_000;

const PlainText = ({ text }: { text: string }): JSX.Element => <div class="plain-text">{text}</div>;
const markdown = lazy(async () => (await import('./markdown.tsx')).Markdown, PlainText);

export function TextBlock({ text, plain = false }: { text: string; plain?: boolean }): JSX.Element {
  const lines = text.split('\n');
  const isLong = lines.length > FOLDED_LINES + 2 || text.length > FOLDED_CHARACTERS + 300;
  const [isChosen, setChosen] = useState(!isLong);
  const isOpen = isChosen || isWanted(text);
  const [shown, more] = usePieces(PIECE, text.length, ' characters');
  const head = isOpen ? text.slice(0, shown) : lines.slice(0, FOLDED_LINES).join('\n').slice(0, FOLDED_CHARACTERS);
  const rest =
    lines.length > FOLDED_LINES + 2
      ? `${exactly(lines.length - FOLDED_LINES)} more lines`
      : `${exactly(text.length - head.length)} more characters`;
  const isRendered = !plain && asMarkdown.value === 'yes' && canParse(text);
  return (
    <div class={`text-block ${isOpen ? '' : 'folded'}`}>
      {isRendered ? <markdown.Page text={head} /> : <PlainText text={head} />}
      {isLong ? (
        <Button kind="quiet" expanded={isOpen} onClick={() => setChosen(!isOpen)}>
          {isOpen ? 'show less' : `show ${rest}`}
        </Button>
      ) : null}
      {isOpen ? more : null}
    </div>
  );
}

function canParse(text: string): boolean {
  if (text.length > LONGEST_MARKDOWN) return false;
  const marks = text.split('\n\n').map((block) => block.match(MARKS)?.length ?? 0);
  return marks.reduce((sum, count) => sum + count ** 2, 0) <= MOST_MARKS_SQUARED;
}

export function MarkdownSwitch(): JSX.Element {
  return (
    <Button
      kind="quiet"
      pressed={asMarkdown.value === 'yes'}
      title="Markdown or text (r)"
      onClick={() => (asMarkdown.value = asMarkdown.value === 'yes' ? 'no' : 'yes')}
    >
      Markdown
    </Button>
  );
}
