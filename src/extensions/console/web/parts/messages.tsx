/** Messages of a model call, a tool step or a retrieval. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Message, Part } from '../../../../messages/message.ts';
import type { Text } from '../../api/shapes/content.ts';
import { bytes, exactly } from '../text/figures.ts';
import { visible } from '../text/visible.ts';
import { Button, CopyButton, Name } from './basics.tsx';
import { JsonTree, parsed } from './json-tree.tsx';
import { usePieces } from './more-button.tsx';
import { TextBlock } from './text-block.tsx';

/** Pictures that a browser may decode. SVG is not among them. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=\s]+$/iu;
const LARGEST_PICTURE = 8 * 1024 * 1024;
const MOST_MESSAGES = 200;

/** Results are shown in the card of their call. */
export function Messages({ messages }: { messages: readonly Message[] }): JSX.Element {
  const results = resultsOf(messages);
  const called = new Set(
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool_call' && part.id !== null ? [part.id] : [])),
    ),
  );
  const isJoined = (part: Part): boolean => part.type === 'tool_result' && part.id !== null && called.has(part.id);
  const shown = messages.filter(({ parts }) => parts.length === 0 || !parts.every(isJoined));
  const [most, more] = usePieces(MOST_MESSAGES, shown.length, ' messages');
  return (
    <div class="messages">
      {shown.slice(0, most).map((message, at) => (
        <MessageView
          key={at}
          message={{ ...message, parts: message.parts.filter((part) => !isJoined(part)) }}
          results={results}
        />
      ))}
      {more}
    </div>
  );
}

type Results = ReadonlyMap<string, Part>;

function resultsOf(messages: readonly Message[]): Results {
  const results = new Map<string, Part>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'tool_result' && part.id !== null) results.set(part.id, part);
  }
  return results;
}

const KNOWN_ROLES = ['system', 'user', 'assistant', 'tool'];

function MessageView({ message, results }: { message: Message; results: Results }): JSX.Element {
  const { role, name, parts, finishReason } = message;
  const known = role !== null && KNOWN_ROLES.includes(role) ? role : 'other';
  return (
    <article class={`message role-${known}`}>
      <header>
        <span class="role">{role === null ? 'retrieval' : visible(role)}</span>
        {name === null ? null : <Name text={name} />}
        {finishReason === null ? null : <span class="muted">{visible(finishReason)}</span>}
        <span class="stretch" />
        <CopyButton text={() => parts.map(({ text }) => text).join('\n\n')} label="Copy the message" />
      </header>
      {parts.map((part, at) => (
        <PartView key={at} part={part} results={results} />
      ))}
    </article>
  );
}

function PartView({ part, results }: { part: Part; results: Results }): JSX.Element {
  switch (part.type) {
    case 'text':
    case 'query':
      return <TextBlock text={part.text} />;
    case 'document':
      return (
        <section class="card">
          <p class="card-title">document {part.id === null ? '' : <Name text={part.id} />}</p>
          <TextBlock text={part.text} />
        </section>
      );
    case 'reasoning':
      return (
        <details class="card">
          <summary>reasoning</summary>
          <TextBlock text={part.text} />
        </details>
      );
    case 'tool_call':
      return <Call part={part} result={part.id === null ? undefined : results.get(part.id)} />;
    case 'tool_result':
      return (
        <section class="card">
          <p class="card-title">result {part.name === null ? '' : <Name text={part.name} />}</p>
          <Value text={part.text} />
        </section>
      );
    case 'media':
      return <Media part={part} />;
    case 'json':
      return <Value text={part.text} />;
  }
}

function Call({ part, result }: { part: Part; result: Part | undefined }): JSX.Element {
  return (
    <section class="card call">
      <p class="card-title">
        → <Name text={part.name ?? 'tool'} />
        {part.id === null ? null : (
          <span class="muted">
            {' '}
            <Name text={part.id} />
          </span>
        )}
      </p>
      <Value text={part.text} />
      {result === undefined ? null : (
        <>
          <p class="card-title">← result</p>
          <Value text={result.text} />
        </>
      )}
    </section>
  );
}

/** JSON as a tree, anything else as text. */
function Value({ text }: { text: string }): JSX.Element {
  const value = /^\s*[[{]/u.test(text) ? parsed(text) : null;
  return value === null ? <TextBlock text={text} /> : <JsonTree value={value.value} />;
}

/** The body of a log record: a text without its quotes, or JSON. A cut text may end within an escape. */
export function bodyOf(json: string): string {
  if (!json.startsWith('"')) return json;
  const found = parsed(json) ?? parsed(`${json}"`) ?? parsed(`${json.replace(/\\\w*$/u, '')}"`);
  return typeof found?.value === 'string' ? found.value : json;
}

/** What a log record has as JSON: an answer may have only its beginning. */
export function Logged({ of }: { of: Text }): JSX.Element {
  return (
    <>
      <Value text={bodyOf(of.text)} />
      {of.cut ? <p class="muted">{partOf(of)}</p> : null}
    </>
  );
}

/** Lengths are in characters; a string counts some of them twice. */
export function partOf({ text, length, cut }: Text): string {
  const all = `${exactly(length)} characters`;
  return cut ? `the first ${exactly([...text].length)} of ${all}` : all;
}

/** A picture is decoded only on demand, and never fetched from an address. */
function Media({ part }: { part: Part }): JSX.Element {
  const [isShown, setShown] = useState(false);
  const canShow = part.text.length <= LARGEST_PICTURE && PICTURE.test(part.text);
  const size = part.bytes === null ? '' : ` ${bytes(part.bytes)}`;
  const label = `${visible(part.mediaType ?? 'file')}${size}`;
  if (!canShow) {
    const address = part.text.startsWith('data:') ? '' : part.text;
    return (
      <p class="chip-line">
        <span class="chip">{label}</span> {address === '' ? null : <Name text={address} />}
      </p>
    );
  }
  return (
    <div>
      <Button expanded={isShown} onClick={() => setShown(!isShown)}>
        {label}
      </Button>
      {isShown ? <img class="media" src={part.text} alt={label} /> : null}
    </div>
  );
}
